"""Commands for questions: ask, search."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.documents import FolderOption, TagOption
from pincite.cli.output import print_json, print_note
from pincite.errors import Invalid

if TYPE_CHECKING:
    from datetime import datetime

    from pincite.core.query.pictures import Picture
    from pincite.core.query.question import Filters, Mode, Question
    from pincite.engine.app import AsyncPincite

TopKOption = Annotated[
    int | None,
    typer.Option("--top-k", metavar="N", min=1, max=1000, help="Number of passages; default: rag.top_k (10)."),
]
StrategyOption = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="S",
        help="auto (by the kind of question), hybrid, dense_only (embeddings), lexical_only (BM25), fusion, two_stage "
        "or hierarchical; "
        "see docs/strategies.md.",
    ),
]

LevelsOption = Annotated[
    str | None,
    typer.Option(
        "--levels", metavar="L", help="Levels of results: 0 documents, 1 sections, 2 passages; separate by commas."
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", metavar="P", help="Profile of settings for this question; see: pincite settings diff P."),
]

LevelOption = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="L",
        help="Effort for the answer: basic, standard, enhanced or maximum; see docs/levels.md.",
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="M",
        help="chat (from the documents), general (without them), agent (several searches, step by step) "
        "or vision (with --image).",
    ),
]
ChatModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="M",
        help="chat (from the documents), general (without them) or agent (several searches, step by step).",
    ),
]
DocumentsOption = Annotated[
    bool | None,
    typer.Option(
        "--documents/--no-documents",
        help="Search the documents, or do not, whatever rag.mode says.",
    ),
]
ImageOption = Annotated[
    list[Path] | None,
    typer.Option("--image", metavar="FILE", help="An image of the question: PNG, JPEG, WebP or GIF; repeatable."),
]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Do not use cached answers.")]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="T",
        help="Use the versions of that time: 2026-05-01T12:00, or a date for the end of that day.",
    ),
]


def register(app: typer.Typer) -> None:
    """Register these commands with `app`."""
    command(app, "ask")(ask)
    command(app, "search")(search)


async def ask(
    context: CommandContext,
    words: Annotated[list[str], typer.Argument(metavar="QUESTION", help="The question, best in quotes.")],
    folder: FolderOption = None,
    tag: TagOption = None,
    top_k: TopKOption = None,
    strategy: StrategyOption = None,
    level: LevelOption = None,
    profile: ProfileOption = None,
    as_of: AsOfOption = None,
    documents: DocumentsOption = None,
    mode: ModeOption = None,
    image: ImageOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Answer a question with citations of its passages."""
    from pincite.cli.view.answer import print_answer
    from pincite.cli.view.screen import Screen, waiting
    from pincite.core.query.question import EffortLevel
    from pincite.serialize.answers import answer_json

    asked = replace(
        _make_question(" ".join(words), parse_filters(folder, tag, as_of), top_k, strategy),
        profile=profile,
        retrieve=documents,
        fresh=no_cache,
        intelligence_level=check_choice(EffortLevel, level, "level"),
        mode=parse_mode(mode, image),
        pictures=_read_pictures(image),
    )
    with silence_degradation_log():
        async with context.open() as pincite:
            with waiting("reading …"):
                answer = await pincite.ask(asked)
            reason = (
                await _why_nothing_found(pincite)
                if not answer.sources and documents is not False and asked.mode != "general"
                else ""
            )
    if context.json:
        print_json(answer_json(answer))
    else:
        print_answer(Screen(), answer)
    if reason:
        print_note(reason)


async def _why_nothing_found(pincite: "AsyncPincite") -> str:
    """Why a question has no sources: no documents, or documents that are not indexed yet; else empty."""
    from pincite.core.documents.document import Listing

    if not (await pincite.documents.page(Listing(limit=1)))[0]:
        return f"there are no documents in {pincite.settings.data} yet; add some with: pincite add PATH"
    if (await pincite.documents.page(Listing(limit=1, status="pending")))[0]:
        return "some documents are not indexed yet; add them again, or run: pincite serve"
    return ""


async def search(
    context: CommandContext,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="The query, best in quotes.")],
    folder: FolderOption = None,
    tag: TagOption = None,
    top_k: TopKOption = None,
    strategy: StrategyOption = None,
    profile: ProfileOption = None,
    levels: LevelsOption = None,
    as_of: AsOfOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score was computed.")] = False,
) -> None:
    """Find passages by embeddings and by words."""
    from pincite.cli.view.hits import print_explained, print_hits
    from pincite.cli.view.screen import Screen, waiting
    from pincite.serialize.search import search_json

    query = " ".join(words)
    asked = replace(
        _make_question(query, parse_filters(folder, tag, as_of), top_k, strategy),
        profile=profile,
        levels=_parse_levels(levels),
    )
    with silence_degradation_log():
        async with context.open() as pincite:
            with waiting("searching …"):
                result = await pincite.search(asked)
    if context.json:
        print_json(search_json(result, explain=explain))
    elif explain:
        print_explained(Screen(), result, query)
    else:
        print_hits(Screen(), result, query)


def _make_question(text: str, filters: "Filters", top_k: int | None, strategy: str | None) -> "Question":
    from pincite.core.query.question import Question, RequestedStrategy

    return Question(text, filters=filters, top_k=top_k, strategy=check_choice(RequestedStrategy, strategy, "strategy"))


def parse_mode(mode: str | None, images: list[Path] | None = None) -> "Mode":
    """The mode of an option; by default `vision` with images, else `chat`."""
    from pincite.core.query.question import Mode

    return check_choice(Mode, mode, "mode") or ("vision" if images else "chat")


def _read_pictures(paths: list[Path] | None) -> "tuple[Picture, ...]":
    """Read the images of these files."""
    from pincite.core.query.pictures import MAX_PICTURE_BYTES, MAX_PICTURES, picture_from_bytes

    if len(paths or ()) > MAX_PICTURES:
        raise Invalid(f"{len(paths or ())} images are too many; the limit is {MAX_PICTURES}")
    pictures = []
    for path in paths or ():
        try:
            with path.open("rb") as file:
                data = file.read(MAX_PICTURE_BYTES + 1)
        except OSError as error:
            raise Invalid(f"{path} cannot be read: {error.strerror}") from None
        pictures.append(picture_from_bytes(data, str(path)))
    return tuple(pictures)


def parse_filters(folder: str | None, tags: list[str] | None, as_of: str | None) -> "Filters":
    """The filters of the options --folder, --tag and --as-of."""
    from pincite.core.query.question import Filters

    return Filters(folder.strip("/") if folder else None, as_of=parse_as_of(as_of), tags=tuple(tags or ()))


def parse_as_of(text: str | None) -> "datetime | None":
    """Parse the time of --as-of."""
    from pincite.core.times import parse_time

    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise Invalid(f"--as-of {error}") from None


def _parse_levels(text: str | None) -> tuple[int, ...] | None:
    """Parse the comma-separated levels of --levels."""
    if text is None:
        return None
    wanted = {part.strip() for part in text.split(",")}
    if not wanted <= {"0", "1", "2"}:
        raise Invalid("--levels takes 0 (documents), 1 (sections) and 2 (passages), separated by commas")
    return tuple(sorted(map(int, wanted)))


@contextmanager
def silence_degradation_log() -> Iterator[None]:
    """Suppress log warnings about degraded stages, as the result lists these stages."""
    log = logging.getLogger("pincite.core.run")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
