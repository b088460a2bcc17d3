"""Questions: ask for an answer, search for passages."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command, one_of
from pincite.cli.documents import FolderOption, TagOption
from pincite.cli.output import print_json, remark
from pincite.errors import Invalid

if TYPE_CHECKING:
    from datetime import datetime

    from pincite.core.query.pictures import Picture
    from pincite.core.query.question import Filters, Mode, Question
    from pincite.engine.app import AsyncPincite

TopKOption = Annotated[
    int | None,
    typer.Option("--top-k", metavar="N", min=1, max=1000, help="How many passages; 10 unless set otherwise."),
]
StrategyOption = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="S",
        help="hybrid, dense_only (meaning), lexical_only (words), fusion, two_stage or hierarchical; see docs/strategies.md.",
    ),
]

LevelsOption = Annotated[
    str | None,
    typer.Option("--levels", metavar="L", help="What to find: 0 documents, 1 sections, 2 passages; several by comma."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="P", help="Settings of this name for this question; see: pincite settings diff P."
    ),
]

LevelOption = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="L",
        help="How much to do for the answer: basic, standard, enhanced or maximum; see docs/levels.md.",
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="M",
        help="chat (from the documents), general (without them), agent (looked up step by step) or vision (with --image).",
    ),
]
ImageOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--image", metavar="FILE", help="A picture that belongs to the question: PNG, JPEG, WebP or GIF; repeatable."
    ),
]
NoCacheOption = Annotated[
    bool, typer.Option("--no-cache", help="Answer anew, even if the same was answered a moment ago.")
]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="T", help="From the versions of that time: 2026-05-01T12:00, or a date's end."),
]


def register(app: typer.Typer) -> None:
    """Make these the commands of `app`."""
    command(app, "ask")(ask)
    command(app, "search")(search)


async def ask(
    door: CommandContext,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in quotes.")],
    folder: FolderOption = None,
    tag: TagOption = None,
    top_k: TopKOption = None,
    strategy: StrategyOption = None,
    level: LevelOption = None,
    profile: ProfileOption = None,
    as_of: AsOfOption = None,
    documents: Annotated[
        bool | None,
        typer.Option(
            "--documents/--no-documents",
            help="Look into the documents (--no-documents: do not), whatever rag.mode says.",
        ),
    ] = None,
    mode: ModeOption = None,
    image: ImageOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Answer a question and cite the passages it stands on."""
    from pincite.cli.view.answer import print_answer
    from pincite.cli.view.screen import Screen, waiting
    from pincite.core.query.question import EffortLevel
    from pincite.serialize import answers as shapes

    asked = replace(
        _question(question, filters_of(folder, tag, as_of), top_k, strategy),
        profile=profile,
        retrieve=documents,
        fresh=no_cache,
        intelligence_level=one_of(EffortLevel, level, "level"),
        mode=mode_of(mode, image),
        pictures=_pictures(image),
    )
    with notes_in_the_result():
        async with door.open() as pincite:
            with waiting("reading …"):
                answer = await pincite.ask(asked)
            missing = (
                await _what_is_missing(pincite)
                if not answer.sources and documents is not False and asked.mode != "general"
                else ""
            )
    if door.json:
        print_json(shapes.answer(answer))
    else:
        print_answer(Screen(), answer)
    if missing:
        remark(missing)


async def _what_is_missing(pincite: "AsyncPincite") -> str:
    """Why there may be nothing to find: no documents at all, or some that are not done yet."""
    from pincite.core.documents.document import Listing

    if not (await pincite.documents.page(Listing(limit=1)))[0]:
        return f"there are no documents in {pincite.settings.data} yet; add some with: pincite add PATH"
    if (await pincite.documents.page(Listing(limit=1, status="pending")))[0]:
        return "some documents are still waiting to be indexed; add them again to finish, or let pincite serve do it"
    return ""


async def search(
    door: CommandContext,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in quotes.")],
    folder: FolderOption = None,
    tag: TagOption = None,
    top_k: TopKOption = None,
    strategy: StrategyOption = None,
    profile: ProfileOption = None,
    levels: LevelsOption = None,
    as_of: AsOfOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how every score came about.")] = False,
) -> None:
    """Find passages by meaning and by words."""
    from pincite.cli.view.hits import print_explained, print_hits
    from pincite.cli.view.screen import Screen, waiting
    from pincite.serialize import answers as shapes

    asked = replace(
        _question(query, filters_of(folder, tag, as_of), top_k, strategy), profile=profile, levels=_levels(levels)
    )
    with notes_in_the_result():
        async with door.open() as pincite:
            with waiting("searching …"):
                result = await pincite.search(asked)
    if door.json:
        print_json(shapes.search_result(result, explain=explain))
    elif explain:
        print_explained(Screen(), result, query)
    else:
        print_hits(Screen(), result, query)


def _question(text: str, filters: "Filters", top_k: int | None, strategy: str | None) -> "Question":
    from pincite.core.query.question import Question, Strategy

    return Question(text, filters=filters, top_k=top_k, strategy=one_of(Strategy, strategy, "strategy"))


def mode_of(mode: str | None, images: list[Path] | None = None) -> "Mode":
    """The mode that is named; pictures alone mean `vision`."""
    from pincite.core.query.question import Mode

    return one_of(Mode, mode, "mode") or ("vision" if images else "chat")


def _pictures(paths: list[Path] | None) -> "tuple[Picture, ...]":
    """The pictures in these files."""
    from pincite.core.query.pictures import MAX_PICTURE_BYTES, MAX_PICTURES, picture_from_bytes

    if len(paths or ()) > MAX_PICTURES:
        raise Invalid(f"{len(paths or ())} images are too many; name at most {MAX_PICTURES}")
    pictures = []
    for path in paths or ():
        try:
            with path.open("rb") as file:
                data = file.read(MAX_PICTURE_BYTES + 1)
        except OSError as error:
            raise Invalid(f"{path} cannot be read: {error.strerror}") from None
        pictures.append(picture_from_bytes(data, str(path)))
    return tuple(pictures)


def filters_of(folder: str | None, tags: list[str] | None, as_of: str | None) -> "Filters":
    """The part of the library that options name, as it was then."""
    from pincite.core.query.question import Filters

    return Filters(folder.strip("/") if folder else None, as_of=moment_of(as_of), tags=tuple(tags or ()))


def moment_of(text: str | None) -> "datetime | None":
    """The time that an option names."""
    from pincite.core.times import parse_time

    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise Invalid(f"--as-of {error}") from None


def _levels(text: str | None) -> tuple[int, ...] | None:
    """The levels that are wanted, from what stands between commas."""
    if text is None:
        return None
    wanted = {part.strip() for part in text.split(",")}
    if not wanted <= {"0", "1", "2"}:
        raise Invalid("--levels takes 0 (documents), 1 (sections) and 2 (passages), with commas between them")
    return tuple(sorted(map(int, wanted)))


@contextmanager
def notes_in_the_result() -> Iterator[None]:
    """What was left out stands in the result; the log need not say it too."""
    log = logging.getLogger("pincite.core.run")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
