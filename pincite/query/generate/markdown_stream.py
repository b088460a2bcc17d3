"""Streamed Markdown: split prose into stretches, and remove or defuse images, tags and links in it.

Where more text is needed to decide, the stretch waits for it; the wait is limited, since every element has a maximum
length.
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
"""Text without white space is cut after this many characters."""
MAX_IMAGE_CHARS, MAX_TAG_CHARS, MAX_CODE_CHARS, MAX_BRACKET_CHARS, MAX_LABEL_CHARS = 4000, 500, 300, 200, 120
"""Longer text is not read as an image, a tag, a code span, a bracket or a link definition."""
QUESTIONS_MARKER = "SUGGESTED_QUESTIONS"
MARKERS = (f"**{QUESTIONS_MARKER}", QUESTIONS_MARKER)
"""The markers before the questions that a model suggests."""
LOOKAHEAD_CHARS = 32
"""Characters after a word that any decision needs at most."""

REASONING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
"""The tag at the end of a model's reasoning."""

_LOADS = (
    r"(?:img|image|picture|source|track|svg|use|feimage|video|audio|iframe|frame|object|embed|input|link|meta|base|style"
    r"|script)"
)
_ACTS = frozenset({"style", "script"})
"""Tags that have an effect even without attributes."""
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
_OPEN_BRACKET = re.compile(
    rf"(?:\[[^\]\n]{{0,{MAX_BRACKET_CHARS}}}|【[^】\n]{{0,{MAX_BRACKET_CHARS}}}|\((?:sources?|quellen?)(?:\s[^()\n]{{0,60}})?)$",
    re.IGNORECASE,
)
"""What may become a citation mark."""
_IMAGE = re.compile(
    r"!\[(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+\](?P<to>\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+\)|\[[^\[\]]*+\])?",
    re.DOTALL,
)
_AUTOLINK = re.compile(r"<(?P<to>[a-z][a-z0-9+.-]{1,31}:[^\s<>]*+)>", re.IGNORECASE)
_CITATION = re.compile(r"!\[\s*(?:sources?|quellen?)?\s*#?\d", re.IGNORECASE)
_LOADER = re.compile(rf"</?{_LOADS}(?:[\s/>]|\Z)", re.IGNORECASE)
_TAG_BEGINS = re.compile(r"</?[a-z]|<[!?]", re.IGNORECASE)
_TAG = re.compile(r"</?(?P<name>[a-z][^\s/>]*+)(?:[^>=]|=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])))*+>", re.IGNORECASE)
"""A complete tag as browsers parse it: a quoted value may contain `>`."""


def sanitize(text: str, policy: LinkPolicy | None = None) -> str:
    """The text with images, active tags and links defused: renderers load nothing and link to no other URLs."""
    policy = policy or LinkPolicy()
    plain = policy.clean(text.replace("![", "! ["))
    return _TAG_BEGINS.sub(lambda start_of_tag: _separate_tag(plain, start_of_tag), plain)


def _separate_tag(text: str, start_of_tag: re.Match[str]) -> str:
    """The start of a tag; with a blank after `<` where the tag has an effect or attributes, or is not complete."""
    tag = _TAG.match(text, start_of_tag.start(), start_of_tag.start() + MAX_TAG_CHARS)
    return start_of_tag[0] if tag and not _is_active_tag(tag) and "=" not in tag[0] else f"< {start_of_tag[0][1:]}"


def _is_active_tag(tag: re.Match[str]) -> bool:
    """Whether a tag loads something, links somewhere or runs code."""
    if tag["name"].lower() in _ACTS:
        return True
    return "=" in tag[0] and bool(_LOADER.match(tag[0]) or _LOADING_ATTRIBUTE.search(tag[0]))


@dataclass(slots=True)
class StretchState:
    """The state of a stretch that has not ended: the position reached, the output so far, and the link policy."""

    policy: LinkPolicy = field(default_factory=LinkPolicy)
    position: int = 0
    output: list[str] = field(default_factory=list)


def next_stretch(
    raw: str, min_chars: int, final: bool, *, fresh: bool, before: str = "", state: StretchState | None = None
) -> tuple[int, str] | None:
    """The length of the next stretch of prose in `raw` and its output; None where it has not ended yet.

    `before` is the character before the stretch. A removed element at the start of a `fresh` line is a stretch of its own, and the line begins after it. `state`
    keeps the position between calls, so that no text is read twice. A tag that ends the reasoning is part of the
    stretch.
    """
    state = state or StretchState()
    position, output = state.position, list(state.output)
    while special := _SPECIAL.search(raw, position, max(position, MAX_WORD_CHARS) + LOOKAHEAD_CHARS):
        start = special.start()
        if start >= max(position, MAX_WORD_CHARS):
            break
        output.append(raw[position:start])
        if special[0].isspace() or special[0] in _WIDE_STOPS:
            output.append(special[0])
            position = start + 1
            if _may_end(raw, start, min_chars, fresh):
                return position, "".join(output)
            continue
        if raw.startswith(MARKERS, start):
            before_marker = "".join(output)
            return start, "" if fresh and not before_marker.strip(" \t#") else before_marker  # as a heading
        if end_tag := REASONING_END.match(raw, start):
            return end_tag.end(), "".join(output)
        element = _read_element(raw, start, final, state.policy)
        if element is None:
            state.position, state.output = start, output
            return None
        position, shown = element
        if not shown and fresh and not "".join(output).strip():
            return position, ""
        # The texts before and after a removed element stay separate words.
        output.append(shown or ("" if (raw[start - 1] if start else before).isspace() else " "))
    end = max(position, MAX_WORD_CHARS)
    if not final and len(raw) <= end + LOOKAHEAD_CHARS:
        return None
    return min(end, len(raw)), "".join(output) + raw[position:end]


