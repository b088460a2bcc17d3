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
    if found := _modules().get(text):
        return found[0]  # type: ignore[return-value]
    gc.disable()  # what is cleared away meanwhile may parse something itself, which Python 3.11 cannot bear
    try:
        return ast.parse(text)
    finally:
        gc.enable()


def walked(text: str) -> tuple[ast.AST, ...]:
    """Return every node of the syntax tree of a text."""
    return _modules().get(text) or tuple(ast.walk(parsed(text)))


@cache
def _modules() -> dict[str, tuple[ast.AST, ...]]:
    """The nodes of all modules by their text, made in one go: collecting garbage between them takes twice as long."""
    gc.disable()
    try:
        found = {text: tuple(ast.walk(ast.parse(text))) for text in map(text_of, MODULES)}
        gc.freeze()
    finally:
        gc.enable()
    return found


def forget() -> None:
    """Drop the trees, which are many objects, when the tests of a file are done with them."""
    _modules.cache_clear(), parsed.cache_clear()
