"""Changes in a watched folder, in a terminal."""

from pincite.cli.output import one_line
from pincite.cli.view.screen import Screen, styled
from pincite.engine.connectors.folder_sync import Changes
from pincite.text.units import count

OUTCOME_NAMES = {"new": "added", "new_version": "updated", "again": "indexed again"}


def print_changes(screen: Screen, changes: Changes) -> None:
    """Print a line per changed file; if nothing changed, the number of unchanged files."""
    for path, one in changes.added.items():
        if one.document.error:
            _print_line(screen, "failed", "red", f"{path}: {one.document.error.message}")
        elif one.outcome in OUTCOME_NAMES:
            _print_line(screen, OUTCOME_NAMES[one.outcome], "green", path)
    for path, old in changes.moved.items():
        _print_line(screen, "moved", "cyan", f"{old} → {path}")
    for path, receipt in changes.removed.items():
        removed = count(receipt.chunks, "passage") if receipt.verified else "something is left; see pincite doctor"
        _print_line(screen, "removed", "yellow", f"{path} ({removed})")
    for path, error in changes.refused.items():
        _print_line(screen, "failed", "red", f"{path}: {error}")
    for path in changes.kept:
        _print_line(screen, "kept", "dim", f"{path}, whose file was removed")
    unchanged = sum(one.outcome == "unchanged" and not one.document.error for one in changes.added.values())
    if unchanged and not changes.any:
        screen.print_line(styled(f"{unchanged:,} unchanged", "dim"))


def _print_line(screen: Screen, word: str, colour: str, text: str) -> None:
    screen.print_line(styled(f"{word:<13}", colour), one_line(text))
