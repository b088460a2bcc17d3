"""Finds the stages of a question in the code: the functions that `run.step`, `run.attempt` or `run.finish` run."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.sources import MODULES, PACKAGE, parsed, text_of, walked

RUNNERS = {"step": 0, "finish": 0, "attempt": 1}
"""Methods of `Run` that run a stage, and the position of the stage among their arguments."""


def names_in(node: ast.AST) -> set[str]:
    """Return the names of an argument: one, or both of a conditional expression."""
    if isinstance(node, ast.IfExp):
        return names_in(node.body) | names_in(node.orelse)
    return {node.id} if isinstance(node, ast.Name) else set()


def run_by(text: str) -> Iterator[str]:
    """Return the names of the stages that the text of a module runs."""
    for node in walked(text):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNNERS):
            continue
        place = RUNNERS[node.func.attr]
        if isinstance(node.func.value, ast.Name) and node.func.value.id in ("run", "self") and len(node.args) > place:
            yield from names_in(node.args[place])


@cache
def stages() -> dict[str, str]:
    """Return every stage by name, with the module that defines it."""
    texts = {path: text_of(path) for path in MODULES}
    run = {
        name
        for text in texts.values()
        if ".step(" in text or ".finish(" in text or ".attempt(" in text
        for name in run_by(text)
    }
    return {
        node.name: path.relative_to(PACKAGE).as_posix()
        for path, text in texts.items()
        if any(f"async def {name}(" in text for name in run)
        for node in parsed(text).body
        if isinstance(node, ast.AsyncFunctionDef) and node.name in run
    }
