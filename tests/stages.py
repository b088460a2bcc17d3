"""The stages of a question, read from the code: whatever `run.step`, `run.attempt` or `run.finish` runs."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "pincite"
RUNNERS = {"step": 0, "finish": 0, "attempt": 1}
"""Methods of `Run` that run a stage, and which argument the stage is."""


def names_in(node: ast.AST) -> set[str]:
    """The names that an argument may stand for: one, or those of a conditional expression."""
    if isinstance(node, ast.IfExp):
        return names_in(node.body) | names_in(node.orelse)
    return {node.id} if isinstance(node, ast.Name) else set()


def run_by(tree: ast.AST) -> Iterator[str]:
    """The names of the stages that a piece of code runs."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNNERS):
            continue
        place = RUNNERS[node.func.attr]
        if isinstance(node.func.value, ast.Name) and node.func.value.id in ("run", "self") and len(node.args) > place:
            yield from names_in(node.args[place])


@cache
def stages() -> dict[str, str]:
    """Every stage by name, with the module that defines it."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    run = {name for tree in trees.values() for name in run_by(tree)}
    return {
        node.name: path.relative_to(ROOT).as_posix()
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.AsyncFunctionDef) and node.name in run
    }
