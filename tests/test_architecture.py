"""The architecture, as assertions. When one fails, change the code; when the code is right, change ARCHITECTURE.md too."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.sources import MODULES, forget, parsed, text_of, walked
from tests.sources import PACKAGE as ROOT
from tests.stages import run_by, stages

TESTS = Path(__file__).parent

LAYERS = [
    {"errors"},
    {"plugins", "concurrency"},
    {"text"},
    {"config"},
    {"core"},
    {"models"},
    {"outbound", "extractive"},
    {"providers", "parsers", "store"},
    {"query", "ingest", "stub"},
    {"flows", "tracing"},
    {"engine"},
    {"evaluate"},
    {"serialize"},
    {"adapters", "mcp"},
    {"api"},
    {"cli"},
    {"__main__"},
]
"""What may import what: only rooms of an earlier line, or one's own."""

OWNS = {
    "os.environ": "config/",
    "psycopg": "store/",
    "fastapi": "api/",
    "uvicorn": "api/",
    "starlette": "api/",
    "httpx2": "outbound/",
    "jwt": "outbound/",
    "prometheus_client": "tracing/metrics.py",
    "opentelemetry": "tracing/otlp.py",
    "typer": "cli/",
    "rich": "cli/",
}
"""Things only one room may touch."""

DANGEROUS = {
    "eval", "exec", "compile", "__import__", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "os.system", "os.popen",
    "subprocess.getoutput", "subprocess.getstatusoutput", "tempfile.mktemp", "asyncio.wait_for",
}  # fmt: skip
"""What turns text into a program, leaves a door open while it works, or, in Python 3.11, forgets that it was cancelled."""

UNTESTED = {
    "core/accounts/access.py",
    "core/accounts/conversations.py",
    "core/accounts/users.py",
    "core/documents/document.py",
    "core/documents/jobs.py",
    "core/documents/sources.py",
    "core/engines.py",
    "core/graph.py",
    "core/evaluations.py",
    "core/protocols.py",
    "core/operations.py",
    "core/query/answer.py",
    "core/query/hits.py",
    "core/query/plan.py",
    "core/query/prompt.py",
    "core/query/question.py",
    "core/query/tools.py",
}
"""Pure data: nothing there can go wrong by itself."""


