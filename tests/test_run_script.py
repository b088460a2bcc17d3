"""The `run` script of the repository, and the sample documents."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest
import yaml

ROOT = Path(__file__).parents[1]
RUN = ROOT / "run"
DOCUMENTS = ROOT / "examples" / "documents"
QUESTIONS = json.loads((ROOT / "examples" / "questions.json").read_text(encoding="utf-8"))
TOOLS = "cat cksum dirname flock getconf mkdir readlink rm sed sh basename ln chmod"


def run(script: Path, *arguments: str, path: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Call the script; with `path`, that folder is the whole PATH."""
    full = {**os.environ, **({"PATH": str(path)} if path else {}), **env}
    return subprocess.run(
        [shutil.which("sh") or "/bin/sh", script, *arguments],
        env=full,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def write_tool(folder: Path, name: str, body: str) -> None:
    """Put a small shell program into a folder."""
    (folder / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with the usual shell tools only: no Python, no pip, no uv."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in TOOLS.split():
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a space in its path, with only the files that the script reads."""
    folder = tmp_path / "my checkout"
    (folder / "benchmarks").mkdir(parents=True)
    shutil.copy(RUN, folder)
    (folder / "uv.lock").write_text("version = 1\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    return folder


@pytest.fixture
def machine(tools: Path, tmp_path: Path) -> Path:
    """A PATH with this Python, and a fake uv that creates a bare environment and records its calls."""
    (tools / "python3").symlink_to(sys.executable)
    log, base = tmp_path / "uv.log", Path(sys.base_prefix) / "bin"
    write_tool(
        tools,
        "uv",
        f"""
        case $1 in
            --version) echo "uv 0.9.0" ;;
            venv)
                mkdir -p "$UV_PROJECT_ENVIRONMENT/bin" && cd "$UV_PROJECT_ENVIRONMENT"
                echo "home = {base}" > pyvenv.cfg
                ln -s "{base}/python3" bin/python
                printf '#!/bin/sh\\necho "pincite $*"\\n' > bin/pincite && chmod +x bin/pincite ;;
            sync)
                echo "$*" >> "{log}"
                [ -z "$BROKEN" ] || {{ echo "no route to host" >&2; exit 2; }} ;;
        esac""",
    )
    return tools


def syncs(tmp_path: Path) -> list[str]:
    """Return the install calls of the fake uv of `machine`."""
    log = tmp_path / "uv.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


# --- the script -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
def test_script_is_valid_in_every_shell(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell} here")
    assert subprocess.run([shell, "-n", RUN], check=False).returncode == 0


def test_scripts_can_be_executed() -> None:
    assert os.access(RUN, os.X_OK)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_usage_names_every_command(arguments: tuple[str, ...]) -> None:
    result = run(RUN, *arguments)
    assert result.returncode == 0
    for command in ("demo", "serve", "test", "check", "bench", "train", "screenshots"):
        assert f"\n  {command} " in result.stdout


def test_unknown_command_is_refused_with_the_usage() -> None:
    result = run(RUN, "frobnicate")
    assert result.returncode == 2
    assert "no command 'frobnicate'" in result.stderr
    assert "usage: ./run" in result.stderr


def test_old_python_is_named_in_one_line(checkout: Path, tools: Path) -> None:
    write_tool(tools, "python3", "echo 3.9 /usr/bin/python3")
    result = run(checkout / "run", "demo", path=tools)
    assert result.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13" in result.stderr
    assert "python3 is 3.9" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (checkout / ".venv").exists()


@pytest.mark.slow
def test_a_python_shim_without_a_python_is_skipped(checkout: Path, machine: Path) -> None:
    write_tool(machine, "python3.13", "echo 'python3.13: command not found' >&2; exit 127")
    result = run(checkout / "run", "demo", path=machine)
    assert result.returncode == 0
    assert "command not found" not in result.stderr


def test_a_machine_without_pip_and_uv_gets_an_error(checkout: Path, tools: Path) -> None:
    write_tool(tools, "python3", "case $1 in -c) echo 3.11 python3 ;; *) exit 1 ;; esac")
    result = run(checkout / "run", "test", path=tools)
    assert result.returncode == 1
    assert "neither uv nor pip" in result.stderr


def test_uv_is_fetched_with_pip_where_it_is_missing_or_too_old(checkout: Path, tools: Path, tmp_path: Path) -> None:
    write_tool(tools, "uv", 'echo "uv 0.4.30"')
    write_tool(tools, "python3", f'case $1 in -c) echo 3.11 python3 ;; *) echo "$*" >> "{tmp_path}/pip.log" ;; esac')
    result = run(checkout / "run", "test", path=tools)
    assert result.returncode == 1, "the pip of this test brings no uv"
    assert "does not run" in result.stderr
    assert f"--target {checkout}/.tools uv" in (tmp_path / "pip.log").read_text(encoding="utf-8")


@pytest.mark.slow
def test_set_up_happens_once_and_again_when_the_lock_changes(checkout: Path, machine: Path, tmp_path: Path) -> None:
    first = run(checkout / "run", "demo", "--once", path=machine)
    assert first.returncode == 0
    assert first.stdout == f"pincite demo --data {checkout}/.demo --once\n"
    assert "Setting up" in first.stderr
    assert "--frozen" in syncs(tmp_path)[0]
    again = run(checkout / "run", "demo", path=machine)
    assert again.stderr == ""
    assert len(syncs(tmp_path)) == 1
    (checkout / "uv.lock").write_text("version = 2\n", encoding="utf-8")
    run(checkout / "run", "demo", path=machine)
    assert len(syncs(tmp_path)) == 2


@pytest.mark.slow
def test_a_failed_set_up_shows_the_reason_and_is_repeated(checkout: Path, machine: Path, tmp_path: Path) -> None:
    broken = run(checkout / "run", "demo", path=machine, BROKEN="yes")
    assert broken.returncode == 1
    assert "no route to host" in broken.stderr
    assert broken.stdout == ""
    leftover = checkout / ".venv" / "leftover"
    leftover.touch()
    assert run(checkout / "run", "demo", path=machine).returncode == 0
    assert len(syncs(tmp_path)) == 2
    assert not leftover.exists(), "an environment cut short is made anew"


@pytest.mark.slow
def test_a_moved_checkout_or_broken_environment_is_set_up_again(checkout: Path, machine: Path, tmp_path: Path) -> None:
    run(checkout / "run", "demo", path=machine)
    moved = checkout.rename(tmp_path / "elsewhere")
    assert run(moved / "run", "demo", path=machine).returncode == 0
    assert len(syncs(tmp_path)) == 2
    (moved / ".venv" / "bin" / "python").unlink()
    assert run(moved / "run", "demo", path=machine).returncode == 0
    assert len(syncs(tmp_path)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("home", ["", "/dev/null/gone"])
def test_script_works_through_a_link_and_without_a_home(
    checkout: Path, machine: Path, tmp_path: Path, home: str
) -> None:
    (tmp_path / "link").symlink_to(checkout / "run")
    write_tool(machine, "pincite", "exit 9")
    result = run(tmp_path / "link", "serve", "--port", "0", path=machine, HOME=home)
    assert result.stdout == "pincite serve --port 0\n"
    assert (checkout / ".tools" / "home").is_dir()


@pytest.mark.slow
def test_checkout_that_cannot_be_written_to_is_named(checkout: Path, machine: Path) -> None:
    (checkout / ".tools").touch()  # a file in the way stops root too, which permissions would not
    result = run(checkout / "run", "demo", path=machine)
    assert result.returncode == 1
    assert f"cannot write to {checkout}" in result.stderr


def test_every_benchmark_is_listed() -> None:
    result = run(RUN, "bench")
    assert result.returncode == 0
    listed = {line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")}
    folders = {file.parent.name for file in (ROOT / "benchmarks").glob("[!_]*/__main__.py")}
    assert listed == {file.stem for file in (ROOT / "benchmarks").glob("[!_]*.py")} | folders


def test_benchmarks_are_listed_with_their_descriptions(checkout: Path) -> None:
    (checkout / "benchmarks" / "__init__.py").touch()
    (checkout / "benchmarks" / "speed.py").write_text('"""How fast it is."""\n', encoding="utf-8")
    (checkout / "benchmarks" / "size.py").write_text('"""How big it is.\n\nMore."""\n', encoding="utf-8")
    (checkout / "benchmarks" / "peers").mkdir()
    (checkout / "benchmarks" / "peers" / "__main__.py").write_text('"""How others do."""\n', encoding="utf-8")
    listing = run(checkout / "run", "bench").stdout.splitlines()[1:]
    assert [line.split(maxsplit=1) for line in listing] == [
        ["size", "How big it is."],
        ["speed", "How fast it is."],
        ["peers", "How others do."],
    ]
    unknown = run(checkout / "run", "bench", "../speed")
    assert unknown.returncode == 2
    assert "speed" in unknown.stderr


@pytest.mark.slow
def test_a_benchmark_can_be_the_first_thing_run(checkout: Path, machine: Path) -> None:
    (checkout / "benchmarks" / "speed.py").write_text('print("very fast")', encoding="utf-8")
    result = run(checkout / "run", "bench", "speed", path=machine)
    assert result.stdout == "very fast\n", result.stderr


def test_train_names_what_it_needs_and_installs_nothing(checkout: Path, tools: Path) -> None:
    result = run(checkout / "run", "train", path=tools)
    assert result.returncode == 0
    assert "training/README.md" in result.stdout
    assert "./run train --tiny" in result.stdout
    assert not (checkout / ".venv").exists()
    refused = run(checkout / "run", "train", "--large", path=tools)
    assert refused.returncode == 2
    assert "no argument '--large'" in refused.stderr


@pytest.mark.slow
def test_tiny_training_installs_torch_only_where_it_is_missing(checkout: Path, machine: Path, tmp_path: Path) -> None:
    (checkout / "training" / "tiny").mkdir(parents=True)
    main = "import sys; print(sys.argv[1:])"
    (checkout / "training" / "tiny" / "__main__.py").write_text(main, encoding="utf-8")
    result = run(checkout / "run", "train", "--tiny", "--steps", "3", path=machine)
    assert result.stdout == "['--steps', '3']\n", result.stderr
    default, torch = syncs(tmp_path)
    assert "--group" not in default
    assert "--inexact --group train" in torch
    packages = checkout / ".venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "torch.py").touch()
    assert run(checkout / "run", "train", "--tiny", path=machine).returncode == 0
    assert len(syncs(tmp_path)) == 2


# --- the samples ------------------------------------------------------------------------------------------


def text_of(name: str) -> str:
    """Return a sample's text with each run of whitespace as one space."""
    file = DOCUMENTS / name
    if file.suffix != ".pdf":
        return " ".join(file.read_text(encoding="utf-8").split())
    pages = pypdfium2.PdfDocument(file)
    return " ".join(" ".join(page.get_textpage().get_text_bounded() for page in pages).split())


