"""What of a web page can be seen: neither hidden elements, nor letters without size or in the colour of their ground.

Only what the page itself says counts, in attributes and in its own `<style>`; other style sheets are not fetched, and where one
may have its say, words are taken for visible. Scripts show some of what is hidden, as parts of a page that fade in: where much
of a page is hidden in ways they use for that, it is taken for visible, too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

Attributes = Mapping[str, str | None]
Colour = tuple[int, int, int]

_NEVER_SEEN = frozenset(
    "script style template noscript svg math iframe object embed applet video audio canvas map dialog datalist"
    " input select textarea button option optgroup progress meter source track frame frameset".split()
)
_FOR_READERS_ALOUD = frozenset("sr-only visually-hidden visuallyhidden screen-reader-text skip-link".split())
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|(?:content-)?visibility\s*:\s*(?:hidden|collapse)"
    r"|text-indent\s*:\s*-\d{3}|transform\s*:\s*scale\(\s*0\s*[,)]|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]"
    r"|clip-path\s*:\s*(?:inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0))",
    re.IGNORECASE,
)
_FADED = re.compile(r"(?:^|;)\s*opacity\s*:\s*0*(?:\.0*)?%?\s*(?:;|!|$)", re.IGNORECASE)
_AWAY = re.compile(r"(?:^|;)\s*(?:left|top|right|bottom)\s*:\s*-\d{3}", re.IGNORECASE)
_FREE = re.compile(r"(?:^|;)\s*position\s*:\s*(?:absolute|fixed)", re.IGNORECASE)
_SHUT = re.compile(r"(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*0*(?:\.0*)?(?:px|em|rem|%)?\s*(?:;|!|$)", re.IGNORECASE)
_CUT = re.compile(r"(?:^|;)\s*overflow(?:-[xy])?\s*:\s*(?:hidden|clip)", re.IGNORECASE)

_INK = re.compile(r"(?:^|;)\s*color\s*:\s*([^;!]+)", re.IGNORECASE)
_GROUND = re.compile(r"(?:^|;)\s*background(?:-color|-image)?\s*:\s*([^;!]+)", re.IGNORECASE)
_SIZE = re.compile(r"(?:^|;)\s*font-size\s*:\s*([^;!]+)", re.IGNORECASE)
_NO_SIZE = re.compile(r"(?:0*(?:\.\d*)?|1)(?:px|pt)?|0*(?:\.0*)?(?:em|rem|%|vw|vh)", re.IGNORECASE)
_RELATIVE_SIZE = re.compile(r"[\d.]+(?:em|%)|inherit|smaller|larger", re.IGNORECASE)
_HEX = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})", re.IGNORECASE)
_RGB = re.compile(
    r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*(?:1|1\.0+|100%)\s*)?\)", re.IGNORECASE
)
_NAMES = {
    "white": (255, 255, 255), "black": (0, 0, 0), "snow": (255, 250, 250), "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255), "whitesmoke": (245, 245, 245), "floralwhite": (255, 250, 240),
}  # fmt: skip
_ALIKE = 16
"""How far two colours may be apart, in each of red, green and blue, for nobody to read one on the other."""
_CLEAR = frozenset("none transparent inherit initial unset".split())
_COLOURED_BY_BROWSERS = frozenset(["a", "mark"])

_STYLE = re.compile(r"<style\b([^>]{0,500})>(.*?)(?:</style|$)", re.IGNORECASE | re.DOTALL)
_ELSEWHERE = re.compile(r"\bmedia\s*=\s*[\"']?\s*(?!all|screen)\w", re.IGNORECASE)
_SHEET = re.compile(r"<style\b|rel\s*=\s*[\"']?[^\"'>]{0,80}stylesheet", re.IGNORECASE)
_REMARK = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_BRACES = re.compile(r"[{}]")
_NAMED = re.compile(r"[.#][\w-]+")
_NOT_SHOWN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_SHOWN = re.compile(r"(?:^|;)\s*(?:display\s*:(?!\s*none)|visibility\s*:\s*visible)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Look:
    """How letters look where they stand: their colour, that of their ground, each where known, and whether they have a size."""

    ink: Colour | None = None
    ground: Colour | None = None
    sized: bool = True

    @property
    def legible(self) -> bool:
        """Whether anybody could read them."""
        if not self.sized:
            return False
        if self.ink is None or self.ground is None:
            return True
        return any(abs(one - other) > _ALIKE for one, other in zip(self.ink, self.ground, strict=True))


_UNKNOWN, _PLAIN = Look(), Look(_NAMES["black"], _NAMES["white"])


@dataclass(frozen=True, slots=True)
class Styles:
    """What a page's own style sheets hide, by class and id; `given` says whether there are any sheets, read or not."""

    hidden: frozenset[str] = frozenset()
    given: bool = False

    @classmethod
    def of(cls, page: str) -> Self:
        """The styles of a page."""
        if not _SHEET.search(page):
            return cls()
        hidden, shown = set[str](), set[str]()
        for style in _STYLE.finditer(page):
            if _ELSEWHERE.search(style[1]):
                continue
            for selectors, declared, inside in _rules(_REMARK.sub(" ", style[2])):
                if _SHOWN.search(declared):
                    shown.update(_NAMED.findall(selectors))
                elif not inside and _NOT_SHOWN.search(declared):
                    hidden.update(one.strip() for one in selectors.split(",") if _NAMED.fullmatch(one.strip()))
        return cls(frozenset(hidden - shown), given=True)

    def start(self) -> Look:
        """How letters look where nothing says otherwise: black on white, unless a sheet may."""
        return _UNKNOWN if self.given else _PLAIN

    def shows(self, tag: str, attributes: Attributes) -> bool:
        """Whether an element is shown at all."""
        if (
            tag in _NEVER_SEEN
            or "hidden" in attributes
            or "popover" in attributes
            or attributes.get("aria-hidden") == "true"
        ):
            return False
        style, classes = attributes.get("style") or "", (attributes.get("class") or "").split()
        if style and (_HIDING.search(style) or (_FREE.search(style) and _AWAY.search(style))):
            return False
        return _FOR_READERS_ALOUD.isdisjoint(classes)

    def may_hide(self, tag: str, attributes: Attributes) -> bool:
        """Whether an element is not shown, unless a script shows it."""
        style = attributes.get("style")
        if style and (_FADED.search(style) or (_CUT.search(style) and _SHUT.search(style))):
            return True
        if not self.hidden or tag in ("html", "body"):
            return False
        classes = (attributes.get("class") or "").split()
        return not self.hidden.isdisjoint({f"#{attributes.get('id')}", *(f".{name}" for name in classes)})

    def look(self, tag: str, attributes: Attributes, around: Look) -> Look:
        """How letters look in an element, which has its look from those around it unless it says otherwise."""
        look = around
        if self.given and ("class" in attributes or "id" in attributes):
            look = self.start()
        if tag in _COLOURED_BY_BROWSERS:
            look = replace(look, ink=None)
        if ink := attributes.get("text" if tag == "body" else "color"):
            look = replace(look, ink=_colour(ink))
        if ground := attributes.get("bgcolor"):
            look = replace(look, ground=_colour(ground))
        if "background" in attributes:
            look = replace(look, ground=None)
        return _styled(look, style) if (style := attributes.get("style")) else look