TESTED_BY = {
    "api/compat/openai_answers.py": "api/compat/test_official_client.py",
    "api/compat/openai_models.py": "api/compat/test_openai.py",
    "api/compat/openai_requests.py": "api/compat/test_official_client.py",
    "api/compat/openai_responses.py": "api/compat/test_official_client.py",
    "store/documents/sorting.py": "api/routes/test_documents.py",
    "store/documents/beginnings.py": "api/routes/test_suggestions.py",
    "api/dependencies.py": "api/test_app.py",
    "api/paths.py": "api/middleware/test_authenticate.py",
    "cli/view/answers.py": "cli/test_eval.py",
    "cli/view/audit.py": "cli/test_audit.py",
    "cli/view/maintenance.py": "cli/test_maintenance.py",
    "cli/view/models.py": "cli/test_models.py",
    "cli/view/serve.py": "cli/test_serve.py",
    "cli/view/sources.py": "cli/test_sources.py",
    "cli/view/shares.py": "cli/test_shares.py",
    "cli/view/tuning.py": "cli/test_tune.py",
    "cli/view/users.py": "cli/test_users.py",
    "cli/view/versions.py": "cli/test_versions.py",
    "cli/view/watch.py": "cli/test_watch.py",
    "config/branches/base.py": "config/test_settings.py",
    "config/branches/engines.py": "config/test_settings.py",
    "config/branches/generation.py": "config/test_settings.py",
    "config/branches/ingestion.py": "config/test_settings.py",
    "config/branches/retrieval.py": "config/test_settings.py",
    "config/branches/server.py": "config/test_settings.py",
    "core/request_context.py": "core/test_run.py",
    "engine/admin.py": "engine/test_app.py",
    "engine/diagnose.py": "cli/test_doctor.py",
    "engine/documents.py": "engine/test_app.py",
    "engine/maintenance.py": "cli/test_maintenance.py",
    "engine/questions.py": "engine/test_app.py",
    "engine/reader/opened_passage.py": "engine/test_asking.py",
    "engine/reader/page_locator.py": "api/routes/test_document_pages.py",
    "engine/sso.py": "api/routes/test_oidc.py",
    "engine/wiring.py": "engine/test_app.py",
    "cli/view/graph.py": "cli/test_graph.py",
    "engine/graph.py": "engine/test_graph.py",
    "ingest/graph/builder.py": "engine/test_graph.py",
    "ingest/graph/facts.py": "ingest/graph/test_rules.py",
    "ingest/graph/kinds.py": "ingest/graph/test_rules.py",
    "ingest/graph/names.py": "ingest/graph/test_rules.py",
    "query/graph/context.py": "engine/test_graph.py",
    "query/graph/dual.py": "engine/test_graph.py",
    "query/graph/search.py": "engine/test_graph.py",
    "store/engines/graph_index.py": "engine/test_graph.py",
    "store/engines/graph_reader.py": "engine/test_graph.py",
    "store/engines/graph_rows.py": "engine/test_graph.py",
    "text/wording/entity_names.py": "ingest/graph/test_rules.py",
    "engine/index/builders.py": "ingest/engines/test_builder.py",
    "ingest/chunk/builder.py": "ingest/chunk/test_structure.py",
    "ingest/embed/embedder_child.py": "ingest/embed/test_bulk_embedder.py",
    "ingest/embed/embedder_process.py": "ingest/embed/test_bulk_embedder.py",
    "ingest/embed/passage_vectors.py": "ingest/embed/test_bulk_embedder.py",
    "ingest/read/landlock.py": "ingest/read/test_sandbox.py",
    "ingest/read/seccomp.py": "ingest/read/test_sandbox.py",
    "mcp/server.py": "api/routes/test_mcp.py",
    "models/bert_input.py": "models/test_bert_graph.py",
    "query/ground/build_answer.py": "query/ground/test_ground.py",
    "serialize/accounts.py": "api/routes/test_users.py",
    "serialize/evaluations.py": "api/routes/test_evaluations.py",
    "serialize/fields.py": "api/test_requests.py",
    "serialize/jobs.py": "api/routes/test_jobs.py",
    "serialize/pages.py": "api/routes/test_document_pages.py",
    "serialize/schemas/answers.py": "api/test_response_schemas.py",
    "serialize/schemas/graph.py": "api/test_response_schemas.py",
    "serialize/schemas/operations.py": "api/test_response_schemas.py",
    "serialize/schemas/responses.py": "api/test_response_schemas.py",
    "serialize/settings.py": "api/routes/test_settings.py",
    "serialize/traces.py": "api/routes/test_traces.py",
    "serialize/tuning.py": "api/routes/test_tunings.py",
    "serialize/versions.py": "api/routes/test_versions.py",
    "store/engines/builds.py": "ingest/engines/test_builder.py",
    "store/engines/tables.py": "ingest/engines/test_builder.py",
    "store/access/login_sessions.py": "api/routes/test_auth.py",
    "store/documents/row.py": "store/documents/test_library.py",
    "store/embedded/launch.py": "store/embedded/test_server.py",
    "store/indexing/publish.py": "store/indexing/test_write_edition.py",
    "store/migrate.py": "store/test_migrations.py",
    "store/operations/open_bare.py": "store/operations/test_backup.py",
    "store/operations/restore.py": "store/operations/test_backup.py",
    "stub/call_log.py": "stub/test_server.py",
    "stub/completions.py": "stub/test_server.py",
    "stub/thread.py": "stub/test_server.py",
    "stub/wire.py": "stub/test_server.py",
}
"""Modules whose tests stand elsewhere: thin ones, and those that run only inside another process."""