def _may_end(raw: str, start: int, min_chars: int, fresh: bool) -> bool:
    """Whether a stretch may end at this white space or wide full stop.

    Never inside brackets (a citation), nor before the first word of a line or heading: that word may define a footnote,
    or be the marker of questions.
    """
    if raw[start] == "\n":
        return True
    if fresh and not raw[:start].strip(" \t>#"):
        return False
    if _OPEN_BRACKET.search(raw, max(0, start - MAX_BRACKET_CHARS - 1), start):
        return False
    return start >= min_chars or raw[start] in _WIDE_STOPS or bool(_SENTENCE_END.search(raw, max(0, start - 6), start))


_Element = tuple[int, str] | None
"""Length and output of an element, the output being empty where it is removed; None where more text is needed."""


def _read_element(raw: str, start: int, final: bool, policy: LinkPolicy) -> _Element:
    """The element at this position: image, tag, code span, link, URL, marker of questions, or a single character."""
    kind, size = _ELEMENT_READERS.get(raw[start].lower(), (_read_character, LOOKAHEAD_CHARS))
    if raw[start] == "S":  # markers are in capitals; schemes do not begin with a capital
        kind, size = _read_character, LOOKAHEAD_CHARS
    window = raw[start : start + size]
    found = kind(window, final or len(window) == size, policy)
    return found and (start + found[0], found[1])


def _read_character(window: str, complete: bool, _: LinkPolicy) -> _Element:
    return None if not complete and any(marker.startswith(window) for marker in MARKERS) else (1, window[0])


def _read_image(window: str, complete: bool, policy: LinkPolicy) -> _Element:
    """An image is removed; other brackets after an exclamation mark are kept, separated by a blank."""
    block, blank, _ = window.partition("\n\n")  # a blank line ends an image
    complete = complete or bool(blank)
    image = _IMAGE.match(block)
    if not complete and (image is None or (image["to"] is None and block[image.end() :][:1] in ("", "(", "["))):
        return None
    if image is None or image["to"] is None or (image["to"][0] == "[" and _CITATION.match(block)):
        return 1, "! "
    policy.removed.add("image")
    return image.end(), ""


def _read_tag(window: str, complete: bool, policy: LinkPolicy) -> _Element:
    """An active tag is removed, a plain one kept; one with attributes or without an end gets a blank after `<`."""
    if not _TAG_BEGINS.match(window):
        return None if not complete and window in ("<", "</") else (1, "<")
    if autolink := _AUTOLINK.match(window):
        return (
            (autolink.end(), policy.replace_url(autolink["to"])[1].rstrip()) if "://" in autolink["to"] else (1, "< ")
        )
    longest = MAX_IMAGE_CHARS if _LOADER.match(window) else MAX_TAG_CHARS
    block, blank, _ = window[:longest].partition("\n\n")
    tag = _TAG.match(block)
    if tag is None:
        return (1, "< ") if complete or blank or len(block) == longest or window[1] in "!?" else None
    if _is_active_tag(tag):
        policy.removed.add("html")
        return tag.end(), ""
    return 1, "< " if "=" in tag[0] else "<"


def _read_code_span(window: str, complete: bool, policy: LinkPolicy) -> _Element:
    """Code between backticks on one line; unclosed backticks are kept as text."""
    ticks = len(window) - len(window.lstrip("`"))
    line, newline, _ = window[ticks : ticks + MAX_CODE_CHARS].partition("\n")
    complete = complete or bool(newline) or len(line) == MAX_CODE_CHARS
    closing = re.search(rf"(?<!`)`{{{ticks}}}(?!`)", line)
    if not complete and (closing is None or closing.end() == len(line)):
        return None
    if closing is None:
        return ticks, window[:ticks]
    code = window[: ticks + closing.end()]
    return len(code), sanitize(code, policy)


def _read_bracket(window: str, complete: bool, policy: LinkPolicy) -> _Element:
    """A link on one line is replaced by the link policy; any other bracket is kept."""
    label = _LABEL.match(window)
    if label is None:
        return 1, "["
    if not complete and label.end() == len(window):
        return None
    if window[label.end() - 1] != "]" or window[label.end() : label.end() + 1] != "(":
        return 1, "["
    line, newline, _ = window.partition("\n")
    found = link_at(line)
    if found is None:
        return (1, "[") if complete or newline else None
    return found.end(), policy.replace_link(found)


def _read_closing_bracket(window: str, complete: bool, _: LinkPolicy) -> _Element:
    """A closing bracket gets a blank where it could form a link or a link definition."""
    if window.startswith("]("):
        return 1, "] "
    defines = may_define_link(window, complete)
    return None if defines is None else (1, "] " if defines else "]")


def _read_url(window: str, complete: bool, policy: LinkPolicy) -> _Element:
    """An allowed URL is kept, another one cut to its host; an active scheme is defused."""
    if scheme := _SCHEME.match(window):
        return scheme.end(), policy.defuse_scheme(scheme[0])
    run = _RUN.match(window)
    if run is None or (not complete and run.end() == len(window)):
        return None if run else (1, window[0])
    if run.end() == MAX_URL_CHARS:  # it is not complete, so it cannot be allowed
        return run.end(), f"{LinkPolicy(removed=policy.removed).replace_url(run[0])[1]} "
    return policy.replace_url(run[0])


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
"""The reader of an element by its first character, and the maximum length that it sees."""
