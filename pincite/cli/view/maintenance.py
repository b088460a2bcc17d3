"""Results of backup, restore and purge in a terminal."""

from pincite.cli.view.screen import Screen, styled
from pincite.core.operations import Backup, BackupManifest, IntegrityReport, PurgeResult
from pincite.text.units import count, size

MAX_LISTED_PROBLEMS = 20
"""Maximum number of problems to list."""


def print_purged(screen: Screen, done: PurgeResult) -> None:
    """Print what purge rewrote, and what it cannot reach."""
    shrunk = f"{size(done.bytes_before)} before, {size(done.bytes_after)} now"
    screen.print_wrapped(styled(f"{count(done.tables, 'table')} rewritten: {shrunk}"))
    if done.log:
        screen.print_wrapped(styled("The log was renewed: no file of the data folder contains removed data.", "green"))
    else:
        screen.print_wrapped(
            styled(
                "The log, replicas and backups of your database server may contain removed data until you renew them.",
                "yellow",
            )
        )


def print_backup(screen: Screen, done: Backup) -> None:
    """Print the contents of a backup, and the files that were missing."""
    screen.print_wrapped(styled(f"{count(done.documents, 'document')} in {done.path}, {size(done.bytes)}"))
    _print_problems(screen, [f"{version}: its file is missing" for version in done.missing])


def print_restored(screen: Screen, manifest: BackupManifest, found: IntegrityReport) -> None:
    """Print what was restored, and the result of its verification."""
    screen.print_wrapped(styled(f"{count(found.documents, 'document')} restored as of {manifest.made_at}"))
    _print_problems(screen, found.wrong)
    if not found.wrong:
        checked = f"{count(found.files, 'file')}, every passage, {count(found.searched, 'search', 'searches')}"
        screen.print_wrapped(styled(f"verified: {checked}; no problems", "green"))


def _print_problems(screen: Screen, lines: "list[str] | tuple[str, ...]") -> None:
    for line in lines[:MAX_LISTED_PROBLEMS]:
        screen.print_wrapped(styled(line, "red"))
    if len(lines) > MAX_LISTED_PROBLEMS:
        screen.print_wrapped(styled(f"and {len(lines) - MAX_LISTED_PROBLEMS} more", "red"))
