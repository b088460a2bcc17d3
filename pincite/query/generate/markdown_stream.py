"""A stretch of prose: where it may end, and what becomes of the images, tags and links in it.

What cannot be told yet is waited for, but never for long: each thing has a length beyond which it is not taken for one.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pincite.query.generate.link_policy import (
    ACTIVE_SCHEMES,
    LINKING_COMMANDS,
    MAX_URL_CHARS,
    URL_START,
    LinkPolicy,
    link_at,
    may_define_link,
)

MAX_WORD_CHARS = 400
"""Text without any white space is cut there."""
MAX_IMAGE_CHARS, MAX_TAG_CHARS, MAX_CODE_CHARS, MAX_BRACKET_CHARS, MAX_LABEL_CHARS = 4000, 500, 300, 200, 120
"""What has not ended by then is not taken for one."""
QUESTIONS_MARKER = "SUGGESTED_QUESTIONS"
MARKERS = (f"**{QUESTIONS_MARKER}", QUESTIONS_MARKER)
"""What comes before the questions a model suggests."""
LOOKAHEAD_CHARS = 32
"""No decision needs to see farther than this beyond a word."""

REASONING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
"""What a model ends its reasoning with."""

_LOADS = (
    r"(?:img|image|picture|source|track|svg|use|feimage|video|audio|iframe|frame|object|embed|input|link|meta|base|style"
    r"|script)"
)
_ACTS = frozenset({"style", "script"})
"""Tags that do something even with nothing in them but their name."""
_LOADING_ATTRIBUTE = re.compile(
    r"[\s/\"'](?:(?:image)?srcset|(?:low|dyn)?src|background|style|poster|data|manifest|(?:xlink:)?href|(?:form)?action|ping"
    r"|srcdoc|codebase|http-equiv|on\w+)\s*=",
    re.IGNORECASE,
)
_WIDE_STOPS = "。！？"
_SPECIAL = re.compile(
    rf"!(?=\[)|<|`|\s|S|\*(?=\*S)|[{_WIDE_STOPS}]|\[|\](?=[(:])|{URL_START}|{ACTIVE_SCHEMES}|{LINKING_COMMANDS}"
)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]*_]{0,4}$")
_OPEN_BRACKET = re.compile(rf"\[[^\]\n]{{0,{MAX_BRACKET_CHARS}}}$")
_IMAGE = re.compile(
    r"!\[(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+\](?P<to>\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+\)|\[[^\[\]]*+\])?",
    re.DOTALL,
)
_AUTOLINK = re.compile(r"<(?P<to>[a-z][a-z0-9+.-]{1,31}:[^\s<>]*+)>", re.IGNORECASE)
_CITATION = re.compile(r"!\[\s*(?:sources?|quellen?)?\s*#?\d", re.IGNORECASE)
_LOADER = re.compile(rf"</?{_LOADS}(?:[\s/>]|\Z)", re.IGNORECASE)
_TAG_BEGINS = re.compile(r"</?[a-z]|<[!?]", re.IGNORECASE)
_TAG = re.compile(r"</?(?P<name>[a-z][^\s/>]*+)(?:[^>=]|=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])))*+>", re.IGNORECASE)
"""A whole tag, as browsers read it: a value in quotation marks may hold its closing bracket."""


def sanitize(text: str, border: LinkPolicy | None = None) -> str:
    """Text that stands as it is, but that no reader of Markdown or HTML can load anything from, nor be led astray by."""
    border = border or LinkPolicy()
    plain = border.plain(text.replace("![", "! ["))
    return _TAG_BEGINS.sub(lambda begins: _separate_tag(plain, begins), plain)


def _separate_tag(text: str, begins: re.Match[str]) -> str:
    """A bracket that may begin a tag, set apart where that could do something or does not end here."""
    tag = _TAG.match(text, begins.start(), begins.start() + MAX_TAG_CHARS)
    return begins[0] if tag and not _is_active_tag(tag) and "=" not in tag[0] else f"< {begins[0][1:]}"


def _is_active_tag(tag: re.Match[str]) -> bool:
    """Whether a tag loads something, leads somewhere or is a program."""
    if tag["name"].lower() in _ACTS:
        return True
    return "=" in tag[0] and bool(_LOADER.match(tag[0]) or _LOADING_ATTRIBUTE.search(tag[0]))


@dataclass(slots=True)
class StretchState:
    """How far a stretch that has not ended yet was read, what it becomes up to there, and what may not pass."""

    border: LinkPolicy = field(default_factory=LinkPolicy)
    at: int = 0
    kept: list[str] = field(default_factory=list)


def next_stretch(
    raw: str, least: int, final: bool, *, fresh: bool, begun: StretchState | None = None
) -> tuple[int, str] | None:
    """The next stretch of prose: how long it is, and what it becomes; None where it has not ended yet.

    Where a `fresh` line begins with something that goes, the line begins after it. `begun` is where it was waited
    before, and is told where it is waited now: nothing is read twice because it came in small pieces. One that ends
    with the end of reasoning takes that mark along.
    """
    begun = begun or StretchState()
    at, kept = begun.at, list(begun.kept)
    while special := _SPECIAL.search(raw, at, max(at, MAX_WORD_CHARS) + LOOKAHEAD_CHARS):
        here = special.start()
        if here >= max(at, MAX_WORD_CHARS):
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
        if reasoned := REASONING_END.match(raw, here):
            return reasoned.end(), "".join(kept)
        thing = _read_element(raw, here, final, begun.border)
        if thing is None:
            begun.at, begun.kept = here, kept
            return None
        at, shown = thing
        if not shown and fresh and not "".join(kept).strip():
            return at, ""
        kept.append(shown or ("" if raw[here - 1 : here].isspace() else " "))  # what it kept apart stays apart
    end = max(at, MAX_WORD_CHARS)
    if not final and len(raw) <= end + LOOKAHEAD_CHARS:
        return None
    return min(end, len(raw)), "".join(kept) + raw[at:end]


def _may_end(raw: str, here: int, least: int) -> bool:
    """Whether to let go at this white space or wide full stop: never inside brackets, which may be a citation."""
    if raw[here] == "\n":
        return True
    if _OPEN_BRACKET.search(raw, max(0, here - MAX_BRACKET_CHARS - 1), here):
        return False
    return here >= least or raw[here] in _WIDE_STOPS or bool(_SENTENCE_END.search(raw, max(0, here - 6), here))


_Element = tuple[int, str] | None
"""Where something ends and what it becomes, nothing if it goes; None where more must be known first."""


def _read_element(raw: str, here: int, final: bool, border: LinkPolicy) -> _Element:
    """What begins here: an image, a tag, code, a link, an address, the marker of questions, or just a character."""
    kind, size = _ELEMENT_READERS.get(raw[here].lower(), (_read_character, LOOKAHEAD_CHARS))
    if raw[here] == "S":  # a marker has capital letters, and no scheme begins with one of these
        kind, size = _read_character, LOOKAHEAD_CHARS
    window = raw[here : here + size]
    found = kind(window, final or len(window) == size, border)
    return found and (here + found[0], found[1])


def _read_character(window: str, known: bool, _: LinkPolicy) -> _Element:
    return None if not known and any(marker.startswith(window) for marker in MARKERS) else (1, window[0])


def _read_image(window: str, known: bool, border: LinkPolicy) -> _Element:
    """An image goes; brackets after an exclamation mark stay, set apart."""
    block, blank, _ = window.partition("\n\n")  # no image goes on after a blank line
    known = known or bool(blank)
    image = _IMAGE.match(block)
    if not known and (image is None or (image["to"] is None and block[image.end() :][:1] in ("", "(", "["))):
        return None
    if image is None or image["to"] is None or (image["to"][0] == "[" and _CITATION.match(block)):
        return 1, "! "
    border.stopped.add("image")
    return image.end(), ""


def _read_tag(window: str, known: bool, border: LinkPolicy) -> _Element:
    """A tag that acts goes, one that is only named stays; one with values, or whose end cannot be seen, is set apart."""
    if not _TAG_BEGINS.match(window):
        return None if not known and window in ("<", "</") else (1, "<")
    if leads := _AUTOLINK.match(window):
        return (leads.end(), border.address(leads["to"])[1].rstrip()) if "://" in leads["to"] else (1, "< ")
    longest = MAX_IMAGE_CHARS if _LOADER.match(window) else MAX_TAG_CHARS
    block, blank, _ = window[:longest].partition("\n\n")
    tag = _TAG.match(block)
    if tag is None:
        return (1, "< ") if known or blank or len(block) == longest or window[1] in "!?" else None
    if _is_active_tag(tag):
        border.stopped.add("html")
        return tag.end(), ""
    return 1, "< " if "=" in tag[0] else "<"


def _read_code_span(window: str, known: bool, border: LinkPolicy) -> _Element:
    """Code between backticks on one line; backticks that nothing closes are themselves."""
    ticks = len(window) - len(window.lstrip("`"))
    line, newline, _ = window[ticks : ticks + MAX_CODE_CHARS].partition("\n")
    known = known or bool(newline) or len(line) == MAX_CODE_CHARS
    closing = re.search(rf"(?<!`)`{{{ticks}}}(?!`)", line)
    if not known and (closing is None or closing.end() == len(line)):
        return None
    if closing is None:
        return ticks, window[:ticks]
    code = window[: ticks + closing.end()]
    return len(code), sanitize(code, border)


def _read_bracket(window: str, known: bool, border: LinkPolicy) -> _Element:
    """A link on one line becomes what the border makes of it; any other bracket is itself."""
    label = _LABEL.match(window)
    if label is None:
        return 1, "["
    if not known and label.end() == len(window):
        return None
    if window[label.end() - 1] != "]" or window[label.end() : label.end() + 1] != "(":
        return 1, "["
    line, newline, _ = window.partition("\n")
    found = link_at(line)
    if found is None:
        return (1, "[") if known or newline else None
    return found.end(), border.link(found)


def _read_closing_bracket(window: str, known: bool, _: LinkPolicy) -> _Element:
    """What is left of a link that was none, and what may say where one leads, is set apart."""
    if window.startswith("]("):
        return 1, "] "
    leads = may_define_link(window, known)
    return None if leads is None else (1, "] " if leads else "]")


def _read_url(window: str, known: bool, border: LinkPolicy) -> _Element:
    """An address is itself where it is known, else its host; a scheme that acts is set apart."""
    if scheme := _SCHEME.match(window):
        return scheme.end(), border.apart(scheme[0])
    run = _RUN.match(window)
    if run is None or (not known and run.end() == len(window)):
        return None if run else (1, window[0])
    if run.end() == MAX_URL_CHARS:  # where it ends is not to be seen, so nothing says that it is known
        return run.end(), f"{LinkPolicy(stopped=border.stopped).address(run[0])[1]} "
    return border.address(run[0])


def _read_command(window: str, _known: bool, _: LinkPolicy) -> _Element:
    return 1, "\\ "


_LABEL = re.compile(rf"\[(?:[^\[\]\\`<\n]|\\.){{0,{MAX_BRACKET_CHARS}}}+\]?")
_SCHEME = re.compile(ACTIVE_SCHEMES)
_RUN = re.compile(r"[^\s<]+")
_ELEMENT_READERS: Mapping[str, tuple[Callable[[str, bool, LinkPolicy], _Element], int]] = {
    "!": (_read_image, MAX_IMAGE_CHARS),
    "<": (_read_tag, MAX_IMAGE_CHARS),
    "`": (_read_code_span, 2 * MAX_CODE_CHARS),
    "[": (_read_bracket, MAX_IMAGE_CHARS),
    "]": (_read_closing_bracket, MAX_LABEL_CHARS),
    "\\": (_read_command, LOOKAHEAD_CHARS),
    **dict.fromkeys("hfwjvld", (_read_url, MAX_URL_CHARS)),
}
"""How to read what begins with a character, and how far it may go."""