def _styled(look: Look, style: str) -> Look:
    if ink := _INK.search(style):
        look = replace(look, ink=_colour(ink[1]))
    for ground in _GROUND.finditer(style):
        if ground[1].strip().lower() not in _CLEAR:
            look = replace(look, ground=_colour(ground[1]))
    if size := _SIZE.search(style):
        given = size[1].strip()
        keeps = not look.sized and bool(_RELATIVE_SIZE.fullmatch(given))
        look = replace(look, sized=not keeps and not _NO_SIZE.fullmatch(given))
    return look


def _colour(given: str) -> Colour | None:
    """A colour in numbers; none where it is no plain one that is known."""
    given = given.strip()
    if found := _HEX.fullmatch(given):
        digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := _RGB.fullmatch(given):
        return int(found[1]), int(found[2]), int(found[3])
    return _NAMES.get(given.lower())


def _rules(sheet: str) -> Iterator[tuple[str, str, bool]]:
    """Selectors and declarations of a style sheet, and whether they hold only under a condition such as `@media`."""
    at, conditions, selectors = 0, 0, ""
    for brace in _BRACES.finditer(sheet):
        text, at = sheet[at : brace.start()], brace.end()
        if brace[0] == "{":
            conditions += bool(selectors)
            selectors = text.rpartition(";")[2].strip() or " "
        elif selectors:
            yield selectors, text, conditions > 0
            selectors = ""
        else:
            conditions = max(0, conditions - 1)
