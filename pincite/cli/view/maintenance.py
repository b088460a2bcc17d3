"""What was backed up, restored and purged, in a terminal."""

from pincite.cli.view.screen import Screen, styled
from pincite.core.operations import Backup, BackupManifest, IntegrityReport, PurgeResult
from pincite.text.counts import count, size

MAX_LISTED_PROBLEMS = 20
"""Things that are wrong of which each is told."""


def print_purged(screen: Screen, done: PurgeResult) -> None:
    """Say what was written anew, and what could not be."""
    shrunk = f"{size(done.bytes_before)} before, {size(done.bytes_after)} now"
    screen.print_wrapped(styled(f"{count(done.tables, 'table')} written anew: {shrunk}"))
    if done.log:
        screen.print_wrapped(styled("The log was renewed: what was removed is in no file of the data folder.", "green"))
    else:
        screen.print_wrapped(
            styled(
                "The server is yours: its log, replicas and backups may hold what was removed until they are renewed there.",
                "yellow",
            )
        )


def print_backup(screen: Screen, done: Backup) -> None:
    """Say what is in the file, and which files were not there to be copied."""
    screen.print_wrapped(styled(f"{count(done.documents, 'document')} in {done.path}, {size(done.bytes)}"))
    _print_problems(screen, [f"{version}: its file is missing" for version in done.missing])


def print_restored(screen: Screen, manifest: BackupManifest, found: IntegrityReport) -> None:
    """Say what came back, and whether all of it is well."""
    screen.print_wrapped(styled(f"{count(found.documents, 'document')} restored as of {manifest.made_at}"))
    _print_problems(screen, found.wrong)
    if not found.wrong:
        looked = f"{count(found.files, 'file')}, every passage, {count(found.searched, 'search', 'searches')}"
        screen.print_wrapped(styled(f"checked: {looked}; all is well", "green"))


def _print_problems(screen: Screen, lines: "list[str] | tuple[str, ...]") -> None:
    for line in lines[:MAX_LISTED_PROBLEMS]:
        screen.print_wrapped(styled(line, "red"))
    if len(lines) > MAX_LISTED_PROBLEMS:
        screen.print_wrapped(styled(f"and {len(lines) - MAX_LISTED_PROBLEMS} more", "red"))
