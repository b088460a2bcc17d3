"""The tools of the agent: search, read, find. Arguments are validated, and errors are returned as the result of a call.

A tool has no more access than the request: its `ToolBackend` searches and reads with the caller's permissions and the
filters of the request. `SearchArguments`, `DocumentArguments`, `ReadArguments` and `FindArguments` only describe
arguments; the tools below say how these are used.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pincite.config.messages import describe_error, did_you_mean
from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.hits import Hit
from pincite.core.query.tools import Tool, ToolCall
from pincite.errors import BadRequest
from pincite.text.sentences import storable

MAX_ARGUMENT_CHARS = 50_000
"""Characters of the arguments of a call, as JSON; five long queries have less than half of this."""
MAX_QUERIES = 5
"""Queries of one search."""
MAX_TEXT_CHARS = 1000
"""Characters of a text to find in a document."""


@dataclass(frozen=True, slots=True)
class ToolBackend:
    """The functions behind the tools; each applies the caller's permissions and the filters of the request."""

    search: Callable[[Sequence[str]], Awaitable[Sequence[Hit]]]
    read: Callable[[ReadRequest], Awaitable[tuple[DocumentExtract, Sequence[Hit]]]]
    find: Callable[[ReadRequest, str], Awaitable[tuple[DocumentExtract, Sequence[Hit]]]]
    tools: tuple[str, ...] = ("rag_search", "read_document", "find_in_document")
    max_queries: int = MAX_QUERIES


@dataclass(frozen=True, slots=True)
class PresetCall:
    """A call that is executed before the first turn of the model, and its backend."""

    call: ToolCall
    backend: ToolBackend


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: a one-line summary for the model, and the passages, best first or in reading order.

    `arguments` are the arguments that were used; `opened` is the document part that was read, if any.
    """

    summary: str
    hits: tuple[Hit, ...] = ()
    arguments: Mapping[str, Any] | None = None
    opened: DocumentExtract | None = None
    failed: bool = False


# --- arguments ----------------------------------------------------------------------------------------------


class ToolArguments(BaseModel):
    """Arguments of a tool; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Query = Annotated[str, Field(min_length=1, max_length=4000)]


def describe_queries(maximum: int) -> str:
    """The description of a search's queries."""
    return f"Self-contained questions or phrases, each about one thing; at most {maximum}."


class SearchArguments(ToolArguments):
    """Arguments of a search: one or several queries."""

    queries: Annotated[list[Query], BeforeValidator(_as_list)] = Field(
        validation_alias=AliasChoices("queries", "query"),
        min_length=1,
        max_length=MAX_QUERIES,
        description=describe_queries(MAX_QUERIES),
    )

    def cleaned_queries(self) -> list[str]:
        """The queries without characters that the database cannot store, without duplicates and empty ones."""
        return list(dict.fromkeys(query for given in self.queries if (query := storable(given).strip())))


class DocumentArguments(ToolArguments):
    """Arguments that name a document, by its id or by its address."""

    doc_id: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="The document's id, as a search returned it."
    )
    source_uri: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None,
        description="Instead of the id: the address of the document, as a source names it, or its file name.",
    )
    version: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="An earlier version of the document; usually omitted."
    )

    def naming_error(self) -> str | None:
        """What is wrong with how the document is named; None where nothing is."""
        return None if bool(self.doc_id) != bool(self.source_uri) else "give either doc_id or source_uri"

    def read_request(self, **more: Any) -> ReadRequest:
        """The request to read the document."""
        names = (storable(name) if name else None for name in (self.doc_id, self.source_uri, self.version))
        document_id, source_uri, version = names
        return ReadRequest(document_id, source_uri, version=version, **more)


class ReadArguments(DocumentArguments):
    """Arguments that name a part of a document: lines, a section, or everything."""

    section: Annotated[str, Field(max_length=500)] | None = Field(
        default=None, description="A heading of the document."
    )
    start_line: Annotated[int, Field(ge=1)] | None = Field(default=None, description="The first line to read.")
    end_line: Annotated[int, Field(ge=1)] | None = Field(default=None, description="The last line to read.")

    def part_request(self) -> ReadRequest:
        """The request to read this part: lines take precedence over a section, and a section over everything."""
        section = storable(self.section) if self.section else None
        return self.read_request(section=section, start_line=self.start_line, end_line=self.end_line)


class FindArguments(DocumentArguments):
    """Arguments to find an exact text in a document."""

    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS, description="The exact text, as it is written there.")


# --- tools --------------------------------------------------------------------------------------------------


class AgentTool(ToolArguments):
    """A tool of the agent; its docstring is the description for the model."""

    async def use(self, backend: ToolBackend) -> ToolResult:
        """Execute the tool with these arguments."""
        raise NotImplementedError


class RagSearch(SearchArguments, AgentTool):
    """Search the documents by meaning and by words, for one or several questions or phrases at once."""

    async def use(self, backend: ToolBackend) -> ToolResult:
        """The best passages, fused by rank."""
        queries = self.cleaned_queries()
        if not queries:
            return ToolResult("queries: must hold words to search for", failed=True)
        hits = await backend.search(queries)
        return ToolResult(_passage_count(len(hits), "found"), tuple(hits), {"queries": queries})


