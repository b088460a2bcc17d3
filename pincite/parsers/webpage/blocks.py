"""A web page's content as Markdown: headings, paragraphs, lists, tables, quotations and code, each in its place."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from pincite.parsers.markdown_out.writer import MarkdownWriter, escaped, heading, table
from pincite.parsers.webpage.inline import BLOCKS, Inline, code_text, on_one_line
from pincite.parsers.webpage.tables import caption, grid, is_layout
from pincite.parsers.webpage.tree import Element, walk

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_DEEPEST = 8
"""Lists and quotations inside one another that are told apart."""
_SHORT_DEFINITION = 600
_BLOCKS_IN_ITEM = frozenset("dl ul ol table pre blockquote h1 h2 h3 h4 h5 h6".split())
_PARAGRAPHS = re.compile(r"\n{2,}")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight)-|brush:\s*)"
    r"(?!default|text|none|plain|notranslate)([\w+#.-]{1,20})",
    re.IGNORECASE,
)
_BACKTICKS = re.compile(r"`{3,}")


@dataclass(slots=True)
class _Item:
    """A list's item, or a quotation, that is being written: what its first line begins with, and its others."""

    first: str
    others: str
    begun: bool = False


class Blocks:
    """Writes the blocks of a page as they are met, and numbers what it has: `paragraph 3`, `table 1, row 2`.

    `counts` say how far others have numbered, where a page is only a part of something.
    """

    def __init__(self, manuscript: MarkdownWriter, base: str = "", counts: Counter[str] | None = None) -> None:
        self._manuscript = manuscript
        self._base = base
        self._inline = Inline(base)
        self._inside: list[_Item] = []
        self._numbers: list[int] = []
        self._items: list[tuple[str, str]] = []
        self._counts = Counter[str]() if counts is None else counts
        self._term = ""

    def write(self, root: Element) -> None:
        """Write all that is inside an element."""
        walk(root, self)
        self._paragraph()
        self._end_list()

    def enter(self, element: Element) -> bool:
        """Begin what an element begins; whether to go inside."""
        tag = element.tag
        if tag not in BLOCKS:
            return self._inline.enter(element)
        self._paragraph()
        if tag in _HEADINGS and not self._inside:
            self._heading(_HEADINGS[tag], on_one_line(element))
        elif tag == "pre":
            self._code(element)
        elif tag == "table" and not is_layout(element):
            self._table(element)
        elif tag == "dt":
            self._end_term()
            self._term = on_one_line(element, self._base)
        elif tag == "hr":
            pass
        else:
            self._open(element)
            return True
        return False

    def leave(self, element: Element) -> None:
        """End what an element began."""
        tag = element.tag
        if tag not in BLOCKS:
            return self._inline.leave(element)
        self._paragraph()
        if tag in ("ul", "ol", "menu", "dir"):
            self._numbers.pop()
        elif tag == "dl":
            self._end_term()
        if tag in ("li", "blockquote") or (tag == "dd" and _is_short(element)):
            self._inside.pop()
        if not self._inside and tag not in ("li", "dd"):
            self._end_list()
        return None

    def text(self, text: str) -> None:
        """Take in words."""
        self._inline.text(text)

    def _open(self, element: Element) -> None:
        tag = element.tag
        if tag in ("ul", "ol", "menu", "dir"):
            start = element.get("start")
            first = int(start) if start.isascii() and start.isdecimal() and len(start) < 9 else 1
            self._numbers.append(first if tag == "ol" else -1)
        elif tag == "li":
            self._inside.append(self._item())
        elif tag == "blockquote":
            self._end_list()
            self._inside.append(_Item("> ", "> ", begun=True))
        elif tag == "dd" and _is_short(element):
            lead, self._term = (f"{self._term}: " if self._term else ""), ""
            self._inside.append(_Item(f"- {lead}", "  "))
        elif tag == "dd":
            self._end_term()

    def _item(self) -> _Item:
        number = self._numbers[-1] if self._numbers else -1
        if number < 0:
            return _Item("- ", "  ")
        self._numbers[-1] = number + 1
        return _Item(f"{number}. ", " " * len(f"{number}. "))

    def _paragraph(self) -> None:
        """Write the words that have come in as a paragraph, as an item of a list, or as several where lines are left out."""
        text = self._inline.take()
        for part in _PARAGRAPHS.split(text) if text else ():
            if words := escaped(part):
                first = bool(self._inside) and not self._inside[-1].begun
                kind = "item" if first else "paragraph"
                self._put(words, self._ref(kind), item=first)

    def _heading(self, level: int, text: str) -> None:
        if line := heading(level, text):
            self._end_list()
            self._manuscript.block(line, self._ref("heading"))

    def _code(self, element: Element) -> None:
        code = code_text(element).strip("\n").rstrip()
        if not code.strip():
            return
        around = (element, *islice(element.above(), 2), *element.elements())
        language = _LANGUAGE.search(" ".join(one.get("class") for one in around))
        fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(code)), default=0))
        self._put(f"{fence}{language[1].lower() if language else ''}\n{code}\n{fence}", self._ref("code"))

    def _table(self, element: Element) -> None:
        if title := caption(element):
            self._put(escaped(title), self._ref("paragraph"))
        rows, headed = grid(element, self._base)
        if not rows:
            return
        self._counts["table"] += 1
        name, lines = f"table {self._counts['table']}", table(rows, header=headed)
        refs = [f"{name}, row {number}" for number in range(1, len(rows) + 1)]
        refs[int(headed) : int(headed)] = [""] if headed else ["", ""]
        self._end_list()
        lead = self._lead()
        self._manuscript.lines((lead + line, ref) for line, ref in zip(lines, refs, strict=True))

    def _put(self, text: str, ref: str, *, item: bool = False) -> None:
        """Write a block where it stands: behind its item's sign, or indented below."""
        deepest = self._inside[-_DEEPEST:]
        others = "".join(inside.others for inside in deepest)
        first = "".join(inside.others if inside.begun else inside.first for inside in deepest)
        for inside in self._inside:
            inside.begun = True
        line, *more = text.split("\n")
        written = "\n".join([first + line, *(others + line for line in more)])
        if item:
            self._items.append((written, ref))
        else:
            self._end_list()
            self._manuscript.block(written, ref)

    def _lead(self) -> str:
        """What every line of a table begins with; an item that begins with one has a line for its sign."""
        if self._inside and not self._inside[-1].begun:
            self._inside[-1].begun = True
        return "".join(inside.others for inside in self._inside[-_DEEPEST:])

    def _end_term(self) -> None:
        """Write a term whose explanation is long, or missing, as a paragraph."""
        if self._term:
            term, self._term = self._term, ""
            self._put(escaped(term), self._ref("paragraph"))

    def _end_list(self) -> None:
        """Write the items that wait: a list's stand together, without blank lines."""
        self._manuscript.lines(self._items)
        self._items = []

    def _ref(self, kind: str) -> str:
        self._counts[kind] += 1
        return f"{kind} {self._counts[kind]}"


def _is_short(definition: Element) -> bool:
    return definition.chars <= _SHORT_DEFINITION and not definition.has(_BLOCKS_IN_ITEM)
