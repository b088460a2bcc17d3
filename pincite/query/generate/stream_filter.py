"""What a model writes becomes what a reader may see, while it is being written.

Reasoning, preambles, images, HTML that acts, made-up addresses and the line of suggested questions never come through;
fenced code comes through as it stands. Text is let go at the ends of lines and sentences, and after a few words at the latest. Where to let go
is decided by the text alone, never by how it was cut on its way, so that the pieces joined are the same always.

No `![` and no tag that loads anything is ever let go but in a fence that every reader of Markdown takes for one. In
other code, where an image is only shown as text, it gets a space: what is code is not for us alone to say.
"""

import re
from collections.abc import Callable

from pincite.query.generate.link_policy import LinkPolicy
from pincite.query.generate.markdown_stream import (
    LOOKAHEAD_CHARS,
    MARKERS,
    QUESTIONS_MARKER,
    REASONING_END,
    StretchState,
    next_stretch,
    sanitize,
)
from pincite.text import lang
from pincite.text.invisible import unmarked


def strip_preamble(text: str) -> str:
    """The start of an answer without what only introduces it; empty where that is all."""
    preamble = lang.regex("model_output.preamble", flags=re.IGNORECASE)
    rest = text.lstrip()
    while found := preamble.match(rest):
        rest = rest[found.end() :].lstrip()
        rest = rest[:1].upper() + rest[1:]
    return rest


FIRST, LIVE = 200, 40
"""Characters after which a word's end is good enough: at the start, where a preamble may stand, and later."""
MAX_FENCE_CHARS = 2000
"""A first line of code longer than this is none."""
MAX_QUESTIONS = 5
RENDERED_LANGUAGES = frozenset(
    "mermaid plantuml dot graphviz vega vega-lite math latex katex svg geojson topojson stl".split()
)
"""Languages of code that some readers make a drawing of, with links and images of its own."""

_REASONING = ("<think>", "<thinking>", "<reasoning>")
_FENCE = re.compile(r"(?P<lead>(?:[ \t>*+\-.)\d]{0,39}[ \t>])?)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})")
_MAYBE_FENCE = re.compile(r"[ \t>*+\-.)\d]{0,40}(?:`{0,2}|~{0,2})\Z")
_LANGUAGE = re.compile(r"[ \t]*+([\w+#.-]*+)(?:[ \t]++[\w.=\"-]*+)*+")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+")


