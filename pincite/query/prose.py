"""A stretch of prose: where it may end, and what becomes of the images and tags in it.

What cannot be told yet is waited for, but never for long: each thing has a length beyond which it is not taken for one.
"""

import re
from collections.abc import Callable, Mapping

LONGEST_WORD = 400
"""Text without any white space is cut there."""
LONGEST_IMAGE, LONGEST_CODE, LONGEST_BRACKET = 4000, 300, 200
"""What has not ended by then is not taken for one."""
QUESTIONS = "SUGGESTED_QUESTIONS"
MARKERS = (f"**{QUESTIONS}", QUESTIONS)
"""What comes before the questions a model suggests."""
AHEAD = 32
"""No decision needs to see farther than this beyond a word."""

_LOADS = r"(?:img|image|picture|source|svg|video|audio|iframe|object|embed|input)"
_WIDE_STOPS = "。！？"
_SPECIAL = re.compile(rf"!(?=\[)|<|`|\s|S|\*(?=\*S)|[{_WIDE_STOPS}]")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]*_]{0,4}$")
_OPEN_BRACKET = re.compile(rf"\[[^\]\n]{{0,{LONGEST_BRACKET}}}$")
_IMAGE = re.compile(
    r"!\[(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+\](?P<to>\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+\)|\[[^\[\]]*+\])?",
    re.DOTALL,
)
_CITATION = re.compile(r"!\[\s*(?:sources?|quellen?)?\s*#?\d", re.IGNORECASE)
_TAG_BEGINS = re.compile(rf"</?{_LOADS}(?=[\s/>]|\Z)", re.IGNORECASE)
_MAYBE_TAG = re.compile(r"</?[a-z]{0,7}\Z", re.IGNORECASE)
_LOADING = re.compile(rf"<(?=/?{_LOADS}(?:[\s/]|\Z))", re.IGNORECASE)


def tamed(text: str) -> str:
    """Text that stands as it is, but that no reader of Markdown or HTML can load an image from."""
    return _LOADING.sub("< ", text.replace("![", "! ["))


def stretch(raw: str, least: int, final: bool, *, fresh: bool) -> tuple[int, str] | None:
    """The next stretch of prose: how long it is, and what it becomes; None where it has not ended yet.

    Where a `fresh` line begins with something that goes, the line begins after it.
    """
    at, kept = 0, list[str]()
    while special := _SPECIAL.search(raw, at, max(at, LONGEST_WORD) + AHEAD):
        here = special.start()
        if here >= max(at, LONGEST_WORD):
            break
        kept.append(raw[at:here])
        if special[0].isspace() or special[0] in _WIDE_STOPS:
            kept.append(special[0])
            at = here + 1
            if _may_end(raw, here, least):
                return at, "".join(kept)
            continue
        if raw.startswith(MARKERS, here):
            return here, "".join(kept)
        thing = _thing(raw, here, final)
        if thing is None:
            return None
        at, shown = thing
        if not shown and fresh and not "".join(kept).strip():
            return at, ""
        kept.append(shown or ("" if raw[here - 1 : here].isspace() else " "))  # what it kept apart stays apart
    end = max(at, LONGEST_WORD)
    if not final and len(raw) <= end + AHEAD:
        return None
    return min(end, len(raw)), "".join(kept) + raw[at:end]


def _may_end(raw: str, here: int, least: int) -> bool:
    """Whether to let go at this white space or wide full stop: never inside brackets, which may be a citation."""
    if raw[here] == "\n":
        return True
    if _OPEN_BRACKET.search(raw, max(0, here - LONGEST_BRACKET - 1), here):
        return False
    return here >= least or raw[here] in _WIDE_STOPS or bool(_SENTENCE_END.search(raw, max(0, here - 6), here))


_Thing = tuple[int, str] | None
"""Where something ends and what it becomes, nothing if it goes; None where more must be known first."""


def _thing(raw: str, here: int, final: bool) -> _Thing:
    """What begins here: an image, a tag, a code span, the marker of questions, or just a character."""
    kind, size = _KINDS.get(raw[here], (_letter, AHEAD))
    window = raw[here : here + size]
    found = kind(window, final or len(window) == size)
    return found and (here + found[0], found[1])


def _letter(window: str, known: bool) -> _Thing:
    return None if not known and any(marker.startswith(window) for marker in MARKERS) else (1, window[0])


def _image(window: str, known: bool) -> _Thing:
    """An image goes; brackets after an exclamation mark stay, set apart."""
    block, blank, _ = window.partition("\n\n")  # no image goes on after a blank line
    known = known or bool(blank)
    image = _IMAGE.match(block)
    if not known and (image is None or (image["to"] is None and block[image.end() :][:1] in ("", "(", "["))):
        return None
    if image is None or image["to"] is None or (image["to"][0] == "[" and _CITATION.match(block)):
        return 2, "! ["
    return image.end(), ""


def _tag(window: str, known: bool) -> _Thing:
    """A tag that loads something goes; one that is only named stays."""
    if not known and _MAYBE_TAG.match(window):
        return None
    if not _TAG_BEGINS.match(window):
        return 1, "<"
    end = window.find(">")
    if end < 0:
        return (1, "< ") if known else None
    return (end + 1, "") if "=" in window[:end] else (1, "<")


def _code_span(window: str, known: bool) -> _Thing:
    """Code between backticks on one line; backticks that nothing closes are themselves."""
    ticks = len(window) - len(window.lstrip("`"))
    line, newline, _ = window[ticks : ticks + LONGEST_CODE].partition("\n")
    known = known or bool(newline) or len(line) == LONGEST_CODE
    closing = re.search(rf"(?<!`)`{{{ticks}}}(?!`)", line)
    if not known and (closing is None or closing.end() == len(line)):
        return None
    if closing is None:
        return ticks, window[:ticks]
    code = window[: ticks + closing.end()]
    return len(code), tamed(code)


_KINDS: Mapping[str, tuple[Callable[[str, bool], _Thing], int]] = {
    "!": (_image, LONGEST_IMAGE),
    "<": (_tag, LONGEST_IMAGE),
    "`": (_code_span, 2 * LONGEST_CODE),
}
"""How to read what begins with a character, and how far it may go."""
