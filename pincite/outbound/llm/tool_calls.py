"""Assemble the tool calls of a model from stream fragments, with limits on number and length."""

import json
from dataclasses import dataclass, field

from pincite.core.query.tools import ToolCall
from pincite.outbound.llm.parse import text_of

MAX_CALLS = 16
"""Maximum tool calls per turn; further ones are dropped."""

MAX_ARGUMENT_CHARS = 100_000
"""Maximum characters of a call's arguments; one more is kept to detect an overflow."""


@dataclass(slots=True)
class Calls:
    """The calls of one turn, by the index or id from the server; `characters` counts all received characters."""

    characters: int = 0
    _latest: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, list[str]] = field(default_factory=dict)
    _names: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, index: object, call_id: object, name: object, arguments: object) -> None:
        """Add a fragment of a call; raises `TypeError` if its arguments are not text.

        Some servers send the same index for all calls, so another id is another call.
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
        """Return the calls in the order of their first fragment; a call without an id gets its number."""
        return tuple(
            ToolCall(self._names[key][0] or f"call_{number}", self._names[key][1], "".join(parts))
            for number, (key, parts) in enumerate(self._parts.items(), start=1)
        )


def _name(value: object) -> str:
    return text_of(value)[:200] if isinstance(value, str) else ""


def arguments_of(written: str) -> dict[str, object]:
    """Parse arguments to the object that some servers expect; invalid ones become an empty object."""
    try:
        found = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