@pytest.mark.parametrize("file", sorted(DOCUMENTS.glob("*.md")), ids=lambda file: file.name)
def test_every_markdown_sample_has_its_front_matter(file: Path) -> None:
    _, head, body = file.read_text(encoding="utf-8").split("---\n", 2)
    assert yaml.safe_load(head).keys() == {"title", "author", "description", "category", "tags", "source_urls"}
    assert body.lstrip().startswith("# ")


VERDICTS = ("Yes. ", "No. ", "Ja. ", "Nein. ")
"""Answers that do not quote the document literally."""


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q["answerable"]], ids=lambda q: q["question"][:40])
def test_the_answer_stands_in_the_named_document(question: dict[str, object]) -> None:
    expected = question["answer_contains"]
    assert isinstance(expected, list)
    assert expected
    text = text_of(str(question["document"]))
    quoted = [part for part in expected if part not in VERDICTS and part not in text]
    assert [part for part in quoted if part.removesuffix(". ").replace(" | ", " ") not in text] == []


def test_questions_cover_both_languages_and_what_cannot_be_answered() -> None:
    assert len(QUESTIONS) >= 25
    assert {q["language"] for q in QUESTIONS} == {"en", "de"}
    unanswerable = [q for q in QUESTIONS if not q["answerable"]]
    assert len(unanswerable) >= 4
    assert all(q["answer_contains"] == [] and q["document"] is None for q in unanswerable)
    assert len([q for q in QUESTIONS if q.get("demo")]) == 1


