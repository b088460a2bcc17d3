"""Web pages and what should come out of them: texts, phrases, headings, items, rows, code and links; and how much of it did.

What should come out is told by whoever made the set, in one of three ways, else by the page itself, which may mark its content:

- `ground-truth.json` beside `html/*.html.gz`: the text of each page (`articleBody`), as in article-extraction-benchmark;
- `evaldata.json` beside `eval/` and `cache/`: phrases each page should tell and should not, as in trafilatura's own tests;
- `page.md` beside `page.html`: the page as Markdown.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pincite.parsers.html import declared
from pincite.text.charset import decode

KINDS = ("headings", "items", "rows", "code", "links")
_ENDINGS = (".html", ".htm", ".xhtml", ".html.gz")
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"https?://[^\s<>|\"']+")
_BEGINNING = 6
"""Words by which a heading, an item and code are told from others of their kind."""
_SHINGLE = 4
_FEW = 20
"""Words below which a page says too little to be counted by its text."""
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_OPENING = {"heading_open": "headings", "list_item_open": "items", "tr_open": "rows"}
_CLOSING = frozenset(["heading_close", "list_item_close", "tr_close"])
_CODE = frozenset(["fence", "code_block"])
_BREAKS = {"softbreak": " ", "hardbreak": " "}
_FURNITURE = "nav, footer, [role=navigation], [role=contentinfo], [role=search], [class*=cookie], [id*=cookie]"
_UNSEEN = (
    "script, style, template, noscript, svg, iframe, button, select, textarea, dialog, [hidden], [aria-hidden=true],"
    " [style*='display:none'], [style*='display: none']"
)
_SELECTORS = {
    "headings": "h1, h2, h3, h4, h5, h6",
    "items": "li",
    "rows": "tr",
    "code": "pre",
    "links": "a[href^='http:'], a[href^='https:']",
}
_PARTS = "table, h1, h2, h3, h4"
_HOLDING = frozenset("p li td th h1 h2 h3 h4 h5 h6 dd dt blockquote div body".split())
_BLOCKS = "p, li, a, h1, h2, h3, h4, h5, h6, td, th, dt, dd, div"


@dataclass(frozen=True, slots=True)
class Page:
    """A page, and what is known of what should come out of it."""

    name: str
    data: bytes
    text: str | None = None
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()


@dataclass(slots=True)
class Found:
    """What a text has, or should have: words one after the other, and the words of each piece by its kind."""

    words: list[str] = field(default_factory=list)
    pieces: dict[str, list[tuple[str, ...]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    bare: set[str] = field(default_factory=set)
    """Addresses that stand in the text as they are."""


@dataclass(slots=True)
class Tally:
    """How much of what should come out did, as shares page by page and as counts over all pages."""

    shares: dict[str, list[float]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    ms: list[float] = field(default_factory=list)

    def count(self, name: str, there: int, of: int) -> None:
        """Count some of many."""
        self.counts[name] += there
        self.counts[f"{name} of"] += of

    def share(self, name: str) -> float | None:
        """The mean of the pages' shares, or the share of all that was counted; none where there was nothing."""
        if values := self.shares.get(name):
            return sum(values) / len(values)
        return self.counts[name] / whole if (whole := self.counts[f"{name} of"]) else None


