"""Parses Markdown, with metadata from its YAML front matter."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

import yaml

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.text.charset import decode
from pincite.text.markdown_blocks import blocks

_FRONT_MATTER = re.compile(r"---\n(?P<yaml>.{0,65536}?)^(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_URL_FIELDS = ("source_urls", "source_url", "urls", "url", "source")


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Markdown:
    """Parses Markdown; the front matter stays in the text, so that line numbers are those of the file."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"text/markdown": ".md .markdown .mdx"}

    def parse(self, data: bytes) -> Parsed:
        """The normalized text, with title, author and other metadata from the front matter or the first heading."""
        text = decode(data)
        fields, body_start = _front_matter(text)
        if not text[body_start:].strip():
            raise Unreadable("there is no text in the file", code="empty")
        return Parsed(
            text=text,
            markup="markdown",
            title=_first_value(fields, "title") or _first_heading(text, body_start),
            author=", ".join(_list(fields, "author") or _list(fields, "authors")) or None,
            description=_first_value(fields, "description", "summary"),
            category=_first_value(fields, "category"),
            tags=_tags(fields.get("tags")),
            source_urls=_urls(fields),
            body_start=body_start,
        )


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Markdown()


def _front_matter(text: str) -> tuple[dict[str, Any], int]:
    """The fields and the offset at which the content starts; front matter that is not YAML counts as content."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, 0
    try:
        fields = yaml.safe_load(match["yaml"])
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError):
        # PyYAML also raises the errors of impossible dates and of deep nesting.
        return {}, 0
    if fields is None:
        return {}, match.end()
    return (fields, match.end()) if isinstance(fields, dict) else ({}, 0)


def _first_heading(text: str, start: int) -> str | None:
    headings = (block for block in blocks(text, "markdown", start) if block.kind == "heading" and block.level == 1)
    return next((heading.title for heading in headings if heading.title), None)


def _one_line(value: object) -> str | None:
    """A scalar value on one line; None where it is empty or not a scalar."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        return None
    return " ".join(str(value).split()) or None


def _first_value(fields: Mapping[str, Any], *keys: str) -> str | None:
    return next((words for key in keys if (words := _one_line(fields.get(key)))), None)


def _list(fields: Mapping[str, Any], key: str) -> list[str]:
    """The values of a field that holds one value or a list."""
    value = fields.get(key)
    return [words for one in (value if isinstance(value, list) else [value]) if (words := _one_line(one))]


def _tags(value: object) -> tuple[str, ...]:
    """The tags of a list or a comma-separated string, without duplicates."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(words for one in given if (words := _one_line(one))))


def _urls(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The web addresses in the URL fields, without duplicates."""
    given = [url for key in _URL_FIELDS for url in _list(fields, key)]
    return tuple(dict.fromkeys(url for url in given if _is_web_address(url)))


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in url
