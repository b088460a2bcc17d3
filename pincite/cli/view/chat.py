"""Conversations in a terminal: streamed text, the sources of an answer, the list of sessions."""

import re
from collections.abc import Sequence

from rich.cells import cell_len

from pincite.cli.output import clean, one_line
from pincite.cli.view.answer import MARGIN_COLUMNS, format_heading, format_place, source_path
from pincite.cli.view.numbers import SOURCE_MARK
from pincite.cli.view.screen import MAX_TEXT_COLUMNS, MIN_TEXT_COLUMNS, Screen, join_text, make_table, styled
from pincite.core.accounts.conversations import Session
from pincite.core.query.answer import Answer
from pincite.text.units import count

_SHORT_MARK = re.compile(r"\[\d+\]")
_PARTS = re.compile(r"\n|[^\S\n]+|[^\s\[]*\[\d+\]|\S+")
_OTHER_COLUMNS = 52
"""Columns of a session's id, time and turns in the list."""
_FENCE = re.compile(r"\s{0,3}(```|~~~)")

HELP = """\
/sources    list all sources of the last answer
/sessions   list the sessions
/new        start a new session
/quit       quit, like Ctrl-D
Ctrl-C stops the answer in progress."""


class StreamingText:
    """Prints streamed text, wrapped between words; code and tables keep their lines.

    `numbers` are the printed numbers of the sources cited so far, in the order of their citation.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._width = max(MIN_TEXT_COLUMNS, min(screen.width, MAX_TEXT_COLUMNS))
        self._column = 0
        self._space = ""
        self._line = ""
        self._fenced = False
        self.numbers: dict[int, int] = {}

    def write(self, text: str) -> None:
        """Append text."""
        for part in _PARTS.findall(SOURCE_MARK.sub(self._number, text.expandtabs(4))):
            if part == "\n":
                self._break()
            elif part.isspace():
                self._space += part
            else:
                self._word(part)

    def _number(self, mark: re.Match[str]) -> str:
        return f"[{self.numbers.setdefault(int(mark[1]), len(self.numbers) + 1)}]"

    def end(self) -> None:
        """End the last line."""
        if self._column:
            self._break()

    def _word(self, word: str) -> None:
        self._line += self._space + word
        wraps = not self._fenced and not self._line.lstrip().startswith(("|", "```", "~~~"))
        if wraps and self._column > MARGIN_COLUMNS and self._column + len(self._space) + cell_len(word) > self._width:
            self._put("\n")
            self._column, self._space = 0, ""
        if not self._column:
            self._put(" " * MARGIN_COLUMNS)
            self._column = MARGIN_COLUMNS
        self._put(self._space)
        self._put(word, "bold cyan" if _SHORT_MARK.fullmatch(word) else "")
        self._column += len(self._space) + cell_len(clean(word))
        self._space = ""

    def _break(self) -> None:
        self._fenced = self._fenced != bool(_FENCE.match(self._line))
        self._put("\n")
        self._column, self._space, self._line = 0, "", ""

    def _put(self, text: str, style: str = "") -> None:
        if text:
            self._screen.print(styled(text, style), end="", soft_wrap=True)


def print_sources(screen: Screen, answer: Answer) -> None:
    """Print all sources of an answer, cited or not, each with a snippet."""
    if not answer.sources:
        screen.print_line("no passages were found for that question")
    for source in answer.sources:
        number = join_text(" " * MARGIN_COLUMNS, (f"[{source.number}]", "bold cyan" if source.cited else "dim"))
        indent = number.cell_len + 1
        screen.print_wrapped(format_heading(source.title, source.heading_path), indent=indent, lead=number)
        where = format_place(source_path(source), source.page, source.start_line, source.end_line, source.place)
        screen.print_wrapped(styled(f"{where}; relevance {source.relevance:.0%}", "dim"), indent=indent)
        screen.print_wrapped(styled(one_line(source.snippet), "italic"), indent=indent, bar="│ ")


def print_sessions(screen: Screen, sessions: Sequence[Session], current: str | None) -> None:
    """Print the sessions, most recently used first."""
    if not sessions:
        screen.print_line("there are no sessions yet")
        return
    table = make_table("session", "last used", ">turns", "~about")
    for session in sessions:
        used = f"{session.updated_at.astimezone():%Y-%m-%d %H:%M}"
        here = "bold" if session.id == current else ""
        about = styled(one_line(session.title), here)
        about.truncate(max(MIN_TEXT_COLUMNS, screen.columns - _OTHER_COLUMNS), overflow="ellipsis")
        table.add_row(styled(session.id, here), used, f"{session.turn_count}", about)
    screen.print_table(table, drop_first=("turns", "last used"))  # an id is never truncated


def print_welcome(screen: Screen, session: Session | None) -> None:
    """Print how to start, and the session that is continued."""
    about = f"continuing “{one_line(session.title)}”, {count(session.turn_count, 'turn')}" if session else ""
    screen.print_line(
        (f"{about}; " if about else "", ""), ("ask a question; /help lists the commands, Ctrl-D quits", "dim")
    )
