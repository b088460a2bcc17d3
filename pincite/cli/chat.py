"""The command chat: a conversation in the terminal."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.ask import (
    AsOfOption,
    ChatModeOption,
    DocumentsOption,
    LevelOption,
    NoCacheOption,
    ProfileOption,
    parse_filters,
    parse_mode,
    silence_degradation_log,
)
from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.documents import FolderOption, TagOption, match_id
from pincite.cli.line_input import read_lines
from pincite.cli.output import one_line, print_error, print_json, print_note

if TYPE_CHECKING:
    from pincite.core.accounts.conversations import Session
    from pincite.core.query.answer import Answer
    from pincite.core.query.question import Question
    from pincite.core.run import Event
    from pincite.engine.app import AsyncPincite

MAX_LISTED_SESSIONS = 20
"""Sessions that `/sessions` lists."""
MAX_SEARCHED_SESSIONS = 200
"""Recent sessions searched for an id prefix."""

SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID",
        help="Continue this session, by its id or its first characters (at least 4); `last` is the most recent one.",
    ),
]
NewOption = Annotated[bool, typer.Option("--new", help="Start a new session, as by default.")]


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
    mode: ChatModeOption = None,
    documents: DocumentsOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Ask questions about your documents in a conversation; each answer shows its sources.

    If the input is not a terminal, each line is one question.
    """
    from pincite.core.query.question import EffortLevel, Question
    from pincite.errors import Invalid

    if new and session is not None:
        raise Invalid("--new starts a session and --session continues one; give only one of them")
    if mode == "vision":
        raise Invalid("chat does not accept images; use: pincite ask --image FILE")
    question = Question(
        "",
        filters=parse_filters(folder, tag, as_of),
        profile=profile,
        fresh=no_cache,
        intelligence_level=check_choice(EffortLevel, level, "level"),
        mode=parse_mode(mode),
        retrieve=documents,
    )
    with silence_degradation_log():
        async with context.open() as pincite:
            conversation = _Conversation(
                pincite, question, context.json, interactive=sys.stdin.isatty() and not context.json
            )
            await conversation.begin(session)
            with _ctrl_c_stops_answer(conversation):
                async for line in read_lines(interactive=conversation.interactive):
                    if not await conversation.handle_line(line):
                        break
    if conversation.failed and not conversation.interactive:
        raise typer.Exit(1)


@dataclass(slots=True)
class _Conversation:
    """One conversation: its session, options and output format."""

    pincite: "AsyncPincite"
    question: "Question"
    json: bool
    interactive: bool
    last: "Answer | None" = None
    failed: bool = False
    asking: "asyncio.Task[Answer] | None" = None
    stopped: bool = False

    async def begin(self, session_id: str | None) -> None:
        """Continue the given session, or start without one; print the welcome."""
        from pincite.cli.view.chat import print_welcome
        from pincite.cli.view.screen import Screen

        session = await self._find_session(session_id) if session_id is not None else None
        self.question = replace(self.question, session_id=session.id if session else None)
        if self.interactive:
            print_welcome(Screen(), session)

    async def _find_session(self, session_id: str) -> "Session":
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
            raise NotFound("there is no session to continue; leave out --session to start one")
        return found[0]

    def interrupt(self) -> None:
        """Stop the answer in progress; without one, print how to quit."""
        if self.asking is None:
            print_note("\n(Ctrl-D quits)")
            return
        self.stopped = True
        self.asking.cancel()

    async def handle_line(self, line: str) -> bool:
        """Run a command or ask a question; return whether the conversation continues."""
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
                Screen().print_line("started a new conversation")
            case ["/sources"] if self.last:
                print_sources(Screen(), self.last)
            case ["/sources"]:
                Screen().print_line("there is no answer yet; ask a question first")
            case ["/sessions"]:
                found, _ = await self.pincite.questions.sessions.list(
                    await self.pincite.scope(), limit=MAX_LISTED_SESSIONS
                )
                print_sessions(Screen(), found, self.question.session_id)
            case [word] if word.startswith("/") and word[1:].isalpha():
                print_note(f"there is no command {word}; list commands with /help")
            case _:
                await self._ask(line)
        return True

    async def _ask(self, text: str) -> None:
        """Answer a question; an error or a stop ends this answer, not the conversation."""
        from pincite.errors import PinciteError

        self.asking = asyncio.create_task(self._answer(text))
        try:
            self.last = await self.asking
        except PinciteError as error:
            self.failed = True
            await self._drop_session_if_empty()
            print_error(str(error), error.code, as_json=self.json)
        except asyncio.CancelledError:
            if not self.stopped:
                raise
            print_note("\n(stopped)")
        finally:
            self.asking, self.stopped = None, False

    async def _drop_session_if_empty(self) -> None:
        """Remove a session without turns; also start a new one if the session was removed elsewhere."""
        from pincite.errors import NotFound, PinciteError

        session_id = self.question.session_id
        if session_id is None:
            return
        try:
            scope = await self.pincite.scope()
            removed = await self.pincite.questions.sessions.remove_if_empty(scope, session_id)
            if not removed:
                await self.pincite.questions.sessions.recent(scope, session_id, 0)
        except NotFound:
            removed = True
        except PinciteError:  # the database is down; the question's own error is reported anyway
            return
        if removed:
            self.question = replace(self.question, session_id=None)

    async def _answer(self, text: str) -> "Answer":
        from pincite.cli.view.answer import print_answer, print_evidence
        from pincite.cli.view.chat import StreamingText
        from pincite.cli.view.numbers import renumber
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
        text_view, written = StreamingText(screen), False
        with waiting("reading …") as stop_waiting:

            def show(event: "Event") -> None:
                nonlocal written
                if isinstance(event, Token):
                    if not written:
                        stop_waiting()
                        screen.print_line()
                    written = True
                    text_view.write(event.text)

            answer = await self.pincite.ask(asked, listen=show)
        replaced = written and bool(answer.metadata.replaced_model)
        if written:
            text_view.end()
        answer = renumber(answer, None if replaced else text_view.numbers)
        (print_evidence if written and not replaced else print_answer)(screen, answer)
        return answer


@contextmanager
def _ctrl_c_stops_answer(conversation: _Conversation) -> Iterator[None]:
    """Make Ctrl-C stop the answer instead of the program, on systems that support it."""
    if not conversation.interactive or sys.platform == "win32":
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, conversation.interrupt)
    try:
        yield
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
