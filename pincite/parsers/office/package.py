"""Office files: an archive whose XML parts refer to each other; nothing they refer to outside of it is ever followed."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.writer import one_line
from pincite.parsers.office.zip_safety import Archive

Element = Any
"""An element of lxml's; the library has no types of its own."""

_ROOT = ""
_NO_TITLE = re.compile(
    r"untitled.*|(?:powerpoint[ -])?pr[eä]sentation|word document|microsoft \w+ - .*|(?:slide|folie) \d+|\S+\.(?:doc|ppt|xls)[xm]?",
    re.IGNORECASE,
)
"""What programs write where nobody gave a title."""
_NOT_WORDS = re.compile(
    r"^\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)$|automatically generated|automatisch generiert", re.IGNORECASE
)
"""Descriptions that are a file's name, or that a program guessed."""
_WHOLE = re.compile(r"[0-9]{1,12}")
_KINDS = {"document": "a Word document", "presentation": "a presentation", "workbook": "a workbook"}


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to: another part by its name, or, where it is `outside`, an address."""

    kind: str
    target: str
    outside: bool


@dataclass(frozen=True, slots=True)
class About:
    """What a file says about itself."""

    title: str | None = None
    author: str | None = None
    description: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()

    def parsed(self, text: str, pages: tuple[Page, ...], title: str = "") -> Parsed:
        """The file as text with this; `title` is what to call it where it says nothing."""
        title = self.title or title
        return Parsed(
            text, "markdown", title or None, self.author, self.description, self.category, self.tags, pages=pages
        )


class Office:
    """The parts of an Office file. Names are those of elements without their namespace: strict and usual files alike."""

    def __init__(self, data: bytes, root: str) -> None:
        self.archive = Archive(data)
        mains = [relation for relation in self.relations(_ROOT).values() if relation.kind == "officeDocument"]
        if not mains or mains[0].target not in self.archive:
            raise Unreadable("it is not an Office document, whatever its name says", code="broken")
        self.main = mains[0].target
        if self.main.endswith(".bin"):
            raise Unreadable("it is a binary workbook; save it as .xlsx and add it again", code="broken")
        self.document = self.archive.xml(self.main)
        if local(self.document) != root:
            found = _KINDS.get(local(self.document), "something else")
            raise Unreadable(f"it is {found}, not {_KINDS[root]}; give it the ending it should have", code="broken")

    def relations(self, part: str) -> dict[str, Relation]:
        """What a part refers to, by id; empty where it refers to nothing."""
        folder, name = posixpath.split(part)
        path = posixpath.join(folder, "_rels", f"{name}.rels")
        if path not in self.archive:
            return {}
        return {
            element.get("Id", ""): _relation(element, folder)
            for element in self.archive.xml(path)
            if local(element) == "Relationship"
        }

    def related(self, part: str, kind: str) -> Iterator[str]:
        """Names of the parts of a kind that a part refers to and that are there."""
        for relation in self.relations(part).values():
            if relation.kind == kind and not relation.outside and relation.target in self.archive:
                yield relation.target

    def about(self) -> About:
        """Title, author, description and keywords from the core properties."""
        part = next(self.related(_ROOT, "core-properties"), None)
        if part is None:
            return About()
        found = {local(element): one_line("".join(element.itertext())) for element in self.archive.xml(part)}
        words = (found.get("keywords") or "").replace(";", ",").split(",")
        return About(
            title=None if _NO_TITLE.fullmatch(found.get("title", "")) else found.get("title") or None,
            author=found.get("creator") or None,
            description=found.get("description") or found.get("subject") or None,
            category=found.get("category") or None,
            tags=tuple(dict.fromkeys(word.strip() for word in words if word.strip())),
        )


def _relation(element: Element, folder: str) -> Relation:
    target = element.get("Target", "")
    kind = element.get("Type", "").rpartition("/")[2]
    if element.get("TargetMode") == "External":
        return Relation(kind, target, outside=True)
    path = unquote(target.partition("#")[0])
    return Relation(kind, posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/"), outside=False)


def local(element: Element) -> str:
    """An element's name without its namespace."""
    return _local(element.tag) if isinstance(element.tag, str) else ""


@lru_cache(maxsize=4096)
def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def attribute(element: Element, name: str, default: str = "") -> str:
    """An attribute by its name without namespace."""
    plain = element.get(name)
    if plain is not None:
        return str(plain)
    return next((str(value) for key, value in element.items() if _local(key) == name), default)


def child(element: Element | None, *path: str) -> Element | None:
    """The first descendant along a path of names; None where there is none."""
    for name in path:
        if element is None:
            return None
        element = next((one for one in element if local(one) == name), None)
    return element


def children(element: Element | None, name: str) -> Iterator[Element]:
    """The direct children of a name."""
    return (one for one in (() if element is None else element) if local(one) == name)


def value(element: Element | None, *path: str) -> str:
    """The `val` of the first descendant along a path; empty where there is none."""
    found = child(element, *path)
    return "" if found is None else attribute(found, "val")


def whole(text: str, otherwise: int = 0) -> int:
    """A whole number of up to twelve digits, not below zero; something else where the text is none."""
    return int(text) if _WHOLE.fullmatch(text) else otherwise


def chosen(element: Element) -> Element | None:
    """Which of the alternatives of an `AlternateContent` counts: the first choice, else the fallback."""
    found = child(element, "Choice")
    return child(element, "Fallback") if found is None else found


def picture(about: Element | None) -> str:
    """What somebody wrote about a picture for those who cannot see it; empty where only a program did."""
    words = one_line("" if about is None else attribute(about, "descr"))
    return "" if len(words) < 2 or _NOT_WORDS.search(words) else f"(picture: {words})"


def relation_id(element: Element) -> str:
    """The id of a relation, which shares its name with the element's own."""
    return next((str(text) for key, text in element.items() if key.endswith("}id")), "")


def links_of(office: Office, part: str) -> dict[str, str]:
    """Addresses outside of the file that a part's links lead to, by id; they are written down and never followed."""
    relations = office.relations(part).items()
    return {name: one.target for name, one in relations if one.outside and one.kind == "hyperlink"}
