"""What a web page says about itself: title, author, description, keywords, its address."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.parsers.markdown_out.writer import one_line
from pincite.parsers.webpage.inline import on_one_line, resolved
from pincite.parsers.webpage.tree import Element, words

_WEB = re.compile(r"https?://[^\s/]+", re.IGNORECASE)
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Head:
    """A page's own words about itself; `base` is what its relative links count from."""

    title: str = ""
    author: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    address: str = ""
    base: str = ""


def head_of(html: Element) -> Head:
    """What the elements of a page's head say."""
    found: dict[str, list[str]] = {}
    title = base = canonical = ""
    for element in html.elements():
        if element.tag == "body":
            break
        if element.tag == "meta":
            name = (element.get("name") or element.get("property") or element.get("itemprop")).lower()
            found.setdefault(name, []).append(one_line(element.get("content"))[:_LONGEST])
        elif element.tag == "title" and not title:
            title = one_line(words(element))[:_LONGEST]
        elif element.tag == "base" and not base:
            base = element.get("href").strip()
        elif element.tag == "link" and "canonical" in element.get("rel").lower().split():
            canonical = canonical or element.get("href").strip()
    address = canonical if _WEB.match(canonical) else _first(found, "og:url")
    address = address if _WEB.match(address) else ""
    base = resolved(base, address)
    return Head(
        title=title or _first(found, "og:title", "twitter:title", "dc.title", "citation_title"),
        author=_author(found),
        description=_first(found, "description", "og:description", "twitter:description", "dc.description"),
        tags=_tags(found),
        address=address,
        base=base if _WEB.match(base) else address,
    )


def title_of(head: Head, heading: Element | None) -> str:
    """What to call a page: its main heading where its title is that and then the name of the site, else its title.

    What stands before the heading in the title may stand nowhere else, such as a version.
    """
    shown = one_line(on_one_line(heading)) if heading is not None else ""
    if shown and (not head.title or head.title.casefold().startswith(shown.casefold())):
        return shown
    return head.title


def _author(found: Mapping[str, list[str]]) -> str:
    names = ("author", "article:author", "dc.creator", "citation_author", "parsely-author")
    given = next((found[name] for name in names if any(found.get(name, ()))), [])
    return ", ".join(dict.fromkeys(name for name in given if name and not _WEB.match(name)))


def _tags(found: Mapping[str, list[str]]) -> tuple[str, ...]:
    given = [word for words in found.get("keywords", ()) for word in words.split(",")]
    given += found.get("article:tag", [])
    return tuple(dict.fromkeys(tag for word in given if (tag := word.strip())))[:100]


def _first(found: Mapping[str, list[str]], *names: str) -> str:
    return next((value for name in names for value in found.get(name, ()) if value), "")
