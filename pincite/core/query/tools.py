"""Tools: what a model may call, the calls it makes, and what a step of looking things up was."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model may call: its name, what it is for, and its arguments as a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model makes; `arguments` are as it wrote them, unread: they may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an answer that was looked up in several: the tool, what it was asked for, what came of it in short.

    `sources` are the numbers of the passages it brought; `thought` is what the model said about it, if anything.
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
    """What a model can do besides writing; None where nobody knows."""

    tools: bool | None = None
    vision: bool | None = None
