"""Commands for documents: add, list, show, read, remove."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import clean, print_json, print_plain
from pincite.errors import Invalid, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from pincite.core.documents.document import AddedAll, Document, Progress
    from pincite.engine.app import AsyncPincite

FolderOption = Annotated[
    str | None, typer.Option("--folder", metavar="F", help="Only this folder of the library and its subfolders.")
]
TagOption = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="T", help="Only documents with this tag; repeat for several tags, all required."),
]
IdArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="A document's id, its first characters (at least 4), its name, or its path such as hr/leave.md.",
        show_default=False,
    ),
]
MIN_ID_PREFIX_CHARS = 4
"""Minimum length of an id prefix that may stand for the id."""


def register(app: typer.Typer) -> None:
    """Register these commands with `app`."""
    command(app, "add")(add)
    command(app, "list")(list_documents)
    command(app, "show", ids=True)(show)
    command(app, "read", ids=True)(read)
    command(app, "tag", ids=True)(tag_document)
    command(app, "remove", ids=True)(remove)


async def add(
    context: CommandContext,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Files, folders with their subfolders, URLs of pages and sitemaps."),
    ],
    folder: Annotated[str, typer.Option("--folder", metavar="F", help="Folder of the library, such as hr/rules.")] = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Watch these folders and update the documents until Ctrl-C.")
    ] = False,
    keep_removed: Annotated[
        bool, typer.Option("--keep-removed", help="While watching, keep documents whose files are removed.")
    ] = False,
) -> None:
    """Add files, folders and web pages, and wait until they are indexed.

    A file with a known name becomes a new version; an unchanged file is skipped. Exit code 1 if a file failed. With
    --watch, changed files are updated, removed files removed and renamed files moved. Web pages are fetched only if
    web.enabled is on.
    """
    from pincite.cli.view.progress import failed_documents, print_added, progress
    from pincite.cli.view.screen import Screen
    from pincite.serialize.documents import document_json

    if "" in paths:
        raise Invalid("a path is empty; give files or folders to add")
    if watch:
        from pincite.cli.watch import watch_folders

        return await watch_folders(context, paths, folder, keep_removed=keep_removed)
    if keep_removed:
        raise Invalid("--keep-removed requires --watch")
    async with context.open() as pincite:
        with progress(quiet=context.json) as report:
            result = await _add_files_and_pages(pincite, paths, folder, report)
            await pincite.admin.wait_until_built(report=report)
    if context.json:
        added = [{"outcome": one.outcome, "document": document_json(one.document)} for one in result.added]
        refused = [{"path": path, "code": error.code, "message": str(error)} for path, error in result.refused]
        skipped = [{"path": path, "reason": reason} for path, reason in result.skipped]
        print_json({"added": added, "refused": refused, "skipped": skipped})
    else:
        print_added(Screen(), result)
    if result.refused or failed_documents(result):
        raise typer.Exit(1)
    return None


async def _add_files_and_pages(
    pincite: "AsyncPincite", paths: list[str], folder: str, report: "Callable[[Progress], None]"
) -> "AddedAll":
    """Add the files and the web pages of these paths."""
    from pincite.core.documents.document import AddedAll
    from pincite.engine.connectors.web_import import WebImporter, is_address
    from pincite.ingest.accept.collect import collect

    urls = [path for path in paths if is_address(path)]
    result = await pincite.add_all(collect([Path(path) for path in paths if path not in urls], folder), report=report)
    if not urls:
        return result
    pages = await WebImporter(pincite).add_all(urls, folder, report)
    return AddedAll(result.added + pages.added, result.refused + pages.refused, result.skipped + pages.skipped)


async def list_documents(
    context: CommandContext,
    folder: FolderOption = None,
    tag: TagOption = None,
    stale: Annotated[
        bool,
        typer.Option("--stale", help="Only documents indexed with other settings; update them with: pincite reindex."),
    ] = False,
) -> None:
    """List documents by folder and name."""
    from pincite.cli.view.library import print_documents
    from pincite.cli.view.screen import Screen
    from pincite.core.documents.document import Listing
    from pincite.serialize.documents import document_json
    from pincite.serialize.primitives import page_json

    path = folder.strip("/") if folder else None
    async with context.open() as pincite:
        documents = await pincite.documents.all(Listing(folder=path, tags=tuple(tag or ()), stale=stale or None))
    if context.json:
        print_json(page_json([document_json(document) for document in documents]))
    else:
        print_documents(Screen(), documents, path, stale_only=stale, tagged=bool(tag))


async def show(
    context: CommandContext,
    document_id: IdArgument,
    chunks: Annotated[bool, typer.Option("--chunks", help="Also print its chunks.")] = False,
) -> None:
    """Show a document and its versions."""
    from pincite.cli.view.library import print_chunks, print_document
    from pincite.cli.view.screen import Screen
    from pincite.serialize.documents import chunk_json, document_json, version_json

    async with context.open() as pincite:
        document = await find_document(pincite, document_id)
        versions = await pincite.documents.list_versions(document.id)
        served, passages = await pincite.documents.chunks(document.id) if chunks else (None, ())
    if context.json:
        fields = {"document": document_json(document), "versions": [version_json(version) for version in versions]}
        chunk_fields = {"chunks": [chunk_json(served, chunk) for chunk in passages if served]} if chunks else {}
        print_json(fields | chunk_fields)
        return
    screen = Screen()
    print_document(screen, document, versions)
    print_chunks(screen, passages)


async def read(
    context: CommandContext,
    document_id: IdArgument,
    section: Annotated[
        str | None, typer.Option("--section", metavar="S", help="Only the section under this heading.")
    ] = None,
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A-B", help="Only these lines: 10-20, 10- or 7.")
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", metavar="V", help="Another version than the newest one.")
    ] = None,
    page: Annotated[
        str | None, typer.Option("--page", metavar="N", help="Only this page or slide (a number) or sheet (a name).")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="REF", help="Only the text at this place: B7, 'table 2, row 3'.")
    ] = None,
) -> None:
    """Print a document's text, or a part of it.

    Citations refer to this text. Terminal control characters are printed as escapes.
    """
    from pincite.core.documents.document import ReadRequest
    from pincite.serialize.documents import passage_json

    if page is not None or at is not None:
        if section is not None or lines is not None:
            raise Invalid("--page and --at cannot be combined with --section or --lines")
        return await _read_at(context, document_id, version, page, at)
    start, end = parse_lines(lines) if lines is not None else (None, None)
    async with context.open() as pincite:
        document = await find_document(pincite, document_id)
        passage = await pincite.documents.read(
            ReadRequest(document.id, section=section, start_line=start, end_line=end, version=version)
        )
    if context.json:
        print_json(passage_json(passage))
    else:
        print_plain(clean(passage.content))
    return None


async def _read_at(
    context: CommandContext, document_id: str, version: str | None, page: str | None, at: str | None
) -> None:
    """Print the text at a place of the file."""
    from pincite.engine.reader.page_locator import Target
    from pincite.serialize.pages import location_json

    number = int(page) if page and page.isascii() and page.isdecimal() else None
    target = Target(page=number, name=page if number is None else None, ref=at)
    async with context.open() as pincite:
        document = await find_document(pincite, document_id)
        found = await pincite.documents.locator.text_at(await pincite.scope(), document.id, target, version)
    if context.json:
        print_json(location_json(found))
    else:
        print_plain(clean(found.text.strip("\n")))


async def tag_document(
    context: CommandContext,
    document_id: IdArgument,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="T", help="Add this tag; repeat for several tags.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", metavar="T", help="Remove this tag; repeat for several tags.")
    ] = None,
) -> None:
    """Show the tags of a document, add some or remove some."""
    from pincite.core.documents.document import DocumentChange
    from pincite.serialize.documents import document_json

    if "" in (*(add or ()), *(remove or ())):
        raise Invalid("a tag is empty; give a word such as contract")
    async with context.open() as pincite:
        document = await find_document(pincite, document_id)
        tags = tuple(dict.fromkeys(tag for tag in (*document.tags, *(add or ())) if tag not in (remove or ())))
        if tags != document.tags:
            document = await pincite.documents.update(document.id, DocumentChange(tags=tags))
    if context.json:
        print_json(document_json(document))
    else:
        print_plain(f"{document.name}: {', '.join(map(clean, document.tags)) or 'no tags'}")


async def remove(
    context: CommandContext,
    document_ids: Annotated[
        list[str], typer.Argument(metavar="ID", help="Ids of documents, their first characters, names or paths.")
    ],
) -> None:
    """Remove documents and everything derived from them.

    If one of them is unknown or ambiguous, nothing is removed.
    """
    from pincite.cli.view.library import print_receipt
    from pincite.cli.view.screen import Screen
    from pincite.serialize.documents import receipt_json

    screen, receipts = Screen(), []
    async with context.open() as pincite:
        documents = {
            document.id: document for wanted in document_ids for document in [await find_document(pincite, wanted)]
        }
        for document in documents.values():
            receipts.append(await pincite.remove(document.id))
            if not context.json:
                print_receipt(screen, document.name, receipts[-1])
    if context.json:
        print_json([receipt_json(receipt) for receipt in receipts])
    if not all(receipt.verified for receipt in receipts):
        raise typer.Exit(1)


async def find_document(pincite: "AsyncPincite", wanted: str) -> "Document":
    """The document with this id, else the only one with this path, this name or this id prefix."""
    try:
        return await pincite.get(wanted)
    except NotFound:
        documents = {document.id: document for document in await pincite.documents.all()}
    paths = {key: document.path for key, document in documents.items()}
    path = wanted.strip("/")
    named = [key for key in documents if paths[key] == path] or [
        key for key, document in documents.items() if document.name == path or paths[key].endswith(f"/{path}")
    ]
    if len(named) > 1:
        shown = ", ".join(f"{paths[key]} ({key})" for key in named[:5])
        raise Invalid(f"'{wanted}' matches {shown}; give the path or the id", code="ambiguous")
    return documents[named[0] if named else match_id(wanted, paths, "document", "list")]


def match_id(wanted: str, known: "dict[str, str]", what: str, listing: str) -> str:
    """The id with this prefix; `known` maps ids to names. Raise `Invalid` if the prefix is ambiguous."""
    if wanted in known:
        return wanted
    if len(wanted) < MIN_ID_PREFIX_CHARS:
        raise Invalid(
            f"'{wanted}' is too short for an id; give at least {MIN_ID_PREFIX_CHARS} characters",
            code="ambiguous",
        )
    matches = [key for key in known if key.startswith(wanted)]
    if len(matches) > 1:
        shown = ", ".join(f"{key} ({known[key]})" for key in matches[:5])
        raise Invalid(f"'{wanted}' matches {shown}; give more characters of the id", code="ambiguous")
    if not matches:
        raise NotFound(f"there is no {what} '{wanted}'; see: pincite {listing}")
    return matches[0]


def parse_lines(text: str) -> tuple[int | None, int | None]:
    """Parse `10-20` → (10, 20), `10-` → (10, None), `-20` → (None, 20), `7` → (7, 7)."""
    found = re.fullmatch(r"\s*(\d{0,9})\s*([-–]?)\s*(\d{0,9})\s*", text)
    if not found or not (found[1] or found[3]) or (found[3] and not found[2]):
        raise Invalid(f"--lines takes A-B, such as 10-20, not '{text}'")
    first = int(found[1]) if found[1] else None
    return (first, int(found[3]) if found[3] else None) if found[2] else (first, first)