PARTS = {
    "extractive/table": "extractive/test_table.py",
    "parsers/eml": "parsers/test_mail.py",
    "parsers/office": "parsers/test_{first}.py",
    "parsers/webpage": "parsers/test_html.py",
}
"""Folders whose modules are tested through what they are parts of; `first` is the first word of the file name."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


PLANTED: dict[Path, str] = {}
"""What a file is taken to hold instead, in the test of the rules themselves."""


@pytest.fixture(scope="module", autouse=True)
def clear_away() -> Iterator[None]:
    yield
    forget()


def source_of(path: Path) -> str:
    """The text of a file, or what was planted in its place."""
    return PLANTED.get(path) or text_of(path)


def tree_of(path: Path) -> ast.Module:
    return parsed(source_of(path))


def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return walked(source_of(path))


def imports_of(path: Path) -> frozenset[str]:
    """Every module a file imports, in full."""
    return imports_in(source_of(path))


@cache
def imports_in(text: str) -> frozenset[str]:
    found: set[str] = set()
    for node in walked(text):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return frozenset(found)


def check(rule: Callable[[Path], Iterable[str]], paths: Iterable[Path] = MODULES) -> None:
    """Tells every file that breaks a rule, and how: a failure of one does not hide the next."""
    found = {name_of(path): sorted(rule(path)) for path in paths}
    assert found, "there are no such files"
    told = [f"{name}: {', '.join(wrong)}" for name, wrong in found.items() if wrong]
    assert told == [], "\n".join(["", *told])


def layer_faults(room: str, imports: Iterable[str]) -> set[str]:
    """The packages that a package imports although they come later in LAYERS."""
    place = next((n for n, rooms in enumerate(LAYERS) if room in rooms), None)
    if place is None:
        return {"is in no line of LAYERS"}
    allowed = set().union(*LAYERS[:place]) | {room, "__version__"}
    return {name.split(".")[1] for name in imports if name.startswith("pincite.")} - allowed


def test_imports_point_one_way() -> None:
    check(
        lambda path: layer_faults(room_of(path), imports_of(path)),
        (path for path in MODULES if room_of(path) != "__init__"),
    )


def test_providers_never_import_each_other() -> None:
    def wrong(path: Path) -> set[str]:
        own = path.stem.split("_")[0]
        others = {name for name in imports_of(path) if name.startswith("pincite.providers.")}
        return {name for name in others if not name.split(".")[2].startswith(own)}

    check(wrong, (ROOT / "providers").glob("*.py"))


def test_the_stub_is_a_tool_that_the_product_does_without() -> None:
    def wrong(path: Path) -> set[str]:
        if room_of(path) in ("stub", "cli"):
            return set()
        return {name for name in imports_of(path) if name.startswith("pincite.stub")}

    check(wrong)


COMPOSERS = {"query/pipeline.py", "query/agent/loop.py", "flows/run.py"}
"""The only modules that run stages: the pipeline, the agent's loop, and flows."""
SHARED_CALLS = {"query/prompt/helper_call.py"}
"""Async functions with a `Run` that stages may call although they are in another module: one bounded call of the model."""


def takes_run(node: ast.AST) -> bool:
    """Whether a function is async and has a `Run` among its parameters, whatever it is called and wherever it stands."""
    if not isinstance(node, ast.AsyncFunctionDef):
        return False
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return any(one.annotation and "Run" in ast.unparse(one.annotation).split(".") for one in arguments)


@cache
def defined_with_run() -> dict[str, str]:
    """Every async function that takes a `Run`, as `module.name`, with its file: these do a stage's work."""
    return {
        f"pincite.{name_of(path)[:-3].replace('/', '.')}.{node.name}": name_of(path)
        for path in MODULES
        if name_of(path) not in SHARED_CALLS
        for node in parsed(text_of(path)).body
        if takes_run(node)
    }


def stage_faults(path: Path) -> Iterator[str]:
    """What a module that is no composer does with stages."""
    if name_of(path) in COMPOSERS or room_of(path) == "engine" or name_of(path) == "core/run.py":
        return
    yield from (f"runs the stage {name}" for name in run_by(source_of(path)))
    work = defined_with_run()
    yield from (f"imports {name}" for name in imports_of(path) if name in work)