class StreamFilter:
    """Takes what the model writes piece by piece, and gives what may be shown."""

    def __init__(self, mend: Callable[[str], str] = lambda text: text, border: LinkPolicy | None = None) -> None:
        """`mend` may change each stretch of prose before it is let go; `border` says which addresses may pass."""
        self._mend = mend
        self._border = border or LinkPolicy()
        self._raw = ""
        self._begun = StretchState(self._border)
        self._read = self._prose
        self._at_line_start = True
        self._shown = False
        self._space = ""
        self._dropped = ""
        self._closing = re.compile("")
        self._trusted = True
        self._verbatim = True
        self._asked: list[str] = []
        self.thoughts = ""
        """What was reasoned, without its tags."""

    @property
    def suggested_questions(self) -> tuple[str, ...]:
        """The questions the model suggests, once it has written them."""
        return tuple(self._asked[:MAX_QUESTIONS])

    def feed(self, text: str) -> str:
        """What may be shown now that this was written."""
        self._raw += unmarked(text.replace("\r", ""))
        return self._let_go(final=False)

    def close(self) -> str:
        """The rest, when nothing more will come; a preamble that was all there is, is the answer."""
        rest = self._let_go(final=True)
        return rest if self._shown else self._show(self._dropped)

    def _let_go(self, *, final: bool) -> str:
        shown = []
        while self._raw:
            before = len(self._raw), self._read
            shown.append(self._read(final))
            if before == (len(self._raw), self._read):
                break
        return "".join(shown)

    def _take(self, length: int) -> str:
        taken, self._raw = self._raw[:length], self._raw[length:]
        self._at_line_start = taken.endswith("\n")
        self._begun = StretchState(self._border)
        return taken

    def _show(self, text: str) -> str:
        """White space waits for what follows it: an answer has none at its ends."""
        if not self._shown:
            text = text.lstrip()
        body = text.rstrip()
        if not body:
            self._space += text
            return ""
        shown, self._space, self._shown = self._space + body, text[len(body) :], True
        return shown

    # --- what may be read next: each reader takes from what was written, or waits for more ------------------

    def _prose(self, final: bool) -> str:
        fresh = self._at_line_start
        if not self._shown:
            self._raw = self._raw.lstrip()
        if fresh:
            begun = self._begins(final)
            if begun is not None:
                return begun
        found = next_stretch(self._raw, LIVE if self._shown else FIRST, final, fresh=fresh, state=self._begun)
        if found is None or self._introduces(found[0]):
            return ""
        length, text = found
        taken = self._take(length)
        self._at_line_start = self._at_line_start or (fresh and not text)
        if taken[-1:] == ">" and REASONING_END.fullmatch(taken, taken.rfind("<")):  # its beginning was not marked
            self._at_line_start = True
            text = text if self._shown else ""
        if self._raw.startswith(MARKERS):
            self._read = self._questions
        return self._show(self._mend(text))

    def _introduces(self, length: int) -> bool:
        """Whether the answer began with a preamble; what follows it is then looked at as if it came first."""
        if self._shown:
            return False
        begun = self._raw[:length]
        kept = strip_preamble(begun)
        if kept == begun.lstrip():
            return False
        self._dropped = self._dropped or begun
        self._raw, self._begun = kept + self._raw[length:], StretchState(self._border)
        return True

    def _begins(self, final: bool) -> str | None:
        """A line that begins reasoning or fenced code, or may yet do so; None where it is prose."""
        head = self._raw.lstrip(" \t").lower()
        if tag := next((tag for tag in _REASONING if head.startswith(tag)), None):
            self._take(len(self._raw) - len(head) + len(tag))
            self._read = self._reasoning
            return ""
        line, newline, _ = self._raw.partition("\n")
        complete = bool(newline) or final
        if not complete and (any(tag.startswith(head) for tag in _REASONING) or _MAYBE_FENCE.match(line)):
            return ""
        fence = _FENCE.match(line)
        if fence is None or len(line) > MAX_FENCE_CHARS:
            self._trusted = self._trusted and head[:1] != "<"  # in a block of HTML a fence is none
            return None
        if not complete:
            return ""
        self._open(fence)
        self._take(len(line) + len(newline))
        return self._show(self._first_line(line, fence) + newline)

    def _first_line(self, line: str, fence: re.Match[str]) -> str:
        """A language that readers draw rather than show, or do not know, is none."""
        spoken = _LANGUAGE.fullmatch(line, fence.end())
        if spoken and spoken[1].lower() not in RENDERED_LANGUAGES:
            return line if self._verbatim else sanitize(line, self._border)
        return f"{line[: fence.end()]}text"

    def _open(self, fence: re.Match[str]) -> None:
        """In a list, a quotation or a table, code may end before its fence: from then on no fence is beyond doubt."""
        self._trusted = self._verbatim = self._trusted and not fence["lead"] and "|" not in fence.string
        lead = " {0,3}" if self._verbatim else r"[ \t>]*"
        self._closing = re.compile(rf"{lead}{fence['fence'][0]}{{{len(fence['fence'])},}}[ \t]*\Z")
        self._read = self._code

    def _code(self, final: bool) -> str:
        """The next line of fenced code."""
        line, newline, _ = self._raw.partition("\n")
        if not newline and not final:
            return ""
        if self._closing.match(line):
            self._read = self._prose
        return self._code_line(line + newline)

    def _code_line(self, line: str) -> str:
        self._take(len(line))
        return self._show(line if self._verbatim else sanitize(line, self._border))

    def _reasoning(self, final: bool) -> str:
        end = REASONING_END.search(self._raw)
        if end:
            self.thoughts += self._take(end.end())[: end.start()]
            self._read, self._at_line_start = self._prose, True
        else:
            self.thoughts += self._take(len(self._raw) if final else max(0, len(self._raw) - LOOKAHEAD_CHARS))
        return ""

    def _questions(self, final: bool) -> str:
        """The marker's line and the list below it, if it is one; other text is the answer's again."""
        line, newline, _ = self._raw.partition("\n")
        if not newline and not final:
            return ""
        marked = line.startswith(MARKERS)
        if not marked and line.strip() and "|" not in line and not _ITEM.match(line):
            self._read = self._prose
            self._space += "\n" if self._shown and not self._space.endswith("\n") else ""
            return ""
        taken = self._take(len(line) + len(newline))
        for part in taken.replace(QUESTIONS_MARKER, "").split("|"):
            question = _ITEM.sub("", part, count=1).strip(" \t\r\n*:\"'")
            if question:
                self._asked.append(sanitize(question, self._border))
        return ""
