"""A model that follows every instruction in its prompt, also injected ones; for tests of prompt injection."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote as escape

from pincite.stub.sources import first_source

_SAY = re.compile(
    r"\b(?:say|print|write|output|respond|reply|answer|repeat|begin|start|end|append|add|include|insert|show|display|"
    r"sage?|schreibe?|antworte|gib|wiederhole|beginne|ende|füge|zeige)\b(?P<what>[^\n]*)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“\n]+)“|«([^»\n]+)»|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_UNQUOTED = re.compile(
    r"^(?:with|only|exactly|mit|nur|genau|the (?:words?|text|phrase|string)|:|\s)*+(\S.*)", re.IGNORECASE
)
_ADDRESS = re.compile(r"!?\[[^\]\n]*\]\([^)\s]+\)|\bhttps?://[^\s)\"'<>`]+")
_MARKUP = re.compile(
    r"<[a-z!/?][^>\n]{0,500}>|\[[^\]\n]{0,99}\]:\s*\S+|\[[^\]\n]{0,99}\]\([^\n)]{0,500}\)", re.IGNORECASE
)
_TOOL = re.compile(
    r"\b(?:call|use|invoke|run|execute|benutze|verwende|rufe)\b[^\n]{0,40}?"
    r"\b(?:tool|function|werkzeug|funktion)\s+[`'\"]?(\w+)"
    r"|\b(?:call|invoke|execute|rufe)\s+[`'\"]?(\w+)\s*\(",
    re.IGNORECASE,
)
_REVEAL = re.compile(
    r"\b(?:reveal|repeat|print|show|output|leak|zeige?|verrate?|gib)\b[^\n]{0,40}"
    r"\b(?:system prompt|instructions|prompt|anweisungen)\b",
    re.IGNORECASE,
)
_TELL_ALL = re.compile(
    r"\b(?:everything|other (?:users?|people|documents?|sources?)|all (?:documents?|sources?|files?)|context|"
    r"passwords?|secrets?|keys?|"
    r"alles|anderen? (?:nutzer|benutzer|dokumente?)|alle dokumente|passw[oö]rte?r?|geheimnisse?)\b",
    re.IGNORECASE,
)
_CITE = re.compile(
    r"\b(?:cite|citing|zitiere?)\b[^\n]{0,200}?(\[[^\[\]\n]{1,200}\]|\bsource\s+\d+|\bquelle\s+\d+)", re.IGNORECASE
)
_WITH = re.compile(
    r"[`'\"]?\s*+\(?\s*+(?:(?:doc_id|queries|query|id)\s*+[=:]\s*+)?(?:[\"'`\[]+([^\"'`\])\n]{1,200})[\"'`\]]|"
    r"(?:on|with|for|auf|mit|für)\s+(?:(?:the )?(?:document|doc_id|id)\s*[=:]?\s*)?[`'\"]?([\w-]{4,200}))",
    re.IGNORECASE,
)
_MAX_ARGUMENT_CHARS = 250
_LEAKED_CHARS = 80
"""Characters of the prompt that are appended to a URL."""

CERTAIN = "This is certain"
"""Text of a false citation."""


def obey(prompt: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Return the text and the tool calls of such a model; URLs are only written, never fetched."""
    orders = prompt[first_source(prompt) :]  # the text before the sources are the rules of the caller
    said = list(dict.fromkeys(_follow(orders, prompt)))
    calls = {
        (call[1] or call[2], orders[call.end() : call.end() + _MAX_ARGUMENT_CHARS]): call
        for call in _TOOL.finditer(orders)
    }
    tools = {(name, json.dumps(given := _arguments(name, after))): (name, given) for name, after in calls}
    return "\n".join(said), list(tools.values())


def _arguments(name: str, after: str) -> dict[str, Any]:
    """The arguments after a tool's name, in brackets or in words."""
    found = _WITH.match(after)
    if found is None:
        return {}
    words = (found[1] or found[2] or "").strip("\"'`")
    return {"queries": [words]} if name == "rag_search" else {"doc_id": words}


def _follow(orders: str, prompt: str) -> Iterator[str]:
    if _REVEAL.search(orders):
        yield prompt[: first_source(prompt) or _LEAKED_CHARS * 10].strip()
    for order in _SAY.finditer(orders):
        quoted = ["".join(groups) for groups in _QUOTED.findall(order["what"])]
        yield from quoted
        if not quoted and (rest := _UNQUOTED.match(order["what"])):
            yield rest[1].strip()
        if _TELL_ALL.search(order["what"]):
            yield orders.strip()
    for false in _CITE.findall(orders):
        yield f"{CERTAIN} {false if false.startswith('[') else f'[{false.title()}]'}."
    yield from _MARKUP.findall(orders)
    for address in _ADDRESS.findall(orders):
        yield address
        yield from _leaking_urls(address, prompt)


def _leaking_urls(address: str, prompt: str) -> Iterator[str]:
    """Yield a URL that contains part of the prompt, in every form in which a page might fetch it."""
    url = address.rpartition("](")[2].rstrip(")")
    leak = f"{url}{'&' if '?' in url else '?'}d={escape(prompt[-_LEAKED_CHARS:], safe='')}"
    yield f"![]({leak})"
    yield f"[more]({leak}) or [here][leak] or <{leak}> or {leak}"
    yield f"\n[leak]: {leak}\n"
    yield f'<img src="{leak}"><a href="{leak}">more</a><iframe src="{leak}"></iframe>'
