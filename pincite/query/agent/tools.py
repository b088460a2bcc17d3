"""What a model may call: search, read, find. Arguments are checked, and whatever is wrong with a call is its result.

A tool reaches no further than a request does: it is handed what searches and opens under the caller's rights and the
request's filters, and knows no other way to a document.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pincite.config.messages import describe_error, nearest
from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import Opened
from pincite.core.query.hits import Hit
from pincite.core.query.tools import Tool, ToolCall
from pincite.errors import BadRequest
from pincite.text.sentences import storable

MAX_ARGUMENT_CHARS = 50_000
"""Characters of a call's arguments; five long questions are not half of it."""
MAX_QUERIES = 5
MAX_TEXT_CHARS = 1000


@dataclass(frozen=True, slots=True)
class ToolBackend:
    """What tools work with: each of these acts with the caller's rights, inside the request's filters."""

    search: Callable[[Sequence[str]], Awaitable[Sequence[Hit]]]
    read: Callable[[ReadRequest], Awaitable[tuple[Opened, Sequence[Hit]]]]
    find: Callable[[ReadRequest, str], Awaitable[tuple[Opened, Sequence[Hit]]]]
    tools: tuple[str, ...] = ("rag_search", "read_document", "find_in_document")


@dataclass(frozen=True, slots=True)
class PresetCall:
    """A call that is made before the model's first word, and what it is made with."""

    call: ToolCall
    backend: ToolBackend


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What became of a call: the passages it brought, best or first first, and a line about them for the model.

    `arguments` are those it was really made with; `opened` is what was read, where something was.
    """

    said: str
    hits: tuple[Hit, ...] = ()
    arguments: Mapping[str, Any] | None = None
    opened: Opened | None = None
    failed: bool = False


class AgentTool(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    async def use(self, backend: ToolBackend) -> ToolResult:
        raise NotImplementedError


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Query = Annotated[str, Field(min_length=1, max_length=4000)]


class RagSearch(AgentTool):
    """Search the documents by meaning and by words, for one to five questions or phrases at once."""

    queries: Annotated[list[Query], BeforeValidator(_as_list)] = Field(
        validation_alias=AliasChoices("queries", "query"),
        min_length=1,
        max_length=MAX_QUERIES,
        description="One to five self-contained questions or phrases, each about one thing.",
    )

    async def use(self, backend: ToolBackend) -> ToolResult:
        """The passages that fit best, fused by rank."""
        wanted = list(dict.fromkeys(query for given in self.queries if (query := storable(given).strip())))
        if not wanted:
            return ToolResult("queries: must hold words to search for", failed=True)
        hits = await backend.search(wanted)
        return ToolResult(_passage_count(len(hits), "found"), tuple(hits), {"queries": wanted})


class DocumentArguments(AgentTool):
    doc_id: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="The document's id, as a search gave it."
    )
    source_uri: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None, description="Instead of the id: the address the document came from."
    )
    version: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="An earlier version of it; usually left out."
    )

    def named(self) -> str | None:
        """What is wrong with how the document is named, if anything."""
        return None if bool(self.doc_id) != bool(self.source_uri) else "give either doc_id or source_uri"

    def reading(self, **more: Any) -> ReadRequest:
        """What shall be opened."""
        names = (storable(name) if name else None for name in (self.doc_id, self.source_uri, self.version))
        document_id, source_uri, version = names
        return ReadRequest(document_id, source_uri, version=version, **more)


class ReadDocument(DocumentArguments):
    """Read a document that a search found: some lines, a section, or all of it from the start."""

    section: Annotated[str, Field(max_length=500)] | None = Field(
        default=None, description="A heading of the document."
    )
    start_line: Annotated[int, Field(ge=1)] | None = Field(default=None, description="The first line to read.")
    end_line: Annotated[int, Field(ge=1)] | None = Field(default=None, description="The last line to read.")

    async def use(self, backend: ToolBackend) -> ToolResult:
        """Lines before a section before everything."""
        if wrong := self.named():
            return ToolResult(wrong, failed=True)
        section = storable(self.section) if self.section else None
        wish = self.reading(section=section, start_line=self.start_line, end_line=self.end_line)
        opened, hits = await backend.read(wish)
        what = f"lines {opened.start_line} to {opened.end_line} of {opened.total_lines}"
        said = f"{what}{f', section {opened.section}' if opened.section else ''}"
        if not hits:
            return ToolResult(f"{said}: nothing but front matter or white space", opened=opened)
        return ToolResult(said, tuple(hits), self.model_dump(exclude_none=True), opened)


class FindInDocument(DocumentArguments):
    """Find every place in a document where a text stands, letter for letter."""

    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS, description="The exact text, as it is written there.")

    async def use(self, backend: ToolBackend) -> ToolResult:
        """All places with their lines; the passages they are in."""
        if wrong := self.named():
            return ToolResult(wrong, failed=True)
        opened, hits = await backend.find(self.reading(), storable(self.text))
        asked = self.model_dump(exclude_none=True)
        if not opened.found:
            return ToolResult(
                "the text does not stand there letter for letter; search for it instead", (), asked, opened
            )
        told = ", ".join(map(str, dict.fromkeys(opened.places)))
        more = f" and {opened.found - len(opened.places)} more" if opened.found > len(opened.places) else ""
        times = "1 place" if opened.found == 1 else f"{opened.found} places"
        return ToolResult(f"{times}: line {told}{more}", tuple(hits), asked, opened)


TOOLS: Mapping[str, type[AgentTool]] = {
    "rag_search": RagSearch,
    "read_document": ReadDocument,
    "find_in_document": FindInDocument,
}


def tool_definitions(names: Sequence[str] = tuple(TOOLS)) -> tuple[Tool, ...]:
    """The tools as a model is told of them."""
    return tuple(Tool(name, kind.__doc__ or "", _schema(kind)) for name, kind in TOOLS.items() if name in names)


def _schema(kind: type[AgentTool]) -> dict[str, Any]:
    """The arguments as plain JSON schema: no titles, and nothing said twice."""
    found = kind.model_json_schema(by_alias=False)
    fields = {name: _plain_schema(about) for name, about in found["properties"].items()}
    return {"type": "object", "properties": fields, "required": found.get("required", [])}


def _plain_schema(about: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in about.items() if key not in ("title", "default", "anyOf")}
    real: Mapping[str, Any] = next((form for form in about.get("anyOf", ()) if form.get("type") != "null"), {})
    return {**real, **kept}


async def call_tool(call: ToolCall, backend: ToolBackend) -> ToolResult:
    """Make a call; whatever the model can mend is said in its result, and what the caller may not see is not there."""
    kind = TOOLS.get(call.name) if call.name in backend.tools else None
    if kind is None:
        known = ", ".join(backend.tools)
        return ToolResult(
            f"there is no tool '{call.name[:100]}'{nearest(call.name[:100], backend.tools)}; there are: {known}",
            failed=True,
        )
    if len(call.arguments) > MAX_ARGUMENT_CHARS:
        return ToolResult(f"the arguments have more than {MAX_ARGUMENT_CHARS:,} characters; ask for less", failed=True)
    try:
        given = json.loads(call.arguments or "{}")
        wish = kind.model_validate(given)
    except (json.JSONDecodeError, RecursionError):
        return ToolResult(
            f"the arguments are not JSON; send an object such as {example_arguments(call.name)}", failed=True
        )
    except ValidationError as error:
        return ToolResult(
            f"{_describe_validation_error(error)}; send an object such as {example_arguments(call.name)}", failed=True
        )
    try:
        return await wish.use(backend)
    except BadRequest as error:  # not there, not such lines: the model may try otherwise
        return ToolResult(str(error), failed=True)


def _describe_validation_error(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))[:100]
    told = "there is no such argument" if first["type"] == "extra_forbidden" else describe_error(first)
    return f"{place}: {told}" if place else told


def example_arguments(name: str) -> str:
    """Arguments as they should be."""
    shown: Mapping[str, Mapping[str, Any]] = {
        "rag_search": {"queries": ["a question", "another"]},
        "read_document": {"doc_id": "ID", "start_line": 1, "end_line": 40},
        "find_in_document": {"doc_id": "ID", "text": "exact words"},
    }
    return json.dumps(shown[name])


def _passage_count(count: int, what: str) -> str:
    return f"1 passage {what}" if count == 1 else f"{count or 'no'} passages {what}"