def test_stages_never_call_stages() -> None:
    """A stage is what `run.step` runs, wherever it is defined; only composers run or import stages."""
    assert len(stages()) > 30
    assert {home for name, home in stages().items() if home not in COMPOSERS} <= {name_of(path) for path in MODULES}
    check(stage_faults)


def test_every_stage_is_seen() -> None:
    """Nothing is handed to a runner that the list of stages does not know: a variable would hide a stage."""
    handed = {name for path in MODULES if name_of(path) in COMPOSERS for name in run_by(source_of(path))}
    assert handed - set(stages()) == {"call"}, "name the stage where it is run"
    assert {"step_back", "hyde", "query_variations"} <= {
        node.name for path in MODULES if name_of(path) == "query/retrieve/query_expansion.py" for node in tree_of(path).body
        if isinstance(node, ast.AsyncFunctionDef)
    }  # fmt: skip


VALUES = (
    "core/query/",
    "core/documents/",
    "core/accounts/",
    "core/operations.py",
    "core/evaluations.py",
    "core/times.py",
)
"""The values: frozen data that every other package may import."""


def value_faults(path: Path) -> set[str]:
    """What a module of values imports beside the standard library, other values and the errors."""
    others = {name for name in imports_of(path) if name.split(".")[0] not in sys.stdlib_module_names}
    return {name for name in others if not name.startswith(("pincite.core.", "pincite.errors"))} | {
        name for name in others if name.startswith(("pincite.core.run", "pincite.core.protocols"))
    }


def test_core_values_need_nothing_but_the_standard_library() -> None:
    check(value_faults, (path for path in MODULES if name_of(path).startswith(VALUES)))


def test_core_needs_no_third_party_package() -> None:
    def wrong(path: Path) -> set[str]:
        return {name.split(".")[0] for name in imports_of(path)} - set(sys.stdlib_module_names) - {"pincite"}

    check(wrong, (ROOT / "core").rglob("*.py"))


def interface_faults(path: Path) -> Iterator[str]:
    """What an interface does beside calling the engine."""
    yield from (name for name in imports_of(path) if name.split(".")[:2] == ["pincite", "store"])
    yield from (
        f"line {node.lineno}: reaches into .services"
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr == "services"
    )
    if room_of(path) == "cli" and name_of(path) not in ("cli/serve.py", "cli/embed_server.py"):
        yield from (name for name in imports_of(path) if name.split(".")[:2] == ["pincite", "api"])


def test_interfaces_call_the_engine_and_nothing_below_it() -> None:
    interfaces = {"api", "cli", "mcp", "serialize", "evaluate"}
    check(interface_faults, (path for path in MODULES if room_of(path) in interfaces))


def folder_faults(folder: Path) -> Iterator[str]:
    """What makes a folder hard to take in."""
    modules = list(folder.glob("*.py"))
    if len(modules) > 16 and folder.relative_to(ROOT).as_posix() not in WIDE:
        yield f"{len(modules)} modules"
    for path in modules:
        if (lines := text_of(path).count("\n")) > 400:
            yield f"{path.name} has {lines} lines"


WIDE = {"providers", "parsers", "parsers/layout", "api/routes", "cli", "cli/view"}
"""Folders with one file for each noun."""


def test_the_listing_can_be_taken_in() -> None:
    folders = {path.parent for path in MODULES}
    found = {folder.relative_to(ROOT).as_posix(): list(folder_faults(folder)) for folder in folders}
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(list(ROOT.glob("*.py"))) <= 5