class ReadDocument(ReadArguments, AgentTool):
    """Read a document that a search found: some lines, a section, or all of it from the start."""

    async def use(self, backend: ToolBackend) -> ToolResult:
        """The passages of the part that was read."""
        if error := self.naming_error():
            return ToolResult(error, failed=True)
        opened, hits = await backend.read(self.part_request())
        what = f"lines {opened.start_line} to {opened.end_line} of {opened.total_lines}"
        summary = f"{what}{f', section {opened.section}' if opened.section else ''}"
        if not hits:
            return ToolResult(f"{summary}: nothing but front matter or white space", opened=opened)
        return ToolResult(summary, tuple(hits), self.model_dump(exclude_none=True), opened)


class FindInDocument(FindArguments, AgentTool):
    """Find every place in a document where a text stands, letter for letter."""

    async def use(self, backend: ToolBackend) -> ToolResult:
        """The lines of all matches, and the passages that contain them."""
        if error := self.naming_error():
            return ToolResult(error, failed=True)
        opened, hits = await backend.find(self.read_request(), storable(self.text))
        arguments = self.model_dump(exclude_none=True)
        if not opened.found:
            return ToolResult(
                "the document does not contain this exact text; search for it instead", (), arguments, opened
            )
        lines = ", ".join(map(str, dict.fromkeys(opened.places)))
        more = f" and {opened.found - len(opened.places)} more" if opened.found > len(opened.places) else ""
        times = "1 place" if opened.found == 1 else f"{opened.found} places"
        return ToolResult(f"{times}: line {lines}{more}", tuple(hits), arguments, opened)


TOOLS: Mapping[str, type[AgentTool]] = {
    "rag_search": RagSearch,
    "read_document": ReadDocument,
    "find_in_document": FindInDocument,
}


def tool_definitions(names: Sequence[str] = tuple(TOOLS), max_queries: int = MAX_QUERIES) -> tuple[Tool, ...]:
    """The definitions of the tools for the model; a search takes at most `max_queries` queries."""
    schemas = {name: _schema(kind) for name, kind in TOOLS.items()}
    schemas["rag_search"]["properties"]["queries"] |= {
        "maxItems": max_queries,
        "description": describe_queries(max_queries),
    }
    return tuple(Tool(name, kind.__doc__ or "", schemas[name]) for name, kind in TOOLS.items() if name in names)


def _schema(kind: type[AgentTool]) -> dict[str, Any]:
    """The JSON schema of the arguments, without titles, defaults and null types."""
    found = kind.model_json_schema(by_alias=False)
    fields = {name: _plain_schema(about) for name, about in found["properties"].items()}
    return {"type": "object", "properties": fields, "required": found.get("required", [])}


def _plain_schema(about: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in about.items() if key not in ("title", "default", "anyOf")}
    real: Mapping[str, Any] = next((form for form in about.get("anyOf", ()) if form.get("type") != "null"), {})
    return {**real, **kept}


async def call_tool(call: ToolCall, backend: ToolBackend) -> ToolResult:
    """Execute a call; errors that the model can correct become its result, such as a document not found."""
    kind = TOOLS.get(call.name) if call.name in backend.tools else None
    if kind is None:
        known = ", ".join(backend.tools)
        return ToolResult(
            f"there is no tool '{call.name[:100]}'{did_you_mean(call.name[:100], backend.tools)}; there are: {known}",
            failed=True,
        )
    if len(call.arguments) > MAX_ARGUMENT_CHARS:
        return ToolResult(f"the arguments have more than {MAX_ARGUMENT_CHARS:,} characters; ask for less", failed=True)
    try:
        given = json.loads(call.arguments or "{}")
        tool = kind.model_validate(given)
    except (json.JSONDecodeError, RecursionError):
        return ToolResult(
            f"the arguments are not JSON; send an object such as {example_arguments(call.name)}", failed=True
        )
    except ValidationError as error:
        return ToolResult(
            f"{_describe_validation_error(error)}; send an object such as {example_arguments(call.name)}", failed=True
        )
    try:
        return await tool.use(backend)
    except BadRequest as error:  # no such document or lines: the model may try again
        return ToolResult(str(error), failed=True)


def _describe_validation_error(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))[:100]
    message = "there is no such argument" if first["type"] == "extra_forbidden" else describe_error(first)
    return f"{place}: {message}" if place else message


def example_arguments(name: str) -> str:
    """Example arguments of a tool, as JSON."""
    shown: Mapping[str, Mapping[str, Any]] = {
        "rag_search": {"queries": ["a question", "another"]},
        "read_document": {"doc_id": "ID", "start_line": 1, "end_line": 40},
        "find_in_document": {"doc_id": "ID", "text": "exact words"},
    }
    return json.dumps(shown[name])


def _passage_count(count: int, what: str) -> str:
    return f"1 passage {what}" if count == 1 else f"{count or 'no'} passages {what}"
