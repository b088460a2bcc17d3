"""The architecture, as assertions. When one fails, change the code; when the code is right, change ARCHITECTURE.md too."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "pincite"
MODULES = sorted(ROOT.rglob("*.py"))
TESTS = Path(__file__).parent

LAYERS = [
    {"errors", "wording"},
    {"settings"},
    {"core"},
    {"catalogue"},
    {"layers"},
    {"access", "plugins", "words", "tokens", "blocks", "models", "resilience"},
    {"outside", "steady"},
    {"providers", "parsers", "store"},
    {"query", "ingest", "stub"},
    {"reading", "toolbox", "trial"},
    {"profiles", "workbench"},
    {"control"},
    {"logs", "metrics", "replay", "telemetry"},
    {"records", "witness"},
    {"engine"},
    {"blocking"},
    {"evaluate"},
    {"api"},
    {"cli"},
]
"""What may import what: only rooms of an earlier line, or one's own."""

OWNS = {
    "os.environ": "settings.py",
    "psycopg": "store/",
    "fastapi": "api/",
    "uvicorn": "api/",
    "starlette": "api/",
    "httpx2": "outside/",
    "prometheus_client": "metrics.py",
    "opentelemetry": "telemetry.py",
    "typer": "cli/",
    "rich": "cli/",
}
"""Things only one room may touch."""

UNTESTED = {
    "__init__.py", "core/documents.py", "core/answers.py", "core/callers.py", "core/protocols.py", "core/phrases.py",
    "core/abbreviations.py", "core/conversations.py", "core/evaluations.py",
}  # fmt: skip
"""Pure data: nothing there can go wrong by itself."""


TESTED_BY = {
    "api/engine.py": "api/test_app.py",
    "core/request.py": "core/test_run.py",
    "cli/doctor.py": "cli/test_checkup.py",
    "cli/view/service.py": "cli/test_service.py",
    "store/embedded/launch.py": "store/test_server.py",
    "stub/calls.py": "stub/test_server.py",
    "stub/completions.py": "stub/test_server.py",
    "stub/thread.py": "stub/test_server.py",
    "stub/wire.py": "stub/test_server.py",
}
"""Modules whose tests stand elsewhere: thin ones, and those that run only inside another process."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Every module a file imports, in full."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    place = next(n for n, rooms in enumerate(LAYERS) if room in rooms)
    allowed = set().union(*LAYERS[:place]) | {room}
    used = {name.split(".")[1] for name in imports_of(path) if name.startswith("pincite.")} - {"__version__"}
    assert used <= allowed


@pytest.mark.parametrize("path", sorted((ROOT / "providers").glob("*.py")), ids=name_of)
def test_providers_never_import_each_other(path: Path) -> None:
    own = path.stem.split("_")[0]
    others = {name for name in imports_of(path) if name.startswith("pincite.providers.")}
    assert {name for name in others if not name.split(".")[2].startswith(own)} == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_stub_is_a_tool_that_the_product_does_without(path: Path) -> None:
    if room_of(path) not in ("stub", "cli"):
        assert not [name for name in imports_of(path) if name.startswith("pincite.stub")]


@pytest.mark.parametrize("path", sorted((ROOT / "query").glob("*.py")), ids=name_of)
def test_stages_never_call_stages(path: Path) -> None:
    """Only the pipeline puts stages together: a stage is an async function that takes a run."""
    if path.name == "pipeline.py":
        return
    stages = {
        node.name
        for file in (ROOT / "query").glob("*.py")
        if file != path
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AsyncFunctionDef) and node.args.args and node.args.args[0].arg == "run"
    }
    taken = {
        name.split(".")[3] for name in imports_of(path) if name.startswith("pincite.query.") and name.count(".") == 3
    }
    assert taken & stages == set()


@pytest.mark.parametrize("path", sorted((ROOT / "core").glob("*.py")), ids=name_of)
def test_the_words_need_nothing_but_the_standard_library(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports_of(path)} - set(sys.stdlib_module_names)
    assert outside <= {"pincite"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_each_thing_has_one_room(path: Path) -> None:
    text, used = path.read_text(encoding="utf-8"), {name.split(".")[0] for name in imports_of(path)}
    for thing, room in OWNS.items():
        if not name_of(path).startswith(room):
            assert thing not in used, f"only {room} may use {thing}"
            assert "." not in thing or thing not in text, f"only {room} may use {thing}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_dangerous(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert imports_of(path) & {"pickle", "marshal", "shelve"} == set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"eval", "exec", "yaml.load", "os.system"}, f"line {node.lineno}"
            assert not any(k.arg == "shell" for k in node.keywords), f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_everything_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    doc = ast.get_docstring(tree)
    assert doc
    assert len(doc.splitlines()[0]) <= 120
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_tests_mirror_the_package(path: Path) -> None:
    relative = path.relative_to(ROOT)
    if name_of(path) in UNTESTED or path.name == "__init__.py":
        return
    stems = {relative.stem, relative.stem.split("_")[0]}  # minilm_graph.py is tested with minilm.py
    places = [TESTS / relative.parent / f"test_{stem}.py" for stem in stems]
    places.append(TESTS / TESTED_BY.get(name_of(path), "none"))
    assert any(place.exists() for place in places), f"write {places[0].relative_to(TESTS.parent)}"


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


def test_the_public_names_are_there() -> None:
    assert run_python("import pincite; print([n for n in pincite.__all__ if not hasattr(pincite, n)])") == "[]"