@pytest.mark.parametrize(
    ("place", "code", "fault"),
    [
        ("query/rank/rank.py", "async def x(run):\n    await run.step(reranking, 1)", "runs the stage reranking"),
        ("query/rank/diversity.py", "from pincite.query.rank.rank import ranking", "imports pincite.query.rank.rank.ranking"),
        ("query/ground/ground.py", "from pincite.query.ground.suggestions import suggested_questions",
         "imports pincite.query.ground.suggestions.suggested_questions"),
        ("core/query/hits.py", "from pincite.config.settings import Settings", "pincite.config.settings"),
        ("core/query/plan.py", "import pydantic", "pydantic"),
        ("core/documents/jobs.py", "from pincite.core.run import Run", "pincite.core.run"),
        ("api/routes/jobs.py", "from pincite.store.database import Database", "pincite.store.database"),
        ("cli/jobs.py", "from pincite.api.app import make_app", "pincite.api.app"),
        ("cli/keys.py", "pincite.services.database.close()", "line 1: reaches into .services"),
    ],
)  # fmt: skip
def test_planted_violations_are_found(place: str, code: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules: list[Callable[[Path], Iterable[str]]] = [stage_faults, value_faults, interface_faults]
    monkeypatch.setitem(PLANTED, ROOT / place, code)
    assert fault in {one for rule in rules for one in rule(ROOT / place)}


def test_a_planted_import_against_the_layers_is_found() -> None:
    assert layer_faults("text", {"pincite.core.run"}) == {"core"}
    assert layer_faults("query", {"pincite.engine.app"}) == {"engine"}
    assert layer_faults("engine", {"pincite.query.pipeline"}) == set()


def test_each_thing_has_one_room() -> None:
    def wrong(path: Path) -> Iterator[str]:
        used = {name.split(".")[0] for name in imports_of(path)}
        for thing, room in OWNS.items():
            touched = thing in used or ("." in thing and thing in text_of(path))
            if touched and not name_of(path).startswith(room):
                yield f"only {room} may use {thing}"

    check(wrong)


def test_nothing_dangerous() -> None:
    def called(function: ast.expr) -> str:
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return f"{function.value.id}.{function.attr}"
        return function.id if isinstance(function, ast.Name) else ""

    def wrong(path: Path) -> Iterator[str]:
        yield from imports_of(path) & {"pickle", "marshal", "shelve", "dill", "jsonpickle"}
        for node in nodes_of(path):
            if isinstance(node, ast.Call):
                if called(node.func) in DANGEROUS:
                    yield f"line {node.lineno}: {called(node.func)}"
                yield from (
                    f"line {node.lineno}: {word.arg}" for word in node.keywords if word.arg in ("shell", "allow_pickle")
                )

    scripts = [*(ROOT.parent / "benchmarks").rglob("*.py"), *(ROOT.parent / "docs").glob("*.py")]
    check(wrong)
    assert [f"{script.name}: {what}" for script in scripts for what in wrong(script)] == []


def test_everything_says_what_it_is() -> None:
    def wrong(path: Path) -> Iterator[str]:
        doc = ast.get_docstring(tree_of(path)) or ""
        if not doc:
            yield "has no docstring"
        elif len(doc.splitlines()[0]) > 120:
            yield "has a docstring whose first line is over 120 characters"
        for node in tree_of(path).body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            if not ast.get_docstring(node):
                yield f"{node.name} has no docstring"

    check(wrong)


def test_the_tests_mirror_the_package() -> None:
    def wrong(path: Path) -> Iterator[str]:
        relative = path.relative_to(ROOT)
        if name_of(path) in UNTESTED or path.name == "__init__.py":
            return
        folder, first = relative.parent.as_posix(), relative.stem.split("_")[0]
        places = [TESTS / folder / f"test_{stem}.py" for stem in (relative.stem, first)]  # minilm_files with minilm
        places += [TESTS / PARTS.get(folder, "none").format(first=first), TESTS / TESTED_BY.get(name_of(path), "none")]
        if not any(place.exists() for place in places):
            yield f"write {(TESTS / folder / f'test_{relative.stem}.py').relative_to(TESTS.parent)}"

    check(wrong)


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_pincite_opens_no_socket_and_loads_no_model_library() -> None:
    heavy = {"onnxruntime", "onnx", "tokenizers", "numpy", "fastapi", "psycopg", "huggingface_hub", "torch"}
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise SystemExit('a socket was opened')\n"
        "socket.socket.connect = socket.socket.bind = refuse\n"
        "import pincite\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    assert run_python(code) == "[]"


@pytest.mark.slow
def test_the_public_names_are_there() -> None:
    assert run_python("import pincite; print([n for n in pincite.__all__ if not hasattr(pincite, n)])") == "[]"
