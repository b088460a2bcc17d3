"""The tool calls of a model as they come in pieces, put together: few, named, and of bounded length."""

import json
from dataclasses import dataclass, field

from pincite.core.query.tools import ToolCall
from pincite.outbound.llm.parse import text_of

MAX_CALLS = 16
"""Calls of one turn that are heard; a model that makes more does not mean them."""
MAX_ARGUMENT_CHARS = 100_000
"""Characters of one call's arguments that are kept; one more shows that there were too many."""


@dataclass(slots=True)
class Calls:
    """The calls of one turn by the index or id the server gives them; `characters` is all that came."""

    characters: int = 0
    _latest: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, list[str]] = field(default_factory=dict)
    _names: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, index: object, call_id: object, name: object, arguments: object) -> None:
        """A further piece of a call; `TypeError` where its arguments are no text.

        Some servers give every call the same index: one with another id is another call.
        """
        said, wanted = "" if arguments is None else text_of(arguments), _name(call_id)
        key = self._latest.get(str(index), str(index))
        if wanted and self._names.get(key, ("",))[0] not in ("", wanted):
            key = f"{index} {wanted}"
        self._latest[str(index)] = key
        self.characters += len(said)
        if key not in self._parts and len(self._parts) >= MAX_CALLS:
            return
        kept = self._parts.setdefault(key, [])
        known_id, known_name = self._names.get(key, ("", ""))
        self._names[key] = (known_id or wanted, known_name or _name(name))
        room = MAX_ARGUMENT_CHARS + 1 - sum(map(len, kept))
        if said and room > 0:
            kept.append(said[:room])

    def whole(self) -> tuple[ToolCall, ...]:
        """The calls in the order they were begun; one without an id gets its number."""
        return tuple(
            ToolCall(self._names[key][0] or f"call_{number}", self._names[key][1], "".join(parts))
            for number, (key, parts) in enumerate(self._parts.items(), start=1)
        )


def _name(value: object) -> str:
    return text_of(value)[:200] if isinstance(value, str) else ""


def arguments_of(written: str) -> dict[str, object]:
    """Arguments as the object that some servers want back; what is none was refused already and is left out."""
    try:
        found = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
