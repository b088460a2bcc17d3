"""Filter the output of a model while it is streamed.

Reasoning, preambles, images, active HTML, invented URLs and the line of suggested questions are removed; fenced code
is passed unchanged. Text is released word by word; only what may still become something to remove is held back. The
text alone decides where, never the chunks it arrived in, so that the released parts always join to the same text.

`![` and loading tags are released only in a fence that every Markdown renderer recognises. In other code, which shows
an image as text, a blank separates them: renderers differ in what they take for code.
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
    """The start of an answer without its preamble; empty where there is nothing else."""
    preamble = lang.regex("model_output.preamble", flags=re.IGNORECASE)
    rest = text.lstrip()
    while found := preamble.match(rest):
        rest = rest[found.end() :].lstrip()
        rest = rest[:1].upper() + rest[1:]
    return rest


def preamble_chars(text: str) -> int:
    """The length of the words at the start of an answer that may still become a preamble."""
    begun = lang.regex("model_output.preamble_begun", flags=re.IGNORECASE)
    held = 0
    for space in re.finditer(r"\s", text[:MAX_PREAMBLE_CHARS]):
        if not begun.fullmatch(text, 0, space.start()):
            break
        held = space.end()
    return held


MAX_PREAMBLE_CHARS = 200
"""A longer start of an answer is not read as a preamble, nor as the end of reasoning without an opening tag."""
MAX_FENCE_CHARS = 2000
"""A longer first line does not open fenced code."""
MAX_QUESTIONS = 5
"""Suggested questions that are kept."""
RENDERED_LANGUAGES = frozenset(
    "mermaid plantuml dot graphviz vega vega-lite math latex katex svg geojson topojson stl".split()
)
"""Languages of fenced code that some renderers draw, with links and images of their own."""

_REASONING = ("<think>", "<thinking>", "<reasoning>")
_FENCE = re.compile(r"(?P<lead>(?:[ \t>*+\-.)\d]{0,39}[ \t>])?)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})")
_MAYBE_FENCE = re.compile(r"[ \t>*+\-.)\d]{0,40}(?:`{0,2}|~{0,2})\Z")
_LANGUAGE = re.compile(r"[ \t]*+([\w+#.-]*+)(?:[ \t]++[\w.=\"-]*+)*+")
_HAS_LINK = re.compile(r"\w+://|\bwww\.|\bmailto:|\]\s*[(\[]|<\w", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+")


class StreamFilter:
    """Takes the output of a model in parts, and returns the text that may be shown."""

    def __init__(
        self,
        rewrite: Callable[[str], str] = lambda text: text,
        policy: LinkPolicy | None = None,
        *,
        thinks: bool = False,
    ) -> None:
        """`rewrite` may change each stretch of prose before it is released; `policy` says which URLs are allowed.

        The first sentence of a model that `thinks` is held back: it may be reasoning without an opening tag.
        """
        self._rewrite = rewrite
        self._thinks = thinks
        self._before = "\n"
        self._policy = policy or LinkPolicy()
        self._raw = ""
        self._state = StretchState(self._policy)
        self._read = self._prose
        self._at_line_start = True
        self._shown = False
        self._space = ""
        self._dropped = ""
        self._closing = re.compile("")
        self._trusted = True
        self._verbatim = True
        self._suggested: list[str] = []
        self.thoughts = ""
        """The reasoning without its tags."""

    @property
    def suggested_questions(self) -> tuple[str, ...]:
        """The questions that the model suggested so far, without those that have a link, even one of the sources."""
        return tuple([one for one in self._suggested if not _HAS_LINK.search(one)][:MAX_QUESTIONS])

    def feed(self, text: str) -> str:
        """Add output; the text that may be shown now."""
        self._raw += unmarked(text.replace("\r", ""))
        return self._release(final=False)

    def close(self) -> str:
        """The rest at the end of the output; a preamble without anything after it is the answer."""
        rest = self._release(final=True)
        return rest if self._shown else self._show(self._dropped)

    def _release(self, *, final: bool) -> str:
        shown = []
        while self._raw:
            before = len(self._raw), self._read
            shown.append(self._read(final))
            if before == (len(self._raw), self._read):
                break
        return "".join(shown)

    def _take(self, length: int) -> str:
        taken, self._raw = self._raw[:length], self._raw[length:]
        self._at_line_start, self._before = taken.endswith("\n"), taken[-1:] or self._before
        self._state = StretchState(self._policy)
        return taken

    def _show(self, text: str) -> str:
        """The text to show; trailing white space is held back, so that an answer neither starts nor ends with it."""
        if not self._shown:
            text = text.lstrip()
            text = text[:1].upper() + text[1:] if self._dropped else text
        body = text.rstrip()
        if not body:
            self._space += text
            return ""
        shown, self._space, self._shown = self._space + body, text[len(body) :], True
        return shown

    # --- readers: each takes text from the buffer, or waits for more -----------------------------------------

    def _prose(self, final: bool) -> str:
        fresh = self._at_line_start
        if not self._shown:
            self._raw = self._raw.lstrip()
        if fresh:
            start = self._open_block(final)
            if start is not None:
                return start
        found = next_stretch(
            self._raw,
            0 if self._shown else MAX_PREAMBLE_CHARS if self._thinks else preamble_chars(self._raw),
            final,
            fresh=fresh,
            before=self._before,
            state=self._state,
        )
        if found is None or self._removes_preamble(found[0]):
            return ""
        length, text = found
        taken = self._take(length)
        self._at_line_start = self._at_line_start or (fresh and not text)
        if taken[-1:] == ">" and REASONING_END.fullmatch(taken, taken.rfind("<")):  # the reasoning had no opening tag
            self._at_line_start = True
            text = text if self._shown else ""
        if self._raw.startswith(MARKERS):
            self._read = self._questions
        if fresh:
            return self._show(self._rewrite(text))
        return self._show(
            self._rewrite(f".{text}")[1:]
        )  # what defines a footnote at the start of a line is a mark here

    def _removes_preamble(self, length: int) -> bool:
        """Whether the answer starts with a preamble; it is removed, and the text after it is read as the start."""
        if self._shown:
            return False
        start = self._raw[:length]
        kept = strip_preamble(start)
        if kept == start.lstrip():
            return False
        self._dropped = self._dropped or start
        self._raw, self._state = kept + self._raw[length:], StretchState(self._policy)
        return True

    def _open_block(self, final: bool) -> str | None:
        """The output for a line that opens reasoning or fenced code, or may still do so; None where it is prose."""
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
            self._trusted = self._trusted and head[:1] != "<"  # inside an HTML block a fence is not recognised
            return None
        if not complete:
            return ""
        self._open_fence(fence)
        self._take(len(line) + len(newline))
        return self._show(self._first_line(line, fence) + newline)

    def _first_line(self, line: str, fence: re.Match[str]) -> str:
        """The first line of fenced code; a language that renderers draw, or an invalid one, becomes `text`."""
        language = _LANGUAGE.fullmatch(line, fence.end())
        if language and language[1].lower() not in RENDERED_LANGUAGES:
            return line if self._verbatim else sanitize(line, self._policy)
        return f"{line[: fence.end()]}text"

    def _open_fence(self, fence: re.Match[str]) -> None:
        """Start fenced code.

        In a list, a quotation or a table it may end before its fence: then no later fence is trusted.
        """
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
        return self._show(line if self._verbatim else sanitize(line, self._policy))

    def _reasoning(self, final: bool) -> str:
        end = REASONING_END.search(self._raw)
        if end:
            self.thoughts += self._take(end.end())[: end.start()]
            self._read, self._at_line_start = self._prose, True
        else:
            self.thoughts += self._take(len(self._raw) if final else max(0, len(self._raw) - LOOKAHEAD_CHARS))
        return ""

    def _questions(self, final: bool) -> str:
        """Read the line of the marker and the list below it; other text belongs to the answer again."""
        line, newline, _ = self._raw.partition("\n")
        if not newline and not final:
            return ""
        is_marker = line.startswith(MARKERS)
        if not is_marker and line.strip() and "|" not in line and not _ITEM.match(line):
            self._read = self._prose
            self._space += "\n" if self._shown and not self._space.endswith("\n") else ""
            return ""
        taken = self._take(len(line) + len(newline))
        for part in taken.replace(QUESTIONS_MARKER, "").split("|"):
            question = _ITEM.sub("", part, count=1).strip(" \t\r\n*:\"'")
            if question:
                self._suggested.append(sanitize(question, self._policy))
        return ""
