"""The MCP tools: search, read, find and ask, each with the permissions of its caller."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from pincite.config.messages import describe_error
from pincite.core.documents.document import Document, Listing, Passage, ReadRequest
from pincite.core.graph import EntityCard, GraphNode
from pincite.core.query.answer import Answer, SearchResult
from pincite.core.query.hits import Hit
from pincite.core.query.question import Filters, Question
from pincite.engine.reader.document_reader import MAX_PLACES, find_all
from pincite.errors import Invalid, PinciteError
from pincite.ingest.accept.accept import clean_folder
from pincite.query.agent.tools import DocumentArguments, FindArguments, ReadArguments, SearchArguments
from pincite.serialize.answers import answer_json, footnotes
from pincite.serialize.fields import Body, DocumentIds, Share, Text, Words
from pincite.serialize.primitives import Json
from pincite.serialize.schemas.answers import AnswerJson, SearchJson
from pincite.serialize.search import entity_json, node_json, search_json

MAX_RESULT_CHARS = 100_000
"""Characters of a tool's text result; a longer document ends with a note on how to read on."""
SNIPPET_CHARS = 100
"""Characters of context on each side of a match."""


@dataclass(frozen=True, slots=True)
class ToolBackend:
    """The functions that tools and resources search, read, ask and list with, bound to the caller and the request."""

    search: Callable[[Question], Awaitable[SearchResult]]
    read: Callable[[ReadRequest], Awaitable[Passage]]
    ask: Callable[[Question], Awaitable[Answer]]
    page: Callable[[Listing], Awaitable[tuple[list[Document], str | None]]]
    find_entities: Callable[[str], Awaitable[list[GraphNode]]]
    entity: Callable[[str], Awaitable[EntityCard]]
    describe_error: Callable[[PinciteError], str] = str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: as text for the model, as JSON, and the documents it is from by id and title."""

    text: str
    data: Json
    documents: Mapping[str, str] = field(default_factory=dict)


class LibraryScope(Body):
    """The part of the library to use."""

    folder: Text | None = Field(default=None, description="Only documents in this folder and below it.")
    document_ids: DocumentIds | None = Field(default=None, description="Only these documents.")
    profile: Text | None = Field(default=None, description="Search and answer with this profile's settings.")

    def filters(self) -> Filters:
        """The filters for the engine."""
        ids = None if self.document_ids is None else tuple(self.document_ids)
        return Filters(clean_folder(self.folder or "") or None, ids)


class RagSearch(LibraryScope, SearchArguments):
    """Find passages of the documents for one to five queries at once, best first."""

    title: ClassVar[str] = "Search documents"
    result: ClassVar[type] = SearchJson
    top_k: int | None = Field(default=None, ge=1, le=50, description="Maximum number of passages for each query.")
    min_score: Share | None = Field(default=None, description="Leave out passages with a lower similarity.")

    async def use(self, backend: ToolBackend) -> ToolResult:
        """Search for all queries and list the passages."""
        if not (queries := self.cleaned_queries()):
            raise Invalid("queries: send at least one query with words in it")
        first, *others = queries
        found = await backend.search(
            Question(
                first,
                also=tuple(others),
                many=bool(others),
                filters=self.filters(),
                top_k=self.top_k,
                min_score=self.min_score,
                profile=self.profile,
            )
        )
        text = "\n\n".join(_format_hit(number, hit) for number, hit in enumerate(found.hits, 1))
        documents = {hit.chunk.document_id: hit.chunk.title for hit in found.hits}
        return ToolResult(text or "No passage was found.", search_json(found), documents)


def _format_hit(number: int, hit: Hit) -> str:
    chunk = hit.chunk
    path = " > ".join([chunk.title, *chunk.section_path])
    place = f"lines {chunk.start_line}-{chunk.end_line}" + (f", page {chunk.page}" if chunk.page else "")
    return f"[{number}] {path} (doc_id {chunk.document_id}, {place})\n{chunk.text}"


class ReadDocument(Body, ReadArguments):
    """Read a document, by doc_id or source_uri, or only a range of lines or a section of it."""

    title: ClassVar[str] = "Read a document"
    result: ClassVar[type] = Passage

    async def use(self, backend: ToolBackend) -> ToolResult:
        """Read the requested part of the document."""
        _require_one_name(self)
        read = await backend.read(self.part_request())
        text = read.content
        if len(text) > MAX_RESULT_CHARS:
            text = text[:MAX_RESULT_CHARS].rpartition("\n")[0] or text[:MAX_RESULT_CHARS]
            last = read.start_line + text.count("\n")
            text += f"\n\n(cut after line {last} of {read.total_lines}; read on with start_line {last + 1})"
        head = (
            f"{read.title} (doc_id {read.document_id}), lines {read.start_line}-{read.end_line} of {read.total_lines}"
        )
        return ToolResult(f"{head}\n\n{text}", asdict(read) | {"content": text}, {read.document_id: read.title})


def _require_one_name(arguments: DocumentArguments) -> None:
    if wrong := arguments.naming_error():
        raise Invalid(wrong)


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """One occurrence of a text: its line, its offsets, and the text around it."""

    line: int
    start_char: int
    end_char: int
    around: str


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """The occurrences of a text in a document: how many, and the first of them."""

    document_id: str
    version: str
    found: int
    places: list[FoundPlace]


class FindInDocument(Body, FindArguments):
    """Find every exact occurrence of a text in a document, by doc_id or source_uri."""

    title: ClassVar[str] = "Find in a document"
    result: ClassVar[type] = FoundPlaces

    async def use(self, backend: ToolBackend) -> ToolResult:
        """Search the whole text of the document."""
        _require_one_name(self)
        read = await backend.read(self.read_request())
        starts = list(find_all(read.content, self.text))
        places = [_place_json(read.content, start, len(self.text)) for start in starts[:MAX_PLACES]]
        shown = "\n".join(f"line {place['line']}: {place['around']}" for place in places)
        head = f"{len(starts)} places in {read.title} (doc_id {read.document_id})"
        return ToolResult(
            f"{head}\n{shown}" if places else f"{read.title} does not contain that text.",
            {"document_id": read.document_id, "version": read.version, "found": len(starts), "places": places},
            {read.document_id: read.title},
        )


def _place_json(text: str, start: int, length: int) -> Json:
    around = text[max(0, start - SNIPPET_CHARS) : start + length + SNIPPET_CHARS]
    return {
        "line": text.count("\n", 0, start) + 1,
        "start_char": start,
        "end_char": start + length,
        "around": " ".join(around.split()),
    }


class Ask(LibraryScope):
    """Answer a question from the documents, every sentence with a citation that can be checked."""

    title: ClassVar[str] = "Ask the documents"
    result: ClassVar[type] = AnswerJson

    question: Words = Field(description="The question, understandable without the conversation before it.")

    async def use(self, backend: ToolBackend) -> ToolResult:
        """Ask the question and append the sources to the answer."""
        answer = await backend.ask(Question(self.question, filters=self.filters(), profile=self.profile))
        data = answer_json(answer)
        cited = {source.document_id: source.title for source in answer.sources if source.cited}
        return ToolResult(data["answer"] + footnotes(data), data, cited)


class FoundEntity(TypedDict, total=False):
    """An entity with its facts, places and neighbours, and the entities with the text in their name."""

    id: str
    name: str
    type: str
    mentions: int
    facts: list[dict[str, Any]]
    places: list[dict[str, Any]]
    neighbours: list[dict[str, Any]]
    items: list[dict[str, Any]]


class GraphSearch(Body):
    """Look up an entity in the knowledge graph: facts, each with the sentence that states it, and related entities."""

    title: ClassVar[str] = "Look up an entity"
    result: ClassVar[type] = FoundEntity
    name: Words = Field(description="The name of a person, organization, project, place, product, event or law.")

    async def use(self, backend: ToolBackend) -> ToolResult:
        """Show the entity with this name, or list those with the text in their name."""
        found = await backend.find_entities(self.name)
        if not found:
            return ToolResult("No entity has this name.", {"items": []})
        card = await backend.entity(found[0].id)
        facts = "\n".join(
            f"{one.subject} — {one.relation} — {one.object} ({one.place.title}, doc_id {one.place.document_id}, "
            f"line {one.place.line})"
            for one in card.facts
        )
        near = ", ".join(one.node.name for one in card.neighbours if one.hops == 1)
        text = (
            f"{card.node.name} ({card.node.kind}), in {card.node.mentions} passages\n{facts}\nRelated: {near or 'none'}"
        )
        return ToolResult(text, entity_json(card) | {"items": [node_json(one) for one in found]})


Tool = type[GraphSearch] | type[RagSearch] | type[ReadDocument] | type[FindInDocument] | type[Ask]
TOOLS: Mapping[str, Tool] = {
    "rag_search": RagSearch,
    "read_document": ReadDocument,
    "find_in_document": FindInDocument,
    "ask": Ask,
    "graph_search": GraphSearch,
}


def output_schema(tool: Tool) -> Json:
    """The JSON schema of a tool's structured result."""
    return TypeAdapter(tool.result).json_schema(mode="serialization")


async def call_tool(backend: ToolBackend, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Call a tool; raise `Invalid` when the arguments are not valid."""
    try:
        tool = TOOLS[name].model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise Invalid(f"{path}: {describe_error(first)}" if path else describe_error(first)) from None
    return await tool.use(backend)
