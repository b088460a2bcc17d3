"""A model that plans by a fixed rule: it searches for what is asked, then for names it meets, reads, and quotes."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pincite.stub.call_log import text_of
from pincite.stub.sources import best_quote

NAMES = 4
"""Names it searches for at a time."""

_NAME = re.compile(r"\b[A-ZÄÖÜ][\w'’.-]+(?:\s+(?:of|the|de|von|van)?\s*[A-ZÄÖÜ][\w'’.-]+)+")
_DOCUMENT = re.compile(r"^\[Source \d+\][^\n]*\(doc_id ([\w-]+), lines", re.MULTILINE)
_PLAIN = re.compile(r"^Result of \w+:", re.MULTILINE)


def planned(messages: Sequence[Mapping[str, Any]], question: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """What it says, and the tools it calls; which of them comes next is told by how many results it has seen."""
    results = [text_of(message) for message in messages if _is_result(message)]
    if not results:
        names = [name for name in _names(question) if name != question]
        return "I look for what is asked.", [("rag_search", {"queries": [question, *names][: NAMES + 1]})]
    if len(results) == 1 and (met := [name for name in _names(results[0]) if name not in question][:NAMES]):
        return "I follow the names.", [("rag_search", {"queries": met})]
    found = _DOCUMENT.findall("\n".join(results))
    if len(results) == 2 and found:
        return "I read on.", [("read_document", {"doc_id": found[0], "start_line": 1, "end_line": 40})]
    return best_quote("\n\n".join(results), question), []


def _is_result(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "tool" or (message.get("role") == "user" and bool(_PLAIN.match(text_of(message))))


def _names(text: str) -> list[str]:
    """Names of several words, the most frequent first."""
    found = [
        " ".join(name.split()).rstrip(".")
        for name in _NAME.findall(re.sub(r"^\[Source.*$|^===.*$", "", text, flags=re.MULTILINE))
    ]
    return sorted(dict.fromkeys(found), key=lambda name: -found.count(name))


def in_plain_text(said: str, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The same calls as lines, for whoever offers no tools."""
    lines = [
        f"SEARCH: {' | '.join(given['queries'])}"
        if name == "rag_search"
        else json.dumps({"name": name, "arguments": given})
        for name, given in calls
    ]
    return "\n".join([said, *lines])
