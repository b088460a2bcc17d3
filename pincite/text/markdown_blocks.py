"""The block structure of a text: headings, paragraphs, list items, tables and code, with exact offsets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from pincite.text.sentences import line_starts, trim

Kind = Literal["heading", "prose", "code", "table", "list"]
Markup = Literal["markdown", "plain"]
"""The markup of a text."""

_INLINE_MARKUP = re.compile(r"[\\`*_~\[\]<>&!]")
_MAX_TITLE = 300
"""Characters of a heading whose inline markup is removed; nested brackets in longer ones cost quadratic time."""
_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n[^\n]+)*")
_CONTAINERS = ("blockquote_open", "bullet_list_open", "ordered_list_open")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of whole lines; its offsets exclude the white space around it.

    A heading has a level and its title as plain text, a table the offset at which its header ends, a list item the
    blocks inside it. Blocks of a quotation are blocks of their own; a heading in a quotation or a list is prose.
    """

    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""
    header_end: int = 0
    parts: "tuple[Block, ...]" = ()


# One entry: parsing, sectioning and chunking read the same text one after the other.
@lru_cache(maxsize=1)
def blocks(text: str, markup: Markup, start: int = 0) -> tuple[Block, ...]:
    """The blocks of `text[start:]` in order; together they cover all of it but white space."""
    if markup == "plain":
        return tuple(Block("prose", match.start(), match.end()) for match in _PARAGRAPH.finditer(text, start))
    return _Reader(text, start).read()


@cache
def _markdown() -> MarkdownIt:
    """A parser of CommonMark and tables, without inline tokens."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["block"])
    parser.block.ruler.at("table", _table_rule, {"alt": ["paragraph", "reference"]})
    return parser


def _table_rule(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Markdown-it's rule for tables, with one token for the table instead of several for every cell.

    The tokens of a table of ten megabytes would take gigabytes.
    """
    unused = Token("", "", 0)
    state.push = lambda *_: unused  # type: ignore[method-assign]
    try:
        found = table(state, first, last, silent)
    finally:
        del state.push
    if found and not silent:
        state.push("table", "table", 0).map = [first, state.line]
    return found


@cache
def _inline() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


class _Reader:
    """Turns markdown-it's flat tokens into blocks with offsets."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.offset = start
        body = text[start:]
        self.starts = [start + at for at in line_starts(body)]
        self.starts.append(len(text) + 1)
        self.tokens: list[Token] = _markdown().parse(body)

    def read(self) -> tuple[Block, ...]:
        return tuple(self._within(0, len(self.tokens), self.offset, len(self.text)))

    def _within(self, first: int, last: int, start: int, end: int) -> list[Block]:
        """The blocks of the tokens [first, last) between two offsets; gaps become prose."""
        found: list[Block] = []
        position = start
        for block in self._blocks(first, last):
            if block.start < position or block.end <= block.start:
                continue
            found += self._gap(position, block.start)
            found.append(block)
            position = block.end
        return found + self._gap(position, end)

    def _gap(self, start: int, end: int) -> list[Block]:
        """The text between two blocks, such as link definitions, as prose; markdown-it has no token for it."""
        start, end = trim(self.text, start, end)
        return [Block("prose", start, end)] if start < end else []

    def _blocks(self, first: int, last: int) -> Sequence[Block]:
        found: list[Block] = []
        at = first
        while at < last:
            closing = self._closing(at, last)
            if self.tokens[at].type in _CONTAINERS:
                found += self._blocks(at + 1, closing)
            else:
                found.append(self._block(at, closing))
            at = closing + 1
        return found

    def _closing(self, at: int, last: int) -> int:
        """The index of the token that closes the one at `at`; `at` itself where it opens nothing."""
        token = self.tokens[at]
        if token.nesting != 1:
            return at
        for index in range(at + 1, last):
            if self.tokens[index].level == token.level and self.tokens[index].nesting == -1:
                return index
        return last - 1

    def _block(self, at: int, closing: int) -> Block:
        token = self.tokens[at]
        start, end = self._span(token)
        if token.type == "heading_open" and token.level == 0:
            return Block("heading", start, end, level=int(token.tag[1:]), title=_plain(self.tokens[at + 1].content))
        if token.type in ("fence", "code_block"):
            return Block("code", start, end)
        if token.type == "table":
            return Block("table", start, end, header_end=self._line_end(self._line_end(start) + 1))
        if token.type == "list_item_open":
            return Block("list", start, end, parts=tuple(self._within(at + 1, closing, start, end)))
        return Block("prose", start, end)

    def _span(self, token: Token) -> tuple[int, int]:
        first, after = token.map or (0, 0)
        return trim(self.text, self.starts[first], min(self.starts[after], len(self.text)))

    def _line_end(self, offset: int) -> int:
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end


def _plain(content: str) -> str:
    """The text of a heading without markup: `**Set** [up](x)` → `Set up`."""
    if len(content) > _MAX_TITLE or not _INLINE_MARKUP.search(content):
        return " ".join(content.split())
    children = _inline().parseInline(content)[0].children or []
    words = "".join(_text_of(child) for child in children)
    return " ".join(words.split())


def _text_of(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return token.content if token.type in ("text", "code_inline", "image") else ""


_MARKS = re.compile(r"\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_QUOTED = re.compile(r"\n[ \t>]*")
_FOOTNOTE = re.compile(r"\[\d{1,3}\]")


def plain(text: str) -> str:
    """The plain text of a passage on one line: links by their names, no emphasis, no footnote marks."""
    text = _LINK.sub(r"\1", _FOOTNOTE.sub("", _QUOTED.sub(" ", text)))
    return " ".join(_MARKS.sub("", text).split())
