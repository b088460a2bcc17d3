"""What may not leave in an answer: addresses that a model made up, and links that do more than lead somewhere.

A link works only where its address stands, letter for letter, in what the model was given: an address that carries
something away cannot. Any other is cut to its host. Whatever is kept says where it leads.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

MAX_URL_CHARS = 2000
"""One that has not ended by then is cut."""

URL_START = r"(?i:(?:https?|ftp)://|(?<![\w.@-])www\.)"
"""What readers of Markdown take for the beginning of an address, wherever it stands."""
ACTIVE_SCHEMES = r"(?i:(?:javascript|vbscript|livescript):|data:(?=[\w.+-]{1,40}/))"
"""Schemes that do something by themselves."""
LINKING_COMMANDS = r"\\(?=href|url|includegraphics|html[A-Z])"
"""Commands by which a formula links or loads."""

RemovedKind = Literal["image", "html", "link", "address"]
WARNINGS: Mapping[RemovedKind, str] = {
    "image": "an image was taken out of the answer",
    "html": "HTML was taken out of the answer",
    "link": "a link that leads to no web page was taken out of the answer",
    "address": "an address that stands in no source was cut to its host",
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
"""What may follow an address without belonging to it."""


@dataclass(slots=True)
class LinkPolicy:
    """What is known here may leave; `stopped` remembers what was held back, in words."""

    known: frozenset[str] = frozenset()
    stopped: set[RemovedKind] = field(default_factory=set)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know was held back."""
        return tuple(said for kind, said in WARNINGS.items() if kind in self.stopped)

    @classmethod
    def around(cls, texts: Iterable[str]) -> "LinkPolicy":
        """A border that lets those addresses pass that stand in these texts."""
        found = {_trim_punctuation(address[0]) for text in texts for address in _ADDRESS.finditer(text)}
        return cls(frozenset(found))

    def plain(self, text: str) -> str:
        """A whole text in which no link works that may not, and none acts; what is only read stays as it is."""
        kept, at = list[str](), 0
        for found in _LINK.finditer(text):
            if self._passes(_target(found)):
                kept += [self._unlinked(text[at : found.start()]), self.link(found)]
                at = found.end()
        return "".join([*kept, self._unlinked(text[at:])])

    def _unlinked(self, text: str) -> str:
        """Text between links: brackets that only look like one are set apart."""
        text = _DEFINES.sub(lambda found: found[0] if _is_plain_word(found["to"]) else f"] {found[0][1:]}", text)
        text = _ADDRESS.sub(lambda found: self._kept_or_cut(found[0]), text.replace("](", "] ("))
        return _COMMANDS.sub(r"\\ ", _ACTS.sub(lambda found: self.apart(found[0]), text))

    def _passes(self, to: str) -> bool:
        return to in self.known and bool(host_of(to)) and "@" not in urlsplit(to).netloc and "\\" not in to

    def link(self, found: re.Match[str]) -> str:
        """What becomes of a link: itself with its host, its words with the host, its words alone; a citation is kept."""
        text, to = found["text"], _target(found)
        if _MARK.fullmatch(text.strip()):
            return f"[{text}]"
        words, host = self._unlinked(text), host_of(to).removeprefix("www.")
        said = words if words.strip() in (host, to) else f"{words} ({host or to})".strip()
        if self._passes(to):
            return f"[{said}]({_escape_parentheses(to)})"
        self.stopped.add("address" if host else "link")
        return said if host or _RELATIVE.fullmatch(to) else words

    def address(self, run: str) -> tuple[int, str]:
        """How long the address is that this run begins with, and what is shown of it."""
        found = _ADDRESS.match(run)
        if found is None:
            return 1, run[0]
        url = _trim_punctuation(found[0])
        after = _AFTER.match(run, len(url))
        end = after.end() if after else len(url)
        shown = self._kept_or_cut(url) + run[len(url) : end]
        return end, shown + (" " if run[end:] else "")  # what stands close by is no part of it

    def _kept_or_cut(self, run: str) -> str:
        url = _trim_punctuation(run)
        if self._passes(url):
            return run
        self.stopped.add("address")
        host = host_of(url if "://" in url else f"http://{url}")
        return (host or "(address)").removeprefix("www.") + run[len(url) :]

    def apart(self, scheme: str) -> str:
        """A scheme that acts, no longer one."""
        self.stopped.add("link")
        return f"{scheme[:-1]} :"


def _target(link: re.Match[str]) -> str:
    to: str = link["to"] if link["pointed"] is None else link["pointed"]
    return to


def link_at(window: str) -> re.Match[str] | None:
    """The link that a text begins with."""
    return _LINK.match(window)


def may_define_link(window: str, whole: bool) -> bool | None:
    """Whether a closing bracket and colon may define where a link leads; None where more must be known."""
    found = _DEFINES.match(window)
    if not whole and (found is None or found.end() == len(window)) and not _BLANK.match(window, 2):
        return None
    return found is not None and not _is_plain_word(found["to"])


def host_of(address: str) -> str:
    """The host an address really leads to, in letters that cannot be mistaken; nothing where it is no web address."""
    try:
        parts = urlsplit(address)
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


def _is_plain_word(to: str) -> bool:
    return bool(_PLAIN_WORD.fullmatch(to))


def _trim_punctuation(run: str) -> str:
    """An address without the punctuation after it; a closing bracket belongs to it where it was opened in it."""
    end, unopened = len(run), run.count(")") - run.count("(")
    while end and run[end - 1] in ").,;:!?*_~" and (run[end - 1] != ")" or unopened > 0):
        unopened -= run[end - 1] == ")"
        end -= 1
    return run[:end]


def _escape_parentheses(address: str) -> str:
    return address.replace("(", "%28").replace(")", "%29")
