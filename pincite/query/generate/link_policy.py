"""The link policy of answers: no invented URLs, and no links that execute something.

A link is kept only where its exact URL is in the input of the model, so that a URL cannot leak data. Any other URL is
cut to its host. A link that is kept shows its host.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

MAX_URL_CHARS = 2000
"""A longer URL is cut."""

URL_START = r"(?i:(?:https?|ftp)://|(?<![\w.@-])www\.)"
"""What Markdown renderers take for the start of a URL in plain text."""
ACTIVE_SCHEMES = r"(?i:(?:javascript|vbscript|livescript):|data:(?=[\w.+-]{1,40}/))"
"""URL schemes that execute code or load data."""
LINKING_COMMANDS = r"\\(?=href|url|includegraphics|html[A-Z])"
"""LaTeX commands that create a link or load a file."""

RemovedKind = Literal["image", "html", "link", "address"]
WARNINGS: Mapping[RemovedKind, str] = {
    "image": "an image was removed from the answer",
    "html": "HTML was removed from the answer",
    "link": "a link that leads to no web page was removed from the answer",
    "address": "a URL that is in no source was cut to its host",
}

_ADDRESS = re.compile(rf"{URL_START}[^\s<>\"'`\\|\[\]{{}}^]*")
_ACTS, _COMMANDS = re.compile(ACTIVE_SCHEMES), re.compile(LINKING_COMMANDS)
_LINK = re.compile(
    r"\[(?P<text>(?:[^\[\]\\`<\n]|\\.)*+)\]"
    r"\([ \t]*+(?:<(?P<pointed>[^<>\n]*+)>|(?P<to>(?:[^\s()<>\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+))"
    r"(?:[ \t]++(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|\((?:[^()\\\n]|\\.)*+\)))?[ \t]*+\)"
)
_MARK = re.compile(r"(?:sources?|quellen?)?\s*#?\d{1,3}(?:\s*(?:,|;|and|und|&)\s*\d{1,3})*", re.IGNORECASE)
_RELATIVE = re.compile(r"[\w\-./#?=+, ]*")
_DEFINES = re.compile(r"\]:[ \t]*+\n?[ \t]*+(?P<to>\S++)")
_BLANK = re.compile(r"[ \t]*+\n[ \t]*+\n")
_PLAIN_WORD = re.compile(r"[^\W_][\w'’-]*[.,;:!?]?")
_AFTER = re.compile(r"[)\].,;:!?*_~'\"]*")
"""Characters that may follow a URL without being part of it."""


@dataclass(slots=True)
class LinkPolicy:
    """The URLs that an answer may link to; `removed` collects the kinds of things that were removed."""

    allowed: frozenset[str] = frozenset()
    removed: set[RemovedKind] = field(default_factory=set)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings about what was removed."""
        return tuple(warning for kind, warning in WARNINGS.items() if kind in self.removed)

    @classmethod
    def allowing(cls, texts: Iterable[str]) -> "LinkPolicy":
        """A policy that allows the URLs in these texts."""
        found = {_trim_punctuation(url[0]) for text in texts for url in _ADDRESS.finditer(text)}
        return cls(frozenset(found))

    def clean(self, text: str) -> str:
        """The text without links that are not allowed and without active schemes; all other text is unchanged."""
        kept, at = list[str](), 0
        for found in _LINK.finditer(text):
            if self._is_allowed(_target(found)):
                kept += [self._clean_text(text[at : found.start()]), self.replace_link(found)]
                at = found.end()
        return "".join([*kept, self._clean_text(text[at:])])

    def _clean_text(self, text: str) -> str:
        """Text between links, in which no brackets can form a link and no URL is left that is not allowed."""
        text = _DEFINES.sub(lambda found: found[0] if _is_plain_word(found["to"]) else f"] {found[0][1:]}", text)
        text = _ADDRESS.sub(lambda found: self._allow_or_cut(found[0]), text.replace("](", "] ("))
        return _COMMANDS.sub(r"\\ ", _ACTS.sub(lambda found: self.defuse_scheme(found[0]), text))

    def _is_allowed(self, target: str) -> bool:
        return (
            target in self.allowed
            and bool(host_of(target))
            and "@" not in urlsplit(target).netloc
            and "\\" not in target
        )

    def replace_link(self, found: re.Match[str]) -> str:
        """The replacement of a link: with its host, as text with the host, or as text; citation marks are kept."""
        text, target = found["text"], _target(found)
        if _MARK.fullmatch(text.strip()):
            return f"[{text}]"
        words, host = self._clean_text(text), host_of(target).removeprefix("www.")
        label = words if words.strip() in (host, target) else f"{words} ({host or target})".strip()
        if self._is_allowed(target):
            return f"[{label}]({_escape_parentheses(target)})"
        self.removed.add("address" if host else "link")
        return label if host or _RELATIVE.fullmatch(target) else words

    def replace_url(self, run: str) -> tuple[int, str]:
        """The length of the URL at the start of `run`, and its replacement."""
        found = _ADDRESS.match(run)
        if found is None:
            return 1, run[0]
        url = _trim_punctuation(found[0])
        after = _AFTER.match(run, len(url))
        end = after.end() if after else len(url)
        shown = self._allow_or_cut(url) + run[len(url) : end]
        return end, shown + (" " if run[end:] else "")  # adjacent text must not become part of the URL

    def _allow_or_cut(self, run: str) -> str:
        url = _trim_punctuation(run)
        if self._is_allowed(url):
            return run
        self.removed.add("address")
        host = host_of(url if "://" in url else f"http://{url}")
        return (host or "(address)").removeprefix("www.") + run[len(url) :]

    def defuse_scheme(self, scheme: str) -> str:
        """An active scheme with a blank before its colon, which makes it plain text."""
        self.removed.add("link")
        return f"{scheme[:-1]} :"


def _target(link: re.Match[str]) -> str:
    target: str = link["to"] if link["pointed"] is None else link["pointed"]
    return target


def link_at(window: str) -> re.Match[str] | None:
    """The Markdown link at the start of a text."""
    return _LINK.match(window)


def may_define_link(window: str, whole: bool) -> bool | None:
    """Whether a closing bracket and colon may be a link definition; None where more text is needed to decide."""
    found = _DEFINES.match(window)
    if not whole and (found is None or found.end() == len(window)) and not _BLANK.match(window, 2):
        return None
    return found is not None and not _is_plain_word(found["to"])


def host_of(url: str) -> str:
    """The host of a URL in ASCII (IDNA), which no other letters can imitate; empty where it is not a web URL."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https", "ftp") or not host:
        return ""
    if host.isascii():
        return host if re.fullmatch(r"[\w.:-]+", host) else ""
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return ""


def _is_plain_word(target: str) -> bool:
    return bool(_PLAIN_WORD.fullmatch(target))


def _trim_punctuation(run: str) -> str:
    """A URL without the punctuation after it; a closing bracket is part of it where it was opened in it."""
    end, unopened = len(run), run.count(")") - run.count("(")
    while end and run[end - 1] in ").,;:!?*_~" and (run[end - 1] != ")" or unopened > 0):
        unopened -= run[end - 1] == ")"
        end -= 1
    return run[:end]


def _escape_parentheses(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")
