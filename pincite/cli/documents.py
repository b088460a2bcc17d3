"""Documents: add, list, show, read, remove."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import clean, print_json, print_plain, remark
from pincite.errors import Invalid, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from pincite.core.documents.document import AddedAll, Document, Progress
    from pincite.engine.app import AsyncPincite

FolderOption = Annotated[
    str | None, typer.Option("--folder", metavar="F", help="Only this folder of the library and those below it.")
]
TagOption = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="T", help="Only documents with this tag; with all of them where repeated."),
]
IdArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="A document's id, or its first characters (at least 4); may begin with a dash.",
        show_default=False,
    ),
]
SHORTEST = 4
"""Characters of an id that may stand for the whole."""


def register(app: typer.Typer) -> None:
    """Make these the commands of `app`."""
    command(app, "add")(add)
    command(app, "list")(list_documents)
    command(app, "show", ids=True)(show)
    command(app, "read", ids=True)(read)
    command(app, "remove", ids=True)(remove)


async def add(
    door: CommandContext,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders with all below them, addresses of pages and sitemaps."),
    ],
    folder: Annotated[str, typer.Option("--folder", metavar="F", help="Folder of the library, such as hr/rules.")] = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep the documents in step with these folders until Ctrl-C.")
    ] = False,
    keep_removed: Annotated[
        bool, typer.Option("--keep-removed", help="While watching, keep documents whose files are removed.")
    ] = False,
) -> None:
    """Add files, folders and web pages, and wait until they can be asked about.

    A file that is known by its name gets a new version; one that has not changed is left alone. Exit code 1 if a
    file failed. With --watch, files that change are updated, removed ones removed, renamed ones moved. Pages are fetched
    only where web.enabled says so.
    """
    from pincite.cli.view.progress import failed, print_added, progress
    from pincite.cli.view.screen import Screen
    from pincite.parsers import file_types
    from pincite.serialize import answers as shapes

    if "" in paths:
        raise Invalid("a path is empty; name files or folders to add")
    if watch:
        from pincite.cli.watch import keep_in_step

        return await keep_in_step(door, paths, folder, keep_removed=keep_removed)
    if keep_removed:
        raise Invalid("--keep-removed goes with --watch")
    async with door.open() as pincite:
        with progress(quiet=door.json) as report:
            result = await _taken_in(pincite, paths, folder, report)
    if door.json:
        added = [{"outcome": one.outcome, "document": shapes.document(one.document)} for one in result.added]
        refused = [{"path": path, "code": error.code, "message": str(error)} for path, error in result.refused]
        print_json({"added": added, "refused": refused, "skipped": result.skipped})
    else:
        print_added(Screen(), result, sorted(file_types()))
    if result.refused or failed(result):
        raise typer.Exit(1)
    return None


async def _taken_in(
    pincite: "AsyncPincite", paths: list[str], folder: str, report: "Callable[[Progress], None]"
) -> "AddedAll":
    """What became of the files, and of the pages whose addresses stand among them."""
    from pincite.core.documents.document import AddedAll
    from pincite.engine.connectors.web_import import WebImporter, is_address
    from pincite.ingest.accept.collect import collect

    urls = [path for path in paths if is_address(path)]
    result = await pincite.add_all(collect([Path(path) for path in paths if path not in urls], folder), report=report)
    if not urls:
        return result
    pages = await WebImporter(pincite).add_all(urls, folder, report)
    if pages.skipped:
        remark(f"{pages.skipped:,} pages of sitemaps passed over: of other hosts, or beyond web.max_pages")
    return AddedAll(result.added + pages.added, result.refused + pages.refused, result.skipped)


async def list_documents(
    door: CommandContext,
    folder: FolderOption = None,
    tag: TagOption = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only those made with other settings; renew them with: pincite reindex.")
    ] = False,
) -> None:
    """List the documents by folder and name."""
    from pincite.cli.view.library import print_documents
    from pincite.cli.view.screen import Screen
    from pincite.core.documents.document import Listing
    from pincite.serialize import answers as shapes

    path = folder.strip("/") if folder else None
    async with door.open() as pincite:
        documents = await pincite.documents.all(Listing(folder=path, tags=tuple(tag or ()), stale=stale or None))
    if door.json:
        print_json(shapes.page([shapes.document(document) for document in documents]))
    else:
        print_documents(Screen(), documents, path)


async def show(
    door: CommandContext,
    document_id: IdArgument,
    chunks: Annotated[bool, typer.Option("--chunks", help="Also every passage it was cut into.")] = False,
) -> None:
    """Show a document and its versions."""
    from pincite.cli.view.library import print_chunks, print_document
    from pincite.cli.view.screen import Screen
    from pincite.serialize import answers as shapes

    async with door.open() as pincite:
        document = await find(pincite, document_id)
        versions = await pincite.documents.list_versions(document.id)
        served, passages = await pincite.documents.chunks(document.id) if chunks else ("", ())
    if door.json:
        shape = {"document": shapes.document(document), "versions": [shapes.version(version) for version in versions]}
        told = {"chunks": [shapes.chunk(document.id, served, chunk) for chunk in passages]} if chunks else {}
        print_json(shape | told)
        return
    screen = Screen()
    print_document(screen, document, versions)
    print_chunks(screen, passages)


async def read(
    door: CommandContext,
    document_id: IdArgument,
    section: Annotated[
        str | None, typer.Option("--section", metavar="S", help="Only the part under a heading.")
    ] = None,
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A-B", help="Only these lines: 10-20, 10- or 7.")
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", metavar="V", help="Another version than the newest.")
    ] = None,
    page: Annotated[
        str | None, typer.Option("--page", metavar="N", help="Only a page or slide by its number, a sheet by its name.")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="REF", help="Only what stands there: B7, 'table 2, row 3'.")
    ] = None,
) -> None:
    """Print a document's text, or a part of it.

    It is the text that citations point into; what could steer a terminal is printed as an escape.
    """
    from pincite.core.documents.document import ReadRequest
    from pincite.serialize import answers as shapes

    if page is not None or at is not None:
        if section is not None or lines is not None:
            raise Invalid("--page and --at do not go with --section or --lines")
        return await _read_at(door, document_id, version, page, at)
    start, end = parse_lines(lines) if lines is not None else (None, None)
    async with door.open() as pincite:
        document = await find(pincite, document_id)
        passage = await pincite.documents.read(
            ReadRequest(document.id, section=section, start_line=start, end_line=end, version=version)
        )
    if door.json:
        print_json(shapes.passage(passage))
    else:
        print_plain(clean(passage.content))
    return None


async def _read_at(
    door: CommandContext, document_id: str, version: str | None, page: str | None, at: str | None
) -> None:
    """Print what stands at a place of the file."""
    from pincite.engine.reader.page_locator import Target
    from pincite.serialize import pages as shapes

    number = int(page) if page and page.isascii() and page.isdecimal() else None
    aim = Target(page=number, name=page if number is None else None, ref=at)
    async with door.open() as pincite:
        document = await find(pincite, document_id)
        found = await pincite.documents.locator.text_at(await pincite.scope(), document.id, aim, version)
    if door.json:
        print_json(shapes.spot(found))
    else:
        print_plain(clean(found.text.strip("\n")))


async def remove(
    door: CommandContext,
    document_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Documents' ids, or their first characters (at least 4).")
    ],
) -> None:
    """Remove documents with everything made of them.

    Every id is looked up before anything is removed.
    """
    from pincite.cli.view.library import print_receipt
    from pincite.cli.view.screen import Screen
    from pincite.serialize import answers as shapes

    screen, receipts = Screen(), []
    async with door.open() as pincite:
        documents = {document.id: document for wanted in document_ids for document in [await find(pincite, wanted)]}
        for document in documents.values():
            receipts.append(await pincite.remove(document.id))
            if not door.json:
                print_receipt(screen, document.name, receipts[-1])
    if door.json:
        print_json([shapes.receipt(receipt) for receipt in receipts])
    if not all(receipt.verified for receipt in receipts):
        raise typer.Exit(1)


async def find(pincite: "AsyncPincite", wanted: str) -> "Document":
    """The document with this id, or the only one whose id begins like this."""
    try:
        return await pincite.get(wanted)
    except NotFound:
        documents = {document.id: document for document in await pincite.documents.all()}
    return documents[pick(wanted, {key: document.name for key, document in documents.items()}, "document", "list")]


def pick(wanted: str, known: "dict[str, str]", what: str, listing: str) -> str:
    """The one id that is meant; `known` says what each id is called."""
    if wanted in known:
        return wanted
    if len(wanted) < SHORTEST:
        raise Invalid(
            f"'{wanted}' is too short for an id; give at least its first {SHORTEST} characters", code="ambiguous"
        )
    fitting = [key for key in known if key.startswith(wanted)]
    if len(fitting) > 1:
        shown = ", ".join(f"{key} ({known[key]})" for key in fitting[:5])
        raise Invalid(f"'{wanted}' could be {shown}; give more of the id", code="ambiguous")
    if not fitting:
        raise NotFound(f"there is no {what} '{wanted}'; see: pincite {listing}")
    return fitting[0]


def parse_lines(text: str) -> tuple[int | None, int | None]:
    """`10-20` → (10, 20), `10-` → (10, None), `-20` → (None, 20), `7` → (7, 7)."""
    found = re.fullmatch(r"\s*(\d{0,9})\s*([-–]?)\s*(\d{0,9})\s*", text)
    if not found or not (found[1] or found[3]) or (found[3] and not found[2]):
        raise Invalid(f"--lines takes A-B, such as 10-20; '{text}' is not that")
    first = int(found[1]) if found[1] else None
    return (first, int(found[3]) if found[3] else None) if found[2] else (first, first)
