"""Parse tool calls from plain text, for models without native tool calls: command lines, JSON blocks, ReAct actions.

Text after the first calls is dropped: small models continue by inventing the results.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pincite.core.query.tools import Tool, ToolCall
from pincite.query.agent.tools import MAX_QUERIES, TOOLS
from pincite.query.prompt.structured import parse_object

MAX_CALLS_PER_TURN = 5
MAX_SCANNED_CHARS = 200_000
"""Characters that are searched for calls."""

_LINE = re.compile(
    r"^[ \t>*`-]{0,8}(?P<verb>SEARCH|READ|FIND|SUCHE|LIES|FINDE)\**[ \t]*:\**[ \t]*(?P<rest>[^\n]+)$", re.MULTILINE
)
_BLOCK = re.compile(r"```[ \t]*(?:json|tool|tool_call|tool_code)?[ \t]*\n(?P<json>[ \t]*\{[^`]*)(?:```|\Z)")
_TAGGED = re.compile(r"<tool_call>\s*(?P<json>\{.*?)(?:</tool_call>|\Z)", re.DOTALL)
_BARE = re.compile(r"^[ \t]*(?P<json>\{[ \t]*\"(?:name|tool|action|function)\"[^\n]*)$", re.MULTILINE)
_ACTION = re.compile(
    r"^[ \t]*Action[ \t]*:[ \t]*(?P<name>\w{1,40})[ \t]*\n[ \t]*Action Input[ \t]*:[ \t]*(?P<json>[^\n]+)",
    re.MULTILINE | re.IGNORECASE,
)
_ANSWER = re.compile(
    r"^[ \t>*#]{0,8}(?:FINAL[ \t]+)?(?:ANSWER|ANTWORT)\**[ \t]*:\**[ \t]*", re.MULTILINE | re.IGNORECASE
)
_LINES = re.compile(r"[,; ]*\b(?:lines?|zeilen?)[ \t]+(\d{1,7})(?:[ \t]*(?:-|–|to|bis)[ \t]*(\d{1,7}))?", re.IGNORECASE)
_SECTION = re.compile(r"[,; ]*\b(?:section|abschnitt)[ \t]+(.+)", re.IGNORECASE)
_ID = re.compile(r"[\"'`(\[]?(?:doc_id[ :=]+)?([\w-]{1,200})[\"'`)\]]?")
_ANSWER_NAME = "answer"
_VERBS = {"SUCHE": "SEARCH", "LIES": "READ", "FINDE": "FIND"}


def turn_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """The JSON schema of a turn: one call of a tool, or the answer."""
    calls = [_object(name={"const": tool.name}, arguments=dict(tool.parameters)) for tool in tools]
    return {"anyOf": [*calls, _object(name={"const": _ANSWER_NAME}, text={"type": "string"})]}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def calls_in(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """The text before the first call, and the calls; the whole text where there are none."""
    text = text[:MAX_SCANNED_CHARS]
    turn = parse_object(text)
    if turn and turn.get("name") in TOOLS:  # output by `turn_schema`
        return "", (ToolCall("text_1", turn["name"], json.dumps(turn.get("arguments"), ensure_ascii=False)),)
    found = sorted(_find_calls(text), key=lambda call: call[0])[:MAX_CALLS_PER_TURN]
    if not found:
        return text, ()
    answer = _ANSWER.search(text)
    if answer and answer.start() < found[0][0]:  # the answer itself may look like a call
        return text, ()
    calls = [ToolCall(f"text_{number}", name, given) for number, (_, name, given) in enumerate(found, start=1)]
    return text[: found[0][0]].strip(), tuple(_merge_searches(calls))


def answer_in(text: str) -> str:
    """The answer without the word that announces it and the text before that word, or the field of a JSON object."""
    turn = parse_object(text)
    if turn and turn.get("name") == _ANSWER_NAME and isinstance(turn.get("text"), str):
        return str(turn["text"]).strip()
    found = _ANSWER.search(text)
    return (text[found.end() :].strip() if found else "") or text.strip()


def _find_calls(text: str) -> Iterator[tuple[int, str, str]]:
    """The offset, tool name and arguments of each call."""
    for line in _LINE.finditer(text):
        verb = line["verb"]
        name, given = _parse_line(_VERBS.get(verb, verb), line["rest"].strip().strip("`*"))
        yield line.start(), name, json.dumps(given, ensure_ascii=False)
    for action in _ACTION.finditer(text):
        yield action.start(), action["name"], action["json"].strip()
    for pattern, certain in ((_TAGGED, True), (_BLOCK, False), (_BARE, False)):
        for block in pattern.finditer(text):
            if called := _parse_json(block["json"], certain=certain):
                yield block.start(), *called


def _parse_line(verb: str, rest: str) -> tuple[str, dict[str, Any]]:
    if verb == "SEARCH":
        return "rag_search", {"queries": [part for query in rest.split("|") if (part := query.strip().strip('"“”„'))]}
    named = _ID.match(rest)
    document, rest = (named[1], rest[named.end() :].strip(" ,;:")) if named else ("", rest)
    if verb == "FIND":
        return "find_in_document", {"doc_id": document, "text": rest.strip('"“”„')}
    if lines := _LINES.search(rest):
        return "read_document", {"doc_id": document, "start_line": int(lines[1]), "end_line": int(lines[2] or lines[1])}
    section = _SECTION.search(rest)
    return "read_document", {"doc_id": document} | ({"section": section[1].strip('"“”„')} if section else {})


def _parse_json(written: str, *, certain: bool) -> tuple[str, str] | None:
    """The tool name and arguments in a JSON object; None where it is not a call.

    Invalid JSON that names a tool counts as a call: its result will describe the error.
    """
    try:
        found, _ = json.JSONDecoder().raw_decode(written.strip())
    except (ValueError, RecursionError):
        named = next((name for name in TOOLS if f'"{name}"' in written), None)
        return (named, written.strip()) if named else ("", written.strip()) if certain else None
    if not isinstance(found, dict):
        return None
    nested = found.get("function")
    inner: dict[str, Any] = nested if isinstance(nested, dict) else found
    name = next((inner[key] for key in ("name", "tool", "action", "function") if isinstance(inner.get(key), str)), "")
    given = next((inner[key] for key in ("arguments", "parameters", "args", "input") if key in inner), None)
    if given is None:
        given = {key: value for key, value in inner.items() if key not in ("name", "tool", "action", "function")}
    if not certain and name not in TOOLS:
        return None
    return name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _merge_searches(calls: list[ToolCall]) -> Iterator[ToolCall]:
    """The calls without duplicates; several searches become one with up to `MAX_QUERIES` queries."""
    searches: list[str] = []
    others: dict[tuple[str, str], ToolCall] = {}
    for call in calls:
        if call.name == "rag_search" and (queries := _queries(call.arguments)):
            searches += queries
        else:
            others.setdefault((call.name, call.arguments), call)
    if searches:
        wanted = list(dict.fromkeys(searches))[:MAX_QUERIES]
        yield ToolCall("text_0", "rag_search", json.dumps({"queries": wanted}, ensure_ascii=False))
    yield from others.values()


def _queries(arguments: str) -> list[str]:
    try:
        given = json.loads(arguments)["queries"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    listed = [given] if isinstance(given, str) else given
    return [query for query in listed if isinstance(query, str) and query] if isinstance(listed, list) else []
