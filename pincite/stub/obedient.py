"""A model without judgement: it does in words whatever its prompt tells it to, wherever in the prompt that stands."""

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
    r"\b(?:call|use|invoke|run|execute|benutze|verwende|rufe)\b[^\n]{0,40}?\b(?:tool|function|werkzeug|funktion)\s+[`'\"]?(\w+)"
    r"|\b(?:call|invoke|execute|rufe)\s+[`'\"]?(\w+)\s*\(",
    re.IGNORECASE,
)
_REVEAL = re.compile(
    r"\b(?:reveal|repeat|print|show|output|leak|zeige?|verrate?|gib)\b[^\n]{0,40}\b(?:system prompt|instructions|prompt|anweisungen)\b",
    re.IGNORECASE,
)
_TELL_ALL = re.compile(
    r"\b(?:everything|other (?:users?|people|documents?|sources?)|all (?:documents?|sources?|files?)|context|passwords?|secrets?|"
    r"keys?|alles|anderen? (?:nutzer|benutzer|dokumente?)|alle dokumente|passw[oö]rte?r?|geheimnisse?)\b",
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
_NEAR = 250
_LEAK = 80
"""Characters of the prompt that an address is given to carry away."""
CERTAIN = "This is certain"
"""What it says where it is told to cite something falsely."""


def obey(prompt: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """What such a model says, and the tools it calls. Nothing is fetched: an address is only written down."""
    told = prompt[first_source(prompt) :]  # what stands before are the rules of whoever asks
    said = list(dict.fromkeys(_said(told, prompt)))
    calls = {(call[1] or call[2], told[call.end() : call.end() + _NEAR]): call for call in _TOOL.finditer(told)}
    tools = {(name, json.dumps(given := _given(name, after))): (name, given) for name, after in calls}
    return "\n".join(said), list(tools.values())


def _given(name: str, after: str) -> dict[str, Any]:
    """The arguments that stand after a tool's name, in brackets or in words."""
    found = _WITH.match(after)
    if found is None:
        return {}
    words = (found[1] or found[2] or "").strip("\"'`")
    return {"queries": [words]} if name == "rag_search" else {"doc_id": words}


def _said(told: str, prompt: str) -> Iterator[str]:
    if _REVEAL.search(told):
        yield prompt[: first_source(prompt) or _LEAK * 10].strip()
    for order in _SAY.finditer(told):
        quoted = ["".join(groups) for groups in _QUOTED.findall(order["what"])]
        yield from quoted
        if not quoted and (rest := _UNQUOTED.match(order["what"])):
            yield rest[1].strip()
        if _TELL_ALL.search(order["what"]):
            yield told.strip()
    for false in _CITE.findall(told):
        yield f"{CERTAIN} {false if false.startswith('[') else f'[{false.title()}]'}."
    yield from _MARKUP.findall(told)
    for address in _ADDRESS.findall(told):
        yield address
        yield from _carrying(address, prompt)


def _carrying(address: str, prompt: str) -> Iterator[str]:
    """An address with a part of the prompt in it, in every way in which a page may be made to ask for it."""
    url = address.rpartition("](")[2].rstrip(")")
    leak = f"{url}{'&' if '?' in url else '?'}d={escape(prompt[-_LEAK:], safe='')}"
    yield f"![]({leak})"
    yield f"[more]({leak}) or [here][leak] or <{leak}> or {leak}"
    yield f"\n[leak]: {leak}\n"
    yield f'<img src="{leak}"><a href="{leak}">more</a><iframe src="{leak}"></iframe>'
