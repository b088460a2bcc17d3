"""The entry point loads only what a command needs."""

import subprocess
import sys

import pytest

from pincite import __version__


def test_the_version_is_told_without_loading_any_command() -> None:
    script = (
        "import sys; sys.argv = ['pincite', '--version']; from pincite.__main__ import main; assert main() == 0;"
        "print(sorted({'asyncio', 'typer', 'pincite.cli', 'pincite.config'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"pincite {__version__}\n", "[]\n")


@pytest.mark.slow
def test_a_search_loads_no_web_framework_no_parser_library_and_no_model_before_it_is_needed() -> None:
    needless = {
        "fastapi",
        "starlette",
        "uvicorn",
        "mcp",
        "pypdf",
        "pypdfium2",
        "lxml",
        "PIL",
        "onnxruntime",
        "openpyxl",
    }
    script = (
        "import sys, pincite.cli, pincite.cli.ask, pincite.engine.app;"
        f"print(sorted({needless!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == "[]\n"
