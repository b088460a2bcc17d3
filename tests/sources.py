"""The modules of the package as text and as syntax trees, each read and parsed once in a test process."""

import ast
import gc
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "pincite"
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    """Return the text of a module."""
    return path.read_text(encoding="utf-8")


@cache
def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a text."""
    gc.disable()  # what is cleared away meanwhile may parse something itself, which Python 3.11 cannot bear
    try:
        return ast.parse(text)
    finally:
        gc.enable()


@cache
def walked(text: str) -> tuple[ast.AST, ...]:
    """Return every node of the syntax tree of a text."""
    return tuple(ast.walk(parsed(text)))


def forget() -> None:
    """Drop the trees, which are many objects, when the tests of a file are done with them."""
    walked.cache_clear(), parsed.cache_clear()
