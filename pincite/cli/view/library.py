"""Documents in a terminal: the list, one document with versions and chunks, receipts."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.text import Text

from pincite.cli.view.hits import make_snippet
from pincite.cli.view.screen import Screen, join_text, make_table, shorten, styled
from pincite.core.documents.document import NO_HEADINGS, Access, Chunk, Document, Receipt, Status, Version
from pincite.text.units import count, size

STATUS_STYLES = {Status.COMPLETED: "green", Status.ERROR: "red", Status.PENDING: "yellow", Status.PROCESSING: "yellow"}
MIN_ID_CHARS = 8
"""Minimum characters of an id on a narrow screen; more if needed to keep ids distinct."""
WIDE_SCREEN_COLUMNS = 80
"""Screen width from which ids are printed in full."""


def print_documents(
    screen: Screen, documents: Sequence[Document], folder: str | None, *, stale_only: bool = False, tagged: bool = False
) -> None:
    """Print a table with a row per document; `stale_only` and `tagged` say that others may be left out."""
    if not documents:
        where = f" in the folder '{folder}'" if folder else ""
        if stale_only or tagged:
            screen.print_line(f"There are no {'stale ' * stale_only}documents{' with these tags' * tagged}{where}.")
        else:
            screen.print_line(f"There are no documents{where}; add some with: pincite add PATH")
        return
    length = _id_length([document.id for document in documents], screen.columns)
    statuses = [_format_status(document) for document in documents]
    others = length + max(status.cell_len for status in statuses) + len("passages") + len("2024-01-01") + 4 * 2
    table = make_table("id", "name", "status", ">passages", "version")
    for document, status in zip(documents, statuses, strict=True):
        table.add_row(
            document.id[:length],
            _format_path(document, max(8, screen.columns - others)),
            status,
            f"{document.chunks:,}",
            format_version_day(document.version),
        )
    screen.print_table(table, drop_first=("version", "passages"))
    stale = sum(document.stale for document in documents)
    summary = [count(len(documents), "document"), count(sum(d.chunks for d in documents), "passage")]
    if stale:
        summary.append(f"{stale:,} stale: indexed with other settings; update them with: pincite reindex")
    screen.print_wrapped(styled(", ".join(summary), "dim"))


def _id_length(ids: Sequence[str], width: int) -> int:
    """The number of characters that keep ids distinct; all of them on a wide screen."""
    longest = max(map(len, ids))
    if width >= WIDE_SCREEN_COLUMNS:
        return longest
    return next((n for n in range(MIN_ID_CHARS, longest) if len({one[:n] for one in ids}) == len(ids)), longest)


def _format_path(document: Document, width: int) -> Text:
    """Format folder and name; the folder is shortened first."""
    if not document.folder:
        return Text(shorten(document.name, width))
    room = width - len(document.name) - 1
    folder = shorten(document.folder, max(room, width // 3))
    return join_text((f"{folder}/", "dim"), Text(shorten(document.name, width - len(folder) - 1)))


def _format_status(document: Document) -> Text:
    word: str = document.status
    if document.status is Status.PROCESSING:
        word = f"{document.progress:.0%} {document.stage or ''}".rstrip()
    return join_text((word, STATUS_STYLES[document.status]), (" stale" if document.stale else "", "yellow"))


def format_version_day(version: str) -> str:
    """The day of a version id: `20240131T…` → `2024-01-31`."""
    return f"{version[:4]}-{version[4:6]}-{version[6:8]}"


def format_time(time: datetime) -> str:
    """Format a time in UTC."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def format_readers(access: Access | None) -> str:
    """Who may read a document or a folder besides its owner; None means that a folder has no access of its own."""
    if access is None:
        return "inherits the access of the folder above"
    if access.everyone:
        return "everyone may read it"
    named = [
        *access.users,
        *(f"group {name}" for name in access.groups),
        *(f"every {name}" for name in access.roles),
    ]
    return f"{', '.join(named)} may read it" if named else "nobody else may read it"


def print_document(screen: Screen, document: Document, versions: Sequence[Version]) -> None:
    """Print the metadata of a document and its versions."""
    screen.print_wrapped(styled(document.title, "bold"))
    facts: dict[str, str | Text] = {
        "id": document.id,
        "name": document.name,
        "folder": document.folder,
        "status": _format_status(document),
        "author": document.author or "",
        "about": document.description or "",
        "tags": ", ".join(document.tags),
        "from": document.source_uri or "",
        "links": "  ".join(document.source_urls),
        "type": f"{document.mime}, {size(document.bytes)}",
        "passages": f"{document.chunks:,}",
        "added": format_time(document.created_at),
        "access": format_readers(document.access),
    }
    if document.error:
        facts["problem"] = styled(f"{document.error.message} ({document.error.code})", "red")
    if document.notes:
        facts["note"] = styled("; ".join(document.notes), "yellow")
    for name, fact in facts.items():
        if fact:
            screen.print_wrapped(
                fact if isinstance(fact, Text) else styled(fact), indent=12, lead=styled(f"  {name}", "dim")
            )
    screen.print_line()
    print_versions(screen, versions)


def print_versions(screen: Screen, versions: Sequence[Version]) -> None:
    """Print a row per version; answers use the served one."""
    wide = screen.columns >= WIDE_SCREEN_COLUMNS
    table = make_table("version", "status", ">size", "served", *(("sha-256",) if wide else ()))
    for version in versions:
        served = styled("yes" if version.served else "", "green")
        status = styled(version.status, STATUS_STYLES[version.status])
        table.add_row(version.id, status, size(version.bytes), served, *((version.checksum[:16],) if wide else ()))
    screen.print_table(table, drop_first=("size",))


def print_chunks(screen: Screen, chunks: Sequence[Chunk]) -> None:
    """Print every chunk: its place, kind and beginning."""
    for chunk in chunks:
        lines = f"lines {chunk.start_line}–{chunk.end_line}"
        where = chunk.place or (f"page {chunk.page}" if chunk.page else lines)
        kind = f"level {chunk.level}, {chunk.content_type}, {chunk.language}, {count(chunk.tokens, 'token')}"
        headings = [part for part in chunk.heading_path if part != NO_HEADINGS]
        screen.print_line()
        screen.print_wrapped(
            join_text((" › ".join(headings), "bold"), (f"{'  ' if headings else ''}{where}; {kind}", "dim")),
            indent=6,
            lead=styled(f"{chunk.ordinal:>4}", "bold cyan"),
        )
        screen.print_wrapped(Text(make_snippet(chunk.text, chunk.heading_path)), indent=6)


def print_receipt(screen: Screen, name: str, receipt: Receipt) -> None:
    """Print the receipt of a removed document."""
    parts = [
        count(receipt.versions, "version"),
        count(receipt.chunks, "passage"),
        count(receipt.vectors, "vector"),
        count(receipt.postings, "posting"),
    ]
    check = "verified: nothing is left" if receipt.verified else "verified: something is left; run the command again"
    screen.print_wrapped(
        join_text(f"removed {name}: {', '.join(parts)}; ", (check, "green" if receipt.verified else "red")),
    )