def pages_of(folder: Path) -> list[Page]:
    """The pages of a folder and of the folders in it, by name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.lower().endswith(_ENDINGS))
    truth, phrases = _told(folder, "ground-truth.json"), _told(folder, "evaldata.json")
    by_file = {given["file"]: given for given in phrases.values()}
    found = []
    for path in files:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        stem = path.name.partition(".html")[0]
        if phrases and path.name not in by_file:
            continue
        beside = path.with_suffix(".md")
        text = beside.read_text(encoding="utf-8") if beside.is_file() else None
        if text is not None:
            text = " ".join(told(text).words)
        text = truth[stem].get("articleBody") if stem in truth else text
        given = by_file.get(path.name, {})
        found.append(Page(path.name, data, text, tuple(given.get("with", ())), tuple(given.get("without", ()))))
    return found


def characters(data: bytes) -> str:
    """A page in the charset it declares, or looks as if it were in; without zeros, which browsers pass over."""
    return decode(data.replace(b"\0", b""), declared(data))


def told(markdown: str) -> Found:
    """What a reader of Markdown sees in a text."""
    found = Found()
    open_pieces: list[tuple[str, list[str]]] = []
    for token in _PARSER.parse(markdown):
        if token.type in _OPENING:
            open_pieces.append((_OPENING[token.type], []))
        elif token.type in _CLOSING:
            kind, words = open_pieces.pop()
            found.pieces[kind].append(tuple(words))
        elif token.type == "inline" or token.type in _CODE:
            text = token.content if token.type in _CODE else _shown(token.children or ())
            words = _words(text)
            found.words += words
            found.bare.update(unquote(address.rstrip(".,;:)")) for address in _ADDRESS.findall(text))
            for _, inside in open_pieces:
                inside += words
            if token.type in _CODE:
                found.pieces["code"].append(tuple(words))
            links = (str(one.attrGet("href")) for one in token.children or () if one.type == "link_open")
            found.pieces["links"] += [(unquote(target),) for target in links]
    return found


def due(page: Page) -> tuple[Found, set[str]]:
    """What should come out of a page, and what of its furniture should not, as phrases."""
    html = LexborHTMLParser(characters(page.data))
    for node in _within(html, _UNSEEN):
        node.decompose()
    for node in html.css("br, div"):
        node.insert_before(" ")
    furniture = {" ".join(_words(node.text(deep=True, separator=" "))) for node in _leaves(_within(html, _FURNITURE))}
    for node in _within(html, _FURNITURE):
        if node.parent is not None and node.parent.tag != "blockquote":
            node.decompose()
    for node in html.css("li") if page.text is None else ():
        if node.css_first("a[href]") is not None and _is_only_links(node):
            node.decompose()
    main = _main(html)
    words = _words(main.text(deep=True, separator=" ") if page.text is None else page.text) if main is not None else []
    found, line = Found(words), None if page.text is None else f" {' '.join(words)} "
    for kind, piece in _pieces(main, line) if main is not None else ():
        found.pieces[kind].append(piece)
    everything = f" {' '.join(_words(html.body.text(deep=True, separator=' ')))} " if html.body else ""
    return found, {one for one in furniture if one.count(" ") and f" {one} " not in everything}


def weigh(page: Page, text: str, tally: Tally) -> None:
    """Count how much of a page is in a text, and what is there that should not be."""
    got, (wanted, furniture) = told(text), due(page)
    ours, theirs = _shingles(got.words), _shingles(wanted.words)
    if not page.wanted and len(wanted.words) >= _FEW:
        there = (ours & theirs).total()
        tally.shares.setdefault("kept", []).append(there / theirs.total())
        if page.text is not None:
            tally.shares.setdefault("belongs", []).append(there / max(1, ours.total()))
    line = f" {' '.join(got.words)} "
    said = [f" {' '.join(_words(phrase))} " in line for phrase in page.wanted]
    unsaid = [f" {' '.join(_words(phrase))} " not in line for phrase in page.unwanted]
    tally.count("wanted", sum(said), len(said))
    tally.count("unwanted", sum(unsaid), len(unsaid))
    tally.count("furniture", sum(f" {phrase} " not in line for phrase in furniture), len(furniture))
    for kind in () if page.wanted else KINDS:
        missing = lost(kind, wanted, got)
        tally.count(kind, len(wanted.pieces[kind]) - len(missing), len(wanted.pieces[kind]))


def lost(kind: str, wanted: Found, got: Found) -> list[tuple[str, ...]]:
    """The pieces of a kind that did not come out as such; a row may have gained words from cells that reach into it."""
    there = got.pieces[kind]
    if kind == "rows":
        rows = [Counter(row) for row in there]
        return [piece for piece in wanted.pieces[kind] if not any(Counter(piece) <= row for row in rows)]
    begun = {piece[:_BEGINNING] for piece in there}
    if kind == "links":
        said = {(word,) for word in got.bare}
        return [piece for piece in wanted.pieces[kind] if piece not in begun | said]
    return [piece for piece in wanted.pieces[kind] if piece[:_BEGINNING] not in begun]


def _told(folder: Path, name: str) -> dict[str, dict[str, str]]:
    path = folder / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _shingles(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    if not words:
        return Counter()
    return Counter(tuple(words[at : at + _SHINGLE]) for at in range(max(1, len(words) - _SHINGLE + 1)))


def _shown(tokens: Iterable[Token]) -> str:
    """The words of a line; pictures by their description, and what looks like an element as it is written."""
    return "".join(
        _shown(token.children or ()) if token.type == "image" else token.content if token.content else _BREAKS.get(token.type, "")
        for token in tokens
    )  # fmt: skip


def _main(html: LexborHTMLParser) -> LexborNode | None:
    """What a page marks as its content, else all of it."""
    for selector in ("main, [role=main]", "article"):
        marked = html.css(selector)
        if marked and (selector != "article" or len(marked) == 1):
            return max(marked, key=lambda node: len(node.text(deep=True)))
    return html.body


def _pieces(main: LexborNode, line: str | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The pieces of a page's content that have words; where a text is given, those that begin in it."""
    for kind, selector in _SELECTORS.items():
        for node in main.css(selector):
            words = _words(node.text(deep=True, separator=" " if kind == "rows" else ""))
            block = _block(node) if kind == "links" else node
            if not words or (kind == "rows" and not _is_data(node)):
                continue
            beginning = _words(block.text(deep=True, separator=" " if kind == "rows" else ""))[:_BEGINNING]
            if line is None or f" {' '.join(beginning)} " in line:
                yield kind, (unquote(node.attributes.get("href") or ""),) if kind == "links" else tuple(words)


def _within(html: LexborHTMLParser, selector: str) -> list[LexborNode]:
    """The elements of a page that a selector finds, but not the page as a whole."""
    return [node for node in html.css(selector) if node.tag not in ("html", "body", "main")]


def _is_only_links(item: LexborNode) -> bool:
    """Whether an item of a list has no words but those of links: it may be a menu's, and nobody says whether it is."""
    linked = [word for link in item.css("a[href]") for word in _words(link.text(deep=True, separator=" "))]
    return linked == _words(item.text(deep=True, separator=" "))


def _block(link: LexborNode) -> LexborNode:
    """What a link stands in."""
    node: LexborNode | None = link
    while node is not None and node.tag not in _HOLDING:
        node = node.parent
    return node or link


def _is_data(row: LexborNode) -> bool:
    """Whether a row is of a table that names its columns or rows and holds no parts of a page."""
    node: LexborNode | None = row
    while node is not None and node.tag != "table":
        node = node.parent
    return node is not None and bool(node.css("th")) and len(node.css("tr")) > 1 and len(node.css(_PARTS)) <= 1


def _leaves(nodes: Iterable[LexborNode]) -> Iterator[LexborNode]:
    """The innermost blocks of some elements."""
    for node in nodes:
        for block in node.css(_BLOCKS):
            if len(block.css(_BLOCKS)) <= 1:
                yield block
