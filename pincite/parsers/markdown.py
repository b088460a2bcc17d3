"""Markdown, with what its YAML front matter says about the document."""

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
_URL_KEYS = ("source_urls", "source_url", "urls", "url", "source")


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


class Markdown:
    """Reads Markdown; the front matter stays in the text, so that lines are the file's own."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"text/markdown": ".md .markdown .mdx"}

    def parse(self, data: bytes) -> Parsed:
        """The text, normalised, with title, author and the like from its front matter or first heading."""
        text = decode(data)
        fields, body_start = _front_matter(text)
        if not text[body_start:].strip():
            raise Unreadable("there is no text in the file", code="empty")
        return Parsed(
            text=text,
            markup="markdown",
            title=_first(fields, "title") or _first_heading(text, body_start),
            author=", ".join(_list(fields, "author") or _list(fields, "authors")) or None,
            description=_first(fields, "description", "summary"),
            category=_first(fields, "category"),
            tags=_tags(fields.get("tags")),
            source_urls=_urls(fields),
            body_start=body_start,
        )


def make_parser(options: Options) -> Parser:
    """Build the parser."""
    return Markdown()


def _front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Fields and where the content begins; front matter that is not YAML is content."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, 0
    try:
        fields = yaml.safe_load(match["yaml"])
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError):
        # Besides its own errors, PyYAML lets those of impossible dates and of deep nesting through.
        return {}, 0
    if fields is None:
        return {}, match.end()
    return (fields, match.end()) if isinstance(fields, dict) else ({}, 0)


def _first_heading(text: str, start: int) -> str | None:
    headings = (block for block in blocks(text, "markdown", start) if block.kind == "heading" and block.level == 1)
    return next((heading.title for heading in headings if heading.title), None)


def _words(value: object) -> str | None:
    """A scalar as one line; nothing for what is empty or not a scalar."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        return None
    return " ".join(str(value).split()) or None


def _first(fields: Mapping[str, Any], *keys: str) -> str | None:
    return next((words for key in keys if (words := _words(fields.get(key)))), None)


def _list(fields: Mapping[str, Any], key: str) -> list[str]:
    """A field's values, whether it holds one or a list."""
    value = fields.get(key)
    return [words for one in (value if isinstance(value, list) else [value]) if (words := _words(one))]


def _tags(value: object) -> tuple[str, ...]:
    """Tags from a list or a comma-separated string, each once."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(words for one in given if (words := _words(one))))


def _urls(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Web addresses from the fields that may hold some, each once."""
    given = [url for key in _URL_KEYS for url in _list(fields, key)]
    return tuple(dict.fromkeys(url for url in given if _is_web_address(url)))


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in url
