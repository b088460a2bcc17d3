"""The documentation is complete and matches the code."""

import contextlib
import importlib.util
import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from pincite.api.app import make_app
from pincite.config.sources import load_settings
from tests.test_architecture import LAYERS

pytestmark = pytest.mark.usefixtures("built_in_reader")

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))


def maker(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["make_settings", "make_commands", "make_levels"])
def test_generated_pages_are_up_to_date(name: str) -> None:
    made = maker(name)
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), f"run: python docs/{name}.py"


def test_the_example_of_a_settings_file_is_fresh_and_says_the_defaults(tmp_path: Path) -> None:
    made = maker("make_settings")
    text = made.EXAMPLE.read_text(encoding="utf-8")
    assert text == made.example(), "run: python docs/make_settings.py"
    lines = [line.removeprefix("#") if re.match(r'#\w+ = (?!…|"" *$)', line) else line for line in text.splitlines()]
    (tmp_path / "settings.toml").write_text("\n".join(lines), encoding="utf-8")
    assert load_settings({"data": tmp_path}, env={}) == load_settings({"data": tmp_path / "none"}, env={}).model_copy(
        update={"data": tmp_path}
    )
    assert len([line for line in lines if re.match(r"\w+ = ", line)]) > 40


def test_every_route_is_documented_and_every_documented_route_exists() -> None:
    app = make_app(SimpleNamespace(settings=load_settings(env={})))  # type: ignore[arg-type]
    routes = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    text = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `((?:GET|POST|PATCH|PUT|DELETE) \S+?)`", text, re.MULTILINE))
    assert documented == routes


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_pages_name_exist(page: Path) -> None:
    from typer.main import get_command

    from pincite.cli import app

    commands = set(get_command(app).commands)  # type: ignore[attr-defined]
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|bin/)pincite ([a-z]+(?:-[a-z]+)*)", text))
    assert named <= commands
    offered = set(re.findall(r"^\s*([a-z]+)\)", (ROOT / "run").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\./run ([a-z]+)", text)) <= offered


def test_the_documented_folders_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^(│   )?[├└]── ([\w.]+)", text, re.MULTILINE)
    tops = [name for inner, name in drawn if not inner]
    package = ROOT / "pincite"
    listed = {
        path.name for path in package.iterdir() if path.suffix == ".py" or (path.is_dir() and path.name[0] != "_")
    }
    assert set(tops) == listed - {"__init__.py"}
    order = [layer for layers in LAYERS for layer in layers]
    assert [name.removesuffix(".py") for name in tops if name.removesuffix(".py") in order] == sorted(
        (name.removesuffix(".py") for name in tops if name != "page"),
        key=lambda name: next(n for n, layer in enumerate(LAYERS) if name in layer),
    )
    parent = ""
    for inner, name in drawn:
        parent = parent if inner else name
        assert not inner or (package / parent / name).is_dir(), f"{parent}/{name}"


@pytest.mark.slow
def test_the_readmes_python_example_runs(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"<!-- example: library -->\n```python\n(.*?)```", text, re.DOTALL)
    assert example is not None
    (tmp_path / "handbook.md").write_text(
        "# Leave\n\nUp to five vacation days carry over into the next year.\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", example[1]], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.stderr == ""
    assert "Up to five vacation days carry over into the next year. [Source 1]" in done.stdout


@pytest.mark.slow
def test_the_examples_of_the_python_page_print_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    [handbook] = re.findall(r"```markdown\n(.*?)```", page, re.DOTALL)
    (tmp_path / "papers").mkdir()
    for name, text in {
        "handbook.md": handbook,
        "cats.txt": "Cats purr.\n",
        "dogs.txt": "Dogs bark.\n",
        "papers/plan.md": "# Plan\n\nThe move is in June.\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PINCITE_DATABASE_URL", database_url)
    examples = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page, re.DOTALL)
    names: dict[str, object] = {"__name__": "example"}
    assert len(examples) == page.count("```python") > 9
    for code, expected in examples:
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            exec(code, names)
        assert told.getvalue() == expected, code


@pytest.mark.slow
def test_the_answer_in_the_readme_is_what_the_demo_prints(tmp_path: Path) -> None:
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    command = [sys.executable, "-c", "import sys; from pincite.cli import main; sys.exit(main())", "demo", "--once"]
    done = subprocess.run(
        [*command, "--data", str(tmp_path / "data")],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
        env={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "COLUMNS": "80", "NO_COLOR": "1"},
    )
    assert shown.strip() in done.stdout


def test_every_test_named_on_the_security_page_exists() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row.split("|")[1]) for row in rows] == [*range(1, 63), *range(75, 82), 87, 88, 89, 97, 98, 99, 100]
    missing = []
    for row in rows:
        file = ""
        for place, name in re.findall(r"`([\w/]*(?:\.py)?)::(\w+|\*)`", row):
            file = place or file
            source = (ROOT / "tests" / file).read_text(encoding="utf-8")
            if name != "*" and not re.search(rf"^(async )?def {name}\(", source, re.MULTILINE):
                missing.append(f"{file}::{name}")
    assert missing == []


def test_the_page_of_designs_counts_its_statements_and_names_existing_tests() -> None:
    page = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| \[([\w-]+)\]\(#[\w-]+\) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    counted, missing = [], []
    for design in page.split("\n## ")[1:]:
        rows = re.findall(r"^\| [A-Z](\d+) \| (.+) \| (.+) \|$", design, re.MULTILINE)
        assert [int(number) for number, _, _ in rows] == [*range(1, len(rows) + 1)]
        reasons = sum(held.startswith("— ") for _, _, held in rows)
        counted.append((design.split("\n")[0], str(len(rows)), str(len(rows) - reasons), str(reasons)))
        for _, said, held in rows:
            named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", held)
            assert named or held.startswith("— "), said
            missing += [f"{file}::{name}" for file, name in named if not _is_test(ROOT / "tests" / file, name)]
    assert (counted, missing) == (told, [])
    assert [name for name, *_ in told] == ["zoeflow", "five-stage", "vexora", "local", "adaptive"]


def _is_test(file: Path, name: str) -> bool:
    return bool(re.search(rf"^(async )?def {name}\(", file.read_text(encoding="utf-8"), re.MULTILINE))


def test_extras_are_installed_from_the_checkout_since_no_package_is_published() -> None:
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    said = {
        file: re.findall(r"pip install[^\n`]*?'([\w.]+)\[([\w,]+)\]'", file.read_text(encoding="utf-8"))
        for file in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("pincite/**/*.py")]
    }
    wrong = {
        str(file) for file, found in said.items() if any(where != "." or one not in extras for where, one in found)
    }
    assert not wrong
    assert said[ROOT / "docs" / "providers.md"] == [(".", "llama")] * 2


def test_no_table_is_cut_by_an_empty_line() -> None:
    for page in (ROOT / "README.md", *ROOT.glob("docs/*.md")):
        for row in re.finditer(r"^\|.*\|\n\n(\|.*\|)\n(.*)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.match(r"\|[-:| ]+\|$", row[2]), f"{page.name}: {row[1]}"  # the head of another table
