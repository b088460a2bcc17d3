"""Finds the stages of a question in the code: the functions that `run.step`, `run.attempt` or `run.finish` run."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "pincite"
RUNNERS = {"step": 0, "finish": 0, "attempt": 1}
"""Methods of `Run` that run a stage, and the position of the stage among their arguments."""


def names_in(node: ast.AST) -> set[str]:
    """Return the names of an argument: one, or both of a conditional expression."""
    if isinstance(node, ast.IfExp):
        return names_in(node.body) | names_in(node.orelse)
    return {node.id} if isinstance(node, ast.Name) else set()


def run_by(tree: ast.AST) -> Iterator[str]:
    """Return the names of the stages that a syntax tree runs."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNNERS):
            continue
        place = RUNNERS[node.func.attr]
        if isinstance(node.func.value, ast.Name) and node.func.value.id in ("run", "self") and len(node.args) > place:
            yield from names_in(node.args[place])


@cache
def stages() -> dict[str, str]:
    """Return every stage by name, with the module that defines it."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    run = {name for tree in trees.values() for name in run_by(tree)}
    return {
        node.name: path.relative_to(ROOT).as_posix()
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.AsyncFunctionDef) and node.name in run
    }
