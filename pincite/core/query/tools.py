"""Tools that a model may call, its tool calls, and the steps of an agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its name, its description, and its parameters as a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a model; `arguments` is its raw text and may be invalid JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an agent: the tool, its arguments, and a short summary of the result.

    `sources` are the numbers of the passages it retrieved; `thought` is the model's comment on the step, if any.
    """

    number: int
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    sources: tuple[int, ...] = ()
    failed: bool = False
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Abilities:
    """The capabilities of a model; None means unknown."""

    tools: bool | None = None
    vision: bool | None = None
    schemas: bool | None = None
    """Whether the output can be constrained by a JSON schema."""
