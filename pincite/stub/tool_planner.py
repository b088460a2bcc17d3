"""A model with a fixed plan: search for the question, search for names found, read a document, and quote."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pincite.stub.call_log import text_of
from pincite.stub.sources import best_quote

MAX_NAMES = 4
"""Maximum number of names per search."""

_NAME = re.compile(r"\b[A-ZÄÖÜ][\w'’.-]+(?:\s+(?:of|the|de|von|van)?\s*[A-ZÄÖÜ][\w'’.-]+)+")
_DOCUMENT = re.compile(r"^\[Source \d+\][^\n]*\(doc_id ([\w-]+), lines", re.MULTILINE)
_PLAIN = re.compile(r"^Result of \w+:", re.MULTILINE)


def plan_step(messages: Sequence[Mapping[str, Any]], question: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Return the text and the tool calls of the next step; the number of tool results determines the step."""
    results = [text_of(message) for message in messages if _is_result(message)]
    if not results:
        names = [name for name in _names(question) if name != question]
        return "I look for what is asked.", [("rag_search", {"queries": [question, *names][: MAX_NAMES + 1]})]
    if len(results) == 1 and (met := [name for name in _names(results[0]) if name not in question][:MAX_NAMES]):
        return "I follow the names.", [("rag_search", {"queries": met})]
    found = _DOCUMENT.findall("\n".join(results))
    if len(results) == 2 and found:
        return "I read on.", [("read_document", {"doc_id": found[0], "start_line": 1, "end_line": 40})]
    return best_quote("\n\n".join(results), question), []


def _is_result(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "tool" or (message.get("role") == "user" and bool(_PLAIN.match(text_of(message))))


def _names(text: str) -> list[str]:
    """Multi-word names in a text, most frequent first."""
    found = [
        " ".join(name.split()).rstrip(".")
        for name in _NAME.findall(re.sub(r"^\[Source.*$|^===.*$", "", text, flags=re.MULTILINE))
    ]
    return sorted(dict.fromkeys(found), key=lambda name: -found.count(name))


def calls_as_text(said: str, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the calls as lines of text, for requests without tools."""
    lines = [
        f"SEARCH: {' | '.join(given['queries'])}"
        if name == "rag_search"
        else json.dumps({"name": name, "arguments": given})
        for name, given in calls
    ]
    return "\n".join([said, *lines])