def test_every_sample_is_asked_about() -> None:
    assert {q["document"] for q in QUESTIONS if q["answerable"]} == {file.name for file in DOCUMENTS.iterdir()}


@pytest.mark.slow
def test_the_pdf_is_what_its_script_makes() -> None:
    made = subprocess.run(
        [
            sys.executable,
            "-c",
            "import make_pdf, sys; sys.stdout.buffer.write(make_pdf.make_pdf(make_pdf.SOURCE.read_text('utf-8')))",
        ],
        cwd=ROOT / "examples",
        capture_output=True,
        check=True,
    ).stdout
    assert made == (DOCUMENTS / "annual-report-2023.pdf").read_bytes()


# --- the audit of dependencies ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("found", "code", "told"),
    [
        ("", 0, "Dependencies: no known advisory"),
        (
            "error: error sending request for url",
            2,
            "Dependencies: not looked at, as the list of advisories (api.osv.dev) cannot",
        ),
        ("thing 1.0 has 1 known vulnerability", 1, "thing 1.0 has 1 known vulnerability"),
    ],
)
def test_check_looks_for_advisories_or_reports_that_it_could_not(
    checkout: Path, machine: Path, found: str, code: int, told: str
) -> None:
    uv = (machine / "uv").read_text(encoding="utf-8")
    looks = f'audit) [ "$2" = --help ] || {{ echo "{found}"; exit {code}; }} ;;\n            --version)'
    (machine / "uv").write_text(uv.replace("--version)", looks, 1), encoding="utf-8")
    assert told in run(checkout / "run", "check", path=machine).stderr


@pytest.mark.slow
def test_check_reports_that_uv_cannot_look_for_advisories(checkout: Path, machine: Path) -> None:
    uv = (machine / "uv").read_text(encoding="utf-8")
    (machine / "uv").write_text(
        uv.replace("--version)", "audit) exit 2 ;;\n            --version)", 1), encoding="utf-8"
    )
    assert (
        "Dependencies: not looked at, as no uv is here that can" in run(checkout / "run", "check", path=machine).stderr
    )
