"""The faults of the stub, by name, and the calls they affect."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.errors import SettingsError

FAULTS: Mapping[str, str] = {
    "silent": "accepts the request and never responds",
    "hang": "begins its response, sends N tokens (0), then nothing more",
    "reset": "resets the connection before any response",
    "cut": "resets the connection after N tokens (3)",
    "eof": "ends the response cleanly after N tokens (3), without a finish reason",
    "malformed": "sends invalid JSON after N tokens (3)",
    "shape": "sends JSON of an unexpected shape after N tokens (3)",
    "error": "reports an error inside the response after N tokens (3)",
    "html": "responds 200 with a web page, as a proxy might",
    "empty": "finishes with an empty answer",
    "endless": "never stops sending tokens",
    "tools": "calls the tool rag_search instead of answering",
    "notools": "responds 400 if the request has tools, like servers whose model does not support them",
    "noschema": "responds 400 if the request asks for output by a JSON schema, like servers that cannot constrain it",
    "bytes": "sends one byte at a time",
    "split": "splits the response in the middle of characters",
    "crlf": "ends lines with CR LF, split between the two",
    "comments": "mixes comments, ids and retry hints into the stream",
    "bom": "starts with a byte order mark",
}
"""Description of each fault. A correct parser handles the last five without loss."""

HARMLESS_FAULTS = ("bytes", "split", "crlf", "comments", "bom")
"""Faults of the transport only; the answer is complete."""

_DEFAULT_VALUES = {"429": 1.0, "503": 1.0, "hang": 0.0} | dict.fromkeys(
    ("cut", "eof", "malformed", "shape", "error"), 3.0
)
_FAULT_SYNTAX = re.compile(
    r"(?P<name>[a-z0-9]+)(?::(?P<value>\d+(?:\.\d+)?))?(?:@(?P<first>\d+)(?P<to>-(?P<last>\d+)?)?)?"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault and the range of calls it affects; `value` is tokens, or seconds of Retry-After."""

    name: str
    value: float = 0.0
    first: int = 1
    last: int | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status, if the fault is one."""
        return int(self.name) if self.name.isdigit() else None

    def hits(self, number: int) -> bool:
        """Whether the fault affects the n-th call, counted from 1."""
        return self.first <= number and (self.last is None or number <= self.last)


NO_FAULT = Fault("")
"""No fault."""


def parse_fault(text: str) -> Fault:
    """Parse a fault such as `429`, `429:2@3`, `cut:5@1-3` or `hang@2-`; without `@` it affects every call."""
    match = _FAULT_SYNTAX.fullmatch(text.strip())
    if match is None:
        raise SettingsError(f"'{text}' is not a fault; write it like 429, cut:5, 500@1-3 or 429:2@4-")
    name = match["name"]
    if not (name in FAULTS or re.fullmatch("[45][0-9][0-9]", name)):
        near = difflib.get_close_matches(name, FAULTS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(FAULTS)} and any HTTP status from 400"
        raise SettingsError(f"there is no fault '{name}'; {hint}")
    if match["value"] and name not in _DEFAULT_VALUES:
        raise SettingsError(f"the fault '{name}' takes no number; write {name} or {name}@1-3")
    value = float(match["value"]) if match["value"] else _DEFAULT_VALUES.get(name, 0.0)
    first = int(match["first"] or 1)
    last = int(match["last"]) if match["last"] else None if match["to"] or not match["first"] else first
    if first < 1 or (last is not None and last < first):
        raise SettingsError(f"'{text}' affects no call; calls are counted from 1")
    return Fault(name, value, first, last)
