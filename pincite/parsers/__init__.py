"""Parsers of file types: one module per parser, found by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pincite import plugins
from pincite.core.protocols import Parser

PARSERS = "pincite.parsers"
"""The package in which parsers are looked up by name."""


@dataclass(frozen=True, slots=True)
class FileType:
    """A MIME type and the name of the parser that reads it."""

    mime: str
    parser: str


@cache
def file_types() -> Mapping[str, FileType]:
    """File name ending → file type, from the `reads` of every parser in the package."""
    found: dict[str, FileType] = {}
    for parser in plugins.names(PARSERS, "make_parser"):
        for mime, endings in plugins.load(Parser, PARSERS, parser, {}).reads.items():
            found |= {ending: FileType(mime, parser) for ending in endings.split()}
    return found
