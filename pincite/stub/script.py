"""The script of the stub: answers in order or by pattern, and a default behaviour."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pincite.errors import SettingsError
from pincite.stub.call_log import text_of
from pincite.stub.faults import NO_FAULT, Fault, parse_fault
from pincite.stub.obedient import obey
from pincite.stub.sources import has_sources, quote
from pincite.stub.tool_planner import calls_as_text, plan_step

Behaviour = Literal["quote", "refuse", "echo", "obey", "plan"]
REFUSAL = "I don't know."


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Part):
    """A tool call of the stub; arguments given as text are sent unchanged, even if they are not JSON."""

    name: str
    arguments: Mapping[str, Any] | str = {}


class Line(_Part):
    """One answer: used in order, or whenever `match` is found in the last user message."""

    say: str | None = None
    match: re.Pattern[str] | None = None
    tools: tuple[ToolCall, ...] = ()
    fault: Fault | None = None
    first_token_ms: float | None = Field(default=None, ge=0)
    token_ms: float | None = Field(default=None, ge=0)

    @field_validator("fault", mode="before")
    @classmethod
    def _fault(cls, given: Any) -> Any:
        return parse_fault(given) if isinstance(given, str) else given


class Script(_Part):
    """The behaviour of the stub; after the last line, `behaviour` applies."""

    answers: tuple[Line, ...] = ()
    behaviour: Behaviour = "quote"
    faults: tuple[Fault, ...] = ()
    model: str = "stub-1"
    first_token_ms: float = Field(default=0, ge=0)
    token_ms: float = Field(default=0, ge=0)
    tokens: int = Field(
        default=0, ge=0, description="Length of every answer in tokens, by repetition or truncation; 0: unchanged."
    )
    dimensions: int = Field(default=64, ge=1, le=8192)

    @field_validator("answers", mode="before")
    @classmethod
    def _answers(cls, given: Any) -> Any:
        return [{"say": line} if isinstance(line, str) else line for line in given]

    @field_validator("faults", mode="before")
    @classmethod
    def _faults(cls, given: Any) -> Any:
        return [parse_fault(fault) if isinstance(fault, str) else fault for fault in given]


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one call."""

    pieces: tuple[str, ...]
    tools: tuple[ToolCall, ...]
    finish: str
    fault: Fault
    first_token_ms: float
    token_ms: float


class Player:
    """Plays a script, call by call."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._left = [line for line in script.answers if line.match is None]

    def fault(self, number: int) -> Fault:
        """Return the fault of the n-th call."""
        return next((fault for fault in self.script.faults if fault.hits(number)), NO_FAULT)

    def reply(self, number: int, body: Mapping[str, Any]) -> Reply:
        """Return the reply to the n-th call; the fault of a line overrides that of the script."""
        messages = [message for message in body.get("messages") or () if isinstance(message, Mapping)]
        line = self._line(messages)
        fault = line.fault or self.fault(number)
        text, tools = self._content(line, fault, messages, offered=bool(body.get("tools")))
        pieces = pieces_of(text, self.script.tokens)
        kept = pieces[: body.get("max_tokens") or body.get("max_completion_tokens") or len(pieces)]
        return Reply(
            kept if fault.name != "endless" else pieces,
            tools,
            "tool_calls" if tools else "length" if len(kept) < len(pieces) else "stop",
            fault,
            self.script.first_token_ms if line.first_token_ms is None else line.first_token_ms,
            self.script.token_ms if line.token_ms is None else line.token_ms,
        )

    def _content(
        self, line: Line, fault: Fault, messages: Sequence[Mapping[str, Any]], *, offered: bool
    ) -> tuple[str, tuple[ToolCall, ...]]:
        if fault.name == "empty":
            return "", ()
        if fault.name == "tools":
            return "", (ToolCall(name="rag_search", arguments={"queries": [_last_question(messages)]}),)
        if line.say is None and not line.tools:
            return _behave(self.script.behaviour, messages, offered=offered)
        return line.say or "", line.tools

    def _line(self, messages: Sequence[Mapping[str, Any]]) -> Line:
        question = _last_question(messages)
        for line in self.script.answers:
            if line.match is not None and line.match.search(question):
                return line
        return self._left.pop(0) if self._left else Line()


def load_script(path: Path) -> Script:
    """Load a script: `.json`, `.toml`, or plain text with answers separated by lines of `---`."""
    try:
        text = path.read_text(encoding="utf-8")
        values: Any = _READERS.get(path.suffix.lower(), _plain)(text)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the script {path} cannot be read: {error}") from None
    except ValueError as error:
        raise SettingsError(f"the script {path} is not valid {path.suffix[1:].upper()}: {error}") from None
    return read_script(values, str(path))


def read_script(values: Any, name: str = "script") -> Script:
    """Validate a script; a list is a list of answers."""
    try:
        return Script.model_validate({"answers": values} if isinstance(values, list) else values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise SettingsError(f"{name}: {place}: {first['msg']}") from None


def _plain(text: str) -> list[str]:
    return [answer for part in re.split(r"^---\s*$", text, flags=re.MULTILINE) if (answer := part.strip())]


_READERS: Mapping[str, Callable[[str], Any]] = {".json": json.loads, ".toml": tomllib.loads}


def _behave(
    behaviour: Behaviour, messages: Sequence[Mapping[str, Any]], *, offered: bool
) -> tuple[str, tuple[ToolCall, ...]]:
    if behaviour == "refuse":
        return REFUSAL, ()
    question = _last_question(messages)
    if behaviour == "echo":
        return question, ()
    if behaviour == "plan":
        said, calls = plan_step(messages, _first_question(messages))
        if not offered and calls:
            return calls_as_text(said, calls), ()
        return said, tuple(ToolCall(name=name, arguments=given) for name, given in calls)
    if behaviour == "obey" and offered and not any(has_sources(text_of(message)) for message in messages):
        return "", (
            ToolCall(name="rag_search", arguments={"queries": [question]}),
        )  # no sources, so no instructions yet
    prompt = "\n\n---\n\n".join(text_of(message) for message in messages if message.get("role") != "assistant")
    if behaviour == "quote":
        return quote(prompt, question), ()
    said, tools = obey(prompt)
    tool_calls = tuple(ToolCall(name=name, arguments=given) for name, given in tools)
    return f"{quote(prompt, question)}\n\n{said}".strip(), tool_calls


def _first_question(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the question before the first tool result; with plain-text tools, results are user messages too."""
    called = [place for place, message in enumerate(messages) if message.get("role") == "assistant"]
    return _last_question(messages[: called[0]] if called else messages)


def _last_question(messages: Sequence[Mapping[str, Any]]) -> str:
    return next((text_of(message) for message in reversed(messages) if message.get("role") == "user"), "")


def pieces_of(text: str, tokens: int = 0) -> tuple[str, ...]:
    """Split a text into tokens, here its words; repeated or truncated to `tokens` if given."""
    pieces = re.findall(r"\s*\S+(?:\s+$)?", text)
    if tokens and pieces:
        pieces = [piece if piece[0].isspace() else f" {piece}" for piece in pieces * (tokens // len(pieces) + 1)]
    return tuple(pieces[:tokens] if tokens else pieces)
