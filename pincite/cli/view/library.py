"""Documents in a terminal: the list, one of them with its versions and passages, receipts."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.text import Text

from pincite.cli.view.hits import snippet
from pincite.cli.view.screen import Screen, grid, joined, shorten, styled
from pincite.core.documents.document import Chunk, Document, Receipt, Status, Version
from pincite.text.counts import count, size

COLOURS = {Status.COMPLETED: "green", Status.ERROR: "red", Status.PENDING: "yellow", Status.PROCESSING: "yellow"}
SHORT_ID = 8
"""Characters of an id on a narrow screen; more where two documents would look the same."""
WIDE = 80
"""Columns from which on ids are shown whole."""


def print_documents(screen: Screen, documents: Sequence[Document], folder: str | None) -> None:
    """Print a table, a line for each document."""
    if not documents:
        where = f" in the folder '{folder}'" if folder else ""
        screen.say(f"There are no documents{where}; add some with: pincite add PATH")
        return
    length = _id_length([document.id for document in documents], screen.columns)
    statuses = [_status(document) for document in documents]
    others = length + max(status.cell_len for status in statuses) + len("passages") + len("2024-01-01") + 4 * 2
    table = grid("id", "name", "status", ">passages", "version")
    for document, status in zip(documents, statuses, strict=True):
        table.add_row(
            document.id[:length], _path(document, max(8, screen.columns - others)), status, f"{document.chunks:,}",
            day(document.version),
        )  # fmt: skip
    screen.table(table, give_way=("version", "passages"))
    stale = sum(document.stale for document in documents)
    summary = [count(len(documents), "document"), count(sum(d.chunks for d in documents), "passage")]
    if stale:
        summary.append(f"{stale:,} stale: made with other settings; renew them with: pincite reindex")
    screen.flowing(styled(", ".join(summary), "dim"))


def _id_length(ids: Sequence[str], width: int) -> int:
    """As many characters as tell the ids apart; all of them where there is room."""
    longest = max(map(len, ids))
    if width >= WIDE:
        return longest
    return next((n for n in range(SHORT_ID, longest) if len({one[:n] for one in ids}) == len(ids)), longest)


def _path(document: Document, width: int) -> Text:
    """Folder and name, the folder giving way first."""
    if not document.folder:
        return Text(shorten(document.name, width))
    room = width - len(document.name) - 1
    folder = shorten(document.folder, max(room, width // 3))
    return joined((f"{folder}/", "dim"), Text(shorten(document.name, width - len(folder) - 1)))


def _status(document: Document) -> Text:
    word: str = document.status
    if document.status is Status.PROCESSING:
        word = f"{document.progress:.0%} {document.stage or ''}".rstrip()
    return joined((word, COLOURS[document.status]), (" stale" if document.stale else "", "yellow"))


def day(version: str) -> str:
    """The day of a version, `20240131T…` → `2024-01-31`."""
    return f"{version[:4]}-{version[4:6]}-{version[6:8]}"


def moment(time: datetime) -> str:
    """A point in time, in UTC."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def print_document(screen: Screen, document: Document, versions: Sequence[Version]) -> None:
    """Print all that is known about one document."""
    screen.flowing(styled(document.title, "bold"))
    facts: dict[str, str | Text] = {
        "id": document.id,
        "name": document.name,
        "folder": document.folder,
        "status": _status(document),
        "author": document.author or "",
        "about": document.description or "",
        "tags": ", ".join(document.tags),
        "from": document.source_uri or "",
        "links": "  ".join(document.source_urls),
        "type": f"{document.mime}, {size(document.bytes)}",
        "passages": f"{document.chunks:,}",
        "added": moment(document.created_at),
    }
    if document.error:
        facts["problem"] = styled(f"{document.error.message} ({document.error.code})", "red")
    if document.notes:
        facts["note"] = styled("; ".join(document.notes), "yellow")
    for name, fact in facts.items():
        if fact:
            screen.flowing(fact if isinstance(fact, Text) else styled(fact), indent=12, lead=styled(f"  {name}", "dim"))
    screen.say()
    print_versions(screen, versions)


def print_versions(screen: Screen, versions: Sequence[Version]) -> None:
    """Print a line for each version; answers come from the one that is served."""
    wide = screen.columns >= WIDE
    table = grid("version", "status", ">size", "served", *(("sha-256",) if wide else ()))
    for version in versions:
        served = styled("yes" if version.served else "", "green")
        status = styled(version.status, COLOURS[version.status])
        table.add_row(version.id, status, size(version.bytes), served, *((version.checksum[:16],) if wide else ()))
    screen.table(table, give_way=("size",))


def print_chunks(screen: Screen, chunks: Sequence[Chunk]) -> None:
    """Print every passage: where it stands, what it is, how it begins."""
    for chunk in chunks:
        lines = f"lines {chunk.start_line}–{chunk.end_line}"
        where = chunk.place or (f"page {chunk.page}" if chunk.page else lines)
        kind = f"level {chunk.level}, {chunk.content_type}, {chunk.language}, {count(chunk.tokens, 'token')}"
        screen.say()
        screen.flowing(
            joined((" › ".join(chunk.heading_path), "bold"), (f"  {where}; {kind}", "dim")),
            indent=6,
            lead=styled(f"{chunk.ordinal:>4}", "bold cyan"),
        )
        screen.flowing(Text(snippet(chunk.text, chunk.heading_path)), indent=6)


def print_receipt(screen: Screen, name: str, receipt: Receipt) -> None:
    """Say in words what was removed."""
    parts = [
        count(receipt.versions, "version"), count(receipt.chunks, "passage"), count(receipt.vectors, "vector"),
        count(receipt.postings, "word"),
    ]  # fmt: skip
    check = "checked again: nothing left" if receipt.verified else "checked again: something is left; run it once more"
    screen.flowing(
        joined(f"removed {name}: {', '.join(parts)}; ", (check, "green" if receipt.verified else "red")),
    )
