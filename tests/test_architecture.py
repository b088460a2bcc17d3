"""The architecture, as assertions. When one fails, change the code; when the code is right, change ARCHITECTURE.md too."""

import ast
import gc
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "pincite"
MODULES = sorted(ROOT.rglob("*.py"))
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
    {"mcp"},
    {"api"},
    {"cli"},
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
    "core/evaluations.py",
    "core/protocols.py",
    "core/query/answer.py",
    "core/query/fixed_answers.py",
    "core/query/tools.py",
    "text/abbreviations.py",
}
"""Pure data: nothing there can go wrong by itself."""


TESTED_BY = {
    "api/dependencies.py": "api/test_app.py",
    "api/paths.py": "api/middleware/test_authenticate.py",
    "cli/doctor.py": "cli/test_checkup.py",
    "cli/view/audit.py": "cli/test_audit.py",
    "cli/view/maintenance.py": "cli/test_maintenance.py",
    "cli/view/serve.py": "cli/test_serve.py",
    "cli/view/shares.py": "cli/test_shares.py",
    "cli/view/users.py": "cli/test_users.py",
    "cli/view/versions.py": "cli/test_versions.py",
    "cli/view/watch.py": "cli/test_watch.py",
    "core/request_context.py": "core/test_run.py",
    "engine/reader/page_locator.py": "api/routes/test_document_pages.py",
    "engine/sso.py": "api/routes/test_oidc.py",
    "ingest/chunk/builder.py": "ingest/chunk/test_structure.py",
    "ingest/embed/embedder_child.py": "ingest/embed/test_bulk_embedder.py",
    "ingest/embed/embedder_process.py": "ingest/embed/test_bulk_embedder.py",
    "ingest/embed/passage_vectors.py": "ingest/embed/test_bulk_embedder.py",
    "ingest/read/landlock.py": "ingest/read/test_sandbox.py",
    "ingest/read/seccomp.py": "ingest/read/test_sandbox.py",
    "mcp/protocol.py": "api/routes/test_mcp.py",
    "serialize/evaluations.py": "api/routes/test_evaluations.py",
    "serialize/fields.py": "api/test_requests.py",
    "serialize/jobs.py": "api/routes/test_jobs.py",
    "serialize/pages.py": "api/routes/test_document_pages.py",
    "serialize/settings.py": "api/routes/test_settings.py",
    "serialize/traces.py": "api/routes/test_traces.py",
    "serialize/versions.py": "api/routes/test_versions.py",
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
    "parsers/eml": "parsers/test_mail.py",
    "parsers/office": "parsers/test_{first}.py",
    "parsers/webpage": "parsers/test_html.py",
}
"""Folders whose modules are tested through the parser they are parts of; `first` is the first word of the file name."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    gc.disable()  # what is cleared away meanwhile may parse something itself, which Python 3.11 cannot bear
    try:
        return ast.parse(text_of(path))
    finally:
        gc.enable()


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Every module a file imports, in full."""
    found: set[str] = set()
    for node in nodes_of(path):
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


def test_imports_point_one_way() -> None:
    def wrong(path: Path) -> set[str]:
        room = room_of(path)
        if room == "__init__":
            return set()
        place = next((n for n, rooms in enumerate(LAYERS) if room in rooms), None)
        if place is None:
            return {"is in no line of LAYERS"}
        allowed = set().union(*LAYERS[:place]) | {room, "__version__"}
        return {name.split(".")[1] for name in imports_of(path) if name.startswith("pincite.")} - allowed

    check(wrong)


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


def test_stages_never_call_stages() -> None:
    """Only the pipeline puts stages together: a stage is an async function that takes a run."""
    files = sorted((ROOT / "query").glob("*.py"))
    stages = {
        (file, node.name)
        for file in files
        for node in tree_of(file).body
        if isinstance(node, ast.AsyncFunctionDef) and node.args.args and node.args.args[0].arg == "run"
    }
    assert stages

    def wrong(path: Path) -> set[str]:
        inside = {name for name in imports_of(path) if name.startswith("pincite.query.") and name.count(".") == 3}
        return {name.split(".")[3] for name in inside} & {name for file, name in stages if file != path}

    check(wrong, (file for file in files if file.name != "pipeline.py"))


def test_the_words_need_nothing_but_the_standard_library() -> None:
    def wrong(path: Path) -> set[str]:
        return {name.split(".")[0] for name in imports_of(path)} - set(sys.stdlib_module_names) - {"pincite"}

    check(wrong, (ROOT / "core").glob("*.py"))


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
        places = [TESTS / folder / f"test_{stem}.py" for stem in (relative.stem, first)]  # minilm_graph with minilm
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
