"""Words of a web page within one paragraph: links, code and pictures' descriptions in them, white space as it is shown."""

import re
from urllib.parse import urljoin

from pincite.parsers.markdown_out.writer import link
from pincite.parsers.webpage.tree import Element, walk, words

BLOCKS = frozenset(
    "address article aside blockquote body center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3"
    " h4 h5 h6 header hgroup hr legend li main menu nav ol p pre search section summary table tbody td tfoot th thead tr"
    " caption ul".split()
)
"""Elements that begin and end a paragraph."""

_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_BESIDE_BREAK = re.compile(r" *\n *")
_ANCHOR_SIGNS = frozenset("¶ # § 🔗 ↑ ^".split())
_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_FOOTNOTE_MARK = 6
"""Letters that the mark of a footnote has at most: `[12]`, `a`, `†`."""
_FILE_NAME = re.compile(r"\S+\.\w{2,4}")
_BACKTICKS = re.compile(r"`+")


class Inline:
    """The words of a paragraph as they come in; `base` is what the page's relative links count from."""

    def __init__(self, base: str = "") -> None:
        self.base = base
        self._parts: list[str] = []
        self._links: list[tuple[int, Element]] = []

    def enter(self, element: Element) -> bool:
        """Take in what an element means beside its text; whether to go inside."""
        match element.tag:
            case "br":
                self._parts.append("\n")
            case "img":
                self._parts.append(_described(element))
            case "code" | "kbd" | "samp" | "tt":
                self._parts.append(_code(words(element)))
            case "sup" | "sub":
                self._parts.append(_shifted(element))
            case "wbr" | "rp" | "rt":
                pass
            case "q":
                self._parts.append("“")
                return True
            case "del" | "s" | "strike":
                self._parts.append("~~" if element.chars else "")
                return True
            case "a":
                self._links.append((len(self._parts), element))
                return True
            case _:
                return True
        return False

    def leave(self, element: Element) -> None:
        """End what an element began."""
        if element.tag == "q":
            self._parts.append("”")
        elif element.tag in ("del", "s", "strike"):
            self._parts.append("~~" if element.chars else "")
        elif element.tag == "a" and self._links and self._links[-1][1] is element:
            start, _ = self._links.pop()
            text = "".join(self._parts[start:])
            self._parts[start:] = [self._linked(text, element.get("href"))]

    def text(self, text: str) -> None:
        """Take in words."""
        self._parts.append(_SPACE.sub(" ", text))

    def take(self) -> str:
        """What came in, with one blank where white space was and line ends where the page has some; begin anew."""
        text = _BESIDE_BREAK.sub("\n", _SPACE_RUN.sub(" ", "".join(self._parts))).strip()
        self._parts, self._links = [], []
        return text

    def _linked(self, text: str, target: str) -> str:
        target = target.strip()
        if target.startswith("#") or not target:
            return "" if text.strip() in _ANCHOR_SIGNS else text
        return link(text, resolved(target, self.base))


_SPACE_RUN = re.compile(r" {2,}")


class _Cell(Inline):
    """Words that stay on one line, whatever blocks they stand in."""

    def enter(self, element: Element) -> bool:
        if element.tag in BLOCKS or element.tag == "br":
            self.text(" ")
            return element.tag != "br"
        return super().enter(element)

    def leave(self, element: Element) -> None:
        if element.tag in BLOCKS:
            self.text(" ")
        super().leave(element)


def on_one_line(element: Element, base: str = "") -> str:
    """All words inside an element on one line."""
    cell = _Cell(base)
    walk(element, cell)
    return cell.take()


def resolved(target: str, base: str) -> str:
    """A link's address in full, where that is known; as it is where not."""
    try:
        return urljoin(base, target) if base else target
    except ValueError:
        return ""


def code_text(element: Element) -> str:
    """Code as it is written, line by line."""
    return words(element, lambda inside: "\n" if inside.tag == "br" else "")


def _code(text: str) -> str:
    """Code within a sentence; its own backticks must not end it."""
    text = _SPACE.sub(" ", text).strip()
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def _shifted(element: Element) -> str:
    """Raised and lowered digits as such; a short raised link within the page marks a footnote, and is no word."""
    text = " ".join(words(element).split())
    within = any(inside.tag == "a" and inside.get("href").startswith("#") for inside in element.elements())
    if within and element.tag == "sup" and len(text) <= _FOOTNOTE_MARK:
        return ""
    shapes = _RAISED if element.tag == "sup" else _LOWERED
    if text and all(ord(char) in shapes for char in text):
        return text.translate(shapes)
    return f" {text} " if " " in text else text


def _described(image: Element) -> str:
    """A picture in words, where somebody wrote some for those who cannot see it."""
    text = " ".join(image.get("alt").split())
    if len(text) < 4 or _FILE_NAME.fullmatch(text):
        return ""
    return f" (image: {text}) "
