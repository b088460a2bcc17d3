"""A model without judgement: it does in words whatever its prompt tells it to, wherever in the prompt that stands."""

import re
from collections.abc import Iterator
from urllib.parse import quote as escape

from pincite.stub.sources import first_source

_SAY = re.compile(
    r"\b(?:say|print|write|output|respond|reply|answer|repeat|begin|start|end|append|add|include|insert|show|display|"
    r"sage?|schreibe?|antworte|gib|wiederhole|beginne|ende|füge|zeige)\b(?P<what>[^\n]*)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“\n]+)“|«([^»\n]+)»|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_UNQUOTED = re.compile(
    r"^\s*(?:with|only|exactly|mit|nur|genau|the (?:words?|text|phrase|string)|:|\s)*(.+?)\s*$", re.IGNORECASE
)
_ADDRESS = re.compile(r"!?\[[^\]\n]*\]\([^)\s]+\)|\bhttps?://[^\s)\"'<>`]+")
_TOOL = re.compile(
    r"\b(?:call|use|invoke|run|execute|benutze|verwende|rufe)\b[^\n]{0,40}?\b(?:tool|function|werkzeug|funktion)\s+[`'\"]?(\w+)"
    r"|\b(?:call|invoke|execute|rufe)\s+[`'\"]?(\w+)\s*\(",
    re.IGNORECASE,
)
_REVEAL = re.compile(
    r"\b(?:reveal|repeat|print|show|output|leak|zeige?|verrate?|gib)\b[^\n]{0,40}\b(?:system prompt|instructions|prompt|anweisungen)\b",
    re.IGNORECASE,
)
_CITE = re.compile(r"\b(?:cite|citing|zitiere?)\b[^\n]*?(\[[^\]\n]+\]|\bsource\s+\d+|\bquelle\s+\d+)", re.IGNORECASE)
_LEAK = 80
"""Characters of the prompt that an address is given to carry away."""


def obey(prompt: str) -> tuple[str, list[str]]:
    """What such a model says, and the tools it calls. Nothing is fetched: an address is only written down."""
    told = prompt[first_source(prompt) :]  # what stands before are the rules of whoever asks
    said = list(dict.fromkeys(_said(told, prompt)))
    tools = list(dict.fromkeys(a or b for a, b in _TOOL.findall(told)))
    return "\n".join(said), tools


def _said(told: str, prompt: str) -> Iterator[str]:
    if _REVEAL.search(told):
        yield prompt[: first_source(prompt) or _LEAK * 10].strip()
    for order in _SAY.finditer(told):
        quoted = ["".join(groups) for groups in _QUOTED.findall(order["what"])]
        yield from quoted
        if not quoted and (rest := _UNQUOTED.match(order["what"])):
            yield rest[1]
    for false in _CITE.findall(told):
        yield f"This is certain {false if false.startswith('[') else f'[{false.title()}]'}."
    for address in _ADDRESS.findall(told):
        yield address
        yield _carrying(address, prompt)


def _carrying(address: str, prompt: str) -> str:
    """An image at that address with a part of the prompt in it: how text is carried away."""
    url = address.rpartition("](")[2].rstrip(")")
    return f"![]({url}{'&' if '?' in url else '?'}d={escape(prompt[-_LEAK:], safe='')})"
