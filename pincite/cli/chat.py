"""A conversation in the terminal: ask, read on while it is written, ask on."""

import asyncio
import io
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.ask import (
    AsOfOption,
    LevelOption,
    ModeOption,
    NoCacheOption,
    ProfileOption,
    parse_filters,
    parse_mode,
    silence_degradation_log,
)
from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.documents import FolderOption, TagOption, match_id
from pincite.cli.output import one_line, print_error, print_json, print_note

if TYPE_CHECKING:
    from pincite.core.accounts.conversations import Session
    from pincite.core.query.answer import Answer
    from pincite.core.query.question import Question
    from pincite.core.run import Event
    from pincite.engine.app import AsyncPincite

MAX_LISTED_SESSIONS = 20
"""Sessions that `/sessions` shows."""
MAX_SEARCHED_SESSIONS = 200
"""Sessions looked through for the first characters of an id."""
INPUT_PROMPT = "\n› "

SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID",
        help="Go on with this conversation, by its id or its first characters (at least 4); `last` is the one used last.",
    ),
]
NewOption = Annotated[bool, typer.Option("--new", help="Begin another conversation, which is what happens anyway.")]


def register(app: typer.Typer) -> None:
    """Register this command with `app`."""
    command(app, "chat")(chat)


async def chat(
    context: CommandContext,
    session: SessionOption = None,
    new: NewOption = False,
    folder: FolderOption = None,
    tag: TagOption = None,
    level: LevelOption = None,
    profile: ProfileOption = None,
    as_of: AsOfOption = None,
    mode: ModeOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Talk about your documents; each answer shows its sources.

    Reads one question a line where its input is not a terminal.
    """
    from pincite.core.query.question import EffortLevel, Question
    from pincite.errors import Invalid

    if new and session is not None:
        raise Invalid("--new begins a conversation and --session goes on with one; leave one of them out")
    if mode == "vision":
        raise Invalid("a conversation here has no pictures; ask with: pincite ask --image FILE")
    question = Question(
        "",
        filters=parse_filters(folder, tag, as_of),
        profile=profile,
        fresh=no_cache,
        intelligence_level=check_choice(EffortLevel, level, "level"),
        mode=parse_mode(mode),
    )
    with silence_degradation_log():
        async with context.open() as pincite:
            talk = _Conversation(pincite, question, context.json, interactive=sys.stdin.isatty() and not context.json)
            await talk.begin(session)
            with _ctrl_c_stops_answer(talk):
                async for line in read_lines(interactive=talk.interactive):
                    if not await talk.take(line):
                        break
    if talk.failed and not talk.interactive:
        raise typer.Exit(1)


@dataclass(slots=True)
class _Conversation:
    """One conversation and how it is shown."""

    pincite: "AsyncPincite"
    question: "Question"
    json: bool
    interactive: bool
    last: "Answer | None" = None
    failed: bool = False
    asking: "asyncio.Task[Answer] | None" = None
    stopped: bool = False

    async def begin(self, session_id: str | None) -> None:
        """Go on with a conversation where one is named."""
        from pincite.cli.view.chat import print_welcome
        from pincite.cli.view.screen import Screen

        session = await self._named(session_id) if session_id is not None else None
        self.question = replace(self.question, session_id=session.id if session else None)
        if self.interactive:
            print_welcome(Screen(), session)

    async def _named(self, session_id: str) -> "Session":
        from pincite.errors import NotFound

        scope = await self.pincite.scope()
        found, _ = await self.pincite.questions.sessions.list(
            scope, limit=1 if session_id == "last" else MAX_SEARCHED_SESSIONS
        )
        if session_id != "last":
            try:
                return await self.pincite.questions.sessions.get(scope, session_id)
            except NotFound:
                known = {session.id: one_line(session.title) for session in found}
                return await self.pincite.questions.sessions.get(
                    scope, match_id(session_id, known, "session", "chat, then /sessions")
                )
        if not found:
            raise NotFound("there is no conversation to go on with; leave --session out to begin one")
        return found[0]

    def interrupt(self) -> None:
        """Stop the answer that is being written; where none is, say how to end."""
        if self.asking is None:
            print_note("\n(Ctrl-D ends)")
            return
        self.stopped = True
        self.asking.cancel()

    async def take(self, line: str) -> bool:
        """Do what a line asks for; whether to go on."""
        from pincite.cli.view.chat import HELP, print_sessions, print_sources
        from pincite.cli.view.screen import Screen

        match line.split():
            case []:
                pass
            case ["/quit" | "/exit"]:
                return False
            case ["/help"]:
                Screen().print_line(HELP)
            case ["/new"]:
                self.question, self.last = replace(self.question, session_id=None), None
                Screen().print_line("a new conversation")
            case ["/sources"] if self.last:
                print_sources(Screen(), self.last)
            case ["/sources"]:
                Screen().print_line("nothing was asked yet")
            case ["/sessions"]:
                found, _ = await self.pincite.questions.sessions.list(
                    await self.pincite.scope(), limit=MAX_LISTED_SESSIONS
                )
                print_sessions(Screen(), found, self.question.session_id)
            case [word] if word.startswith("/") and word[1:].isalpha():
                print_note(f"there is no {word}; /help tells what there is")
            case _:
                await self._ask(line)
        return True

    async def _ask(self, text: str) -> None:
        """Answer; what fails, or is stopped, ends this answer and not the conversation."""
        from pincite.errors import PinciteError

        self.asking = asyncio.create_task(self._answer(text))
        try:
            self.last = await self.asking
        except PinciteError as error:
            self.failed = True
            await self._forget_if_empty()
            print_error(str(error), error.code, as_json=self.json)
        except asyncio.CancelledError:
            if not self.stopped:
                raise
            print_note("\n(stopped)")
        finally:
            self.asking, self.stopped = None, False

    async def _forget_if_empty(self) -> None:
        """A conversation in which nothing could be asked is none; one that was removed elsewhere is begun anew."""
        from pincite.errors import NotFound, PinciteError

        session_id = self.question.session_id
        if session_id is None:
            return
        try:
            scope = await self.pincite.scope()
            gone = await self.pincite.questions.sessions.remove_if_empty(scope, session_id)
            if not gone:
                await self.pincite.questions.sessions.recent(scope, session_id, 0)
        except NotFound:
            gone = True
        except PinciteError:  # the database is gone; that the question failed is told anyway
            return
        if gone:
            self.question = replace(self.question, session_id=None)

    async def _answer(self, text: str) -> "Answer":
        from pincite.cli.view.answer import print_answer, print_evidence
        from pincite.cli.view.chat import StreamingText
        from pincite.cli.view.screen import Screen, waiting
        from pincite.core.run import Token
        from pincite.serialize.answers import answer_json

        if self.question.session_id is None:
            session = await self.pincite.questions.sessions.create(await self.pincite.scope())
            self.question = replace(self.question, session_id=session.id)
        asked, screen = replace(self.question, text=text), Screen()
        if self.json or not screen.is_terminal:
            answer = await self.pincite.ask(asked)
            if self.json:
                print_json(answer_json(answer), indent=None)
            else:
                print_answer(screen, answer)
            return answer
        flow, written = StreamingText(screen), False
        with waiting("reading …") as stop_waiting:

            def show(event: "Event") -> None:
                nonlocal written
                if isinstance(event, Token):
                    if not written:
                        stop_waiting()
                        screen.print_line()
                    written = True
                    flow.write(event.text)

            answer = await self.pincite.ask(asked, listen=show)
        if written:
            flow.end()
            print_evidence(screen, answer)
        else:
            print_answer(screen, answer)
        return answer


async def read_lines(*, interactive: bool) -> AsyncIterator[str]:
    """What is typed, or comes through the pipe, until that ends."""
    if interactive:
        import readline  # noqa: F401  # lines can be edited, and brought back

    read = _read_typed_line if interactive else _piped_line_reader()
    while line := await _read_in_thread(read):
        yield line.encode(errors="replace").decode().strip()


def _read_typed_line() -> str:
    try:
        return input(INPUT_PROMPT) + "\n"
    except EOFError:
        return ""


def _piped_line_reader() -> Callable[[], str]:
    """Reads a line of what comes in; unbuffered, for a buffer that is waited on cannot be closed at the end."""
    try:
        file = io.FileIO(sys.stdin.fileno(), closefd=False)
    except (OSError, ValueError):  # not a file: somebody put something else in its place
        return sys.stdin.readline
    return lambda: file.readline().decode(sys.stdin.encoding, "replace")


async def _read_in_thread(read: Callable[[], str]) -> str:
    """Read in a thread that nobody waits for when the program ends: a line may never come."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def work() -> None:
        try:
            found, error = read(), None
        except Exception as raised:
            found, error = "", raised
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell, found, error)

    def tell(found: str, error: Exception | None) -> None:
        if line.done():
            return
        line.set_exception(error) if error else line.set_result(found)

    threading.Thread(target=work, daemon=True).start()
    return await line


@contextmanager
def _ctrl_c_stops_answer(talk: _Conversation) -> Iterator[None]:
    """Let Ctrl-C stop the answer instead of the program, where the system can."""
    if not talk.interactive or sys.platform == "win32":
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, talk.interrupt)
    try:
        yield
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
