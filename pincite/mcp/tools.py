"""The tools that other programs' models are given: search, read, find, ask; each with its asker's rights."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field, ValidationError

from pincite.config.messages import describe_error as fault
from pincite.core.documents.document import Passage, ReadRequest
from pincite.core.query.answer import Answer, SearchResult
from pincite.core.query.hits import Hit
from pincite.core.query.question import Filters, Question
from pincite.engine.reader.document_reader import MAX_PLACES, find_all
from pincite.errors import Invalid, PinciteError
from pincite.ingest.accept.accept import clean_folder
from pincite.serialize import answers
from pincite.serialize.answers import footnotes
from pincite.serialize.fields import Body, DocumentId, DocumentIds, ReadBody, Share, Text, Words

LONGEST = 100_000
"""Characters that a tool tells at most; where a document is longer it says how to read on."""
AROUND = 100
"""Characters shown on either side of a text that was found."""


@dataclass(frozen=True, slots=True)
class ToolBackend:
    """Where tools are used: how one of them searches, reads and asks, in its caller's name."""

    search: Callable[[Question], Awaitable[SearchResult]]
    read: Callable[[ReadRequest], Awaitable[Passage]]
    ask: Callable[[Question], Awaitable[Answer]]
    describe_error: Callable[[PinciteError], str] = str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool says: for a model to read, and the same as JSON."""

    text: str
    data: answers.Json


class Where(Body):
    """What part of the library is meant."""

    folder: Text | None = Field(default=None, description="Only documents in this folder and below it.")
    document_ids: DocumentIds | None = Field(default=None, description="Only these documents.")
    profile: Text | None = Field(default=None, description="Search and answer by this profile's settings.")

    def filters(self) -> Filters:
        """The same as the engine takes it."""
        ids = None if self.document_ids is None else tuple(self.document_ids)
        return Filters(clean_folder(self.folder or "") or None, ids)


class RagSearch(Where):
    """Find passages of the documents for one to five queries at once, best first."""

    queries: list[Words] = Field(
        min_length=1,
        max_length=5,
        description="Queries in natural language that look at what is wanted from different sides.",
    )
    top_k: int | None = Field(default=None, ge=1, le=50, description="How many passages.")
    min_score: Share | None = Field(default=None, description="Leave out passages less similar than this.")

    async def use(self, desk: ToolBackend) -> ToolResult:
        """Search."""
        first, *others = self.queries
        found = await desk.search(
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
        text = "\n\n".join(_cited(number, hit) for number, hit in enumerate(found.hits, 1))
        return ToolResult(text or "No passage was found.", answers.search_result(found))


def _cited(number: int, hit: Hit) -> str:
    chunk = hit.chunk
    path = " > ".join([chunk.title, *(part for part in chunk.heading_path if part != chunk.title)])
    place = f"lines {chunk.start_line}-{chunk.end_line}" + (f", page {chunk.page}" if chunk.page else "")
    return f"[{number}] {path} (doc_id {chunk.document_id}, {place})\n{chunk.text}"


class ReadDocument(ReadBody):
    """Read a document, or of a long one the lines or the section that matter."""

    async def use(self, desk: ToolBackend) -> ToolResult:
        """Read."""
        reading = ReadRequest(self.doc_id, self.source_uri, self.section, self.start_line, self.end_line, self.version)
        read = await desk.read(reading)
        text = read.content
        if len(text) > LONGEST:
            text = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
            last = read.start_line + text.count("\n")
            text += f"\n\n(cut after line {last} of {read.total_lines}; read on with start_line {last + 1})"
        head = (
            f"{read.title} (doc_id {read.document_id}), lines {read.start_line}-{read.end_line} of {read.total_lines}"
        )
        return ToolResult(f"{head}\n\n{text}", asdict(read) | {"content": text})


class FindInDocument(Body):
    """Find every place where a document holds a text, letter for letter."""

    doc_id: DocumentId
    text: Words = Field(min_length=1, max_length=1000, description="The text to look for.")
    version: DocumentId | None = None

    async def use(self, desk: ToolBackend) -> ToolResult:
        """Look through the whole of it."""
        read = await desk.read(ReadRequest(self.doc_id, version=self.version))
        starts = list(find_all(read.content, self.text))
        places = [_place(read.content, start, len(self.text)) for start in starts[:MAX_PLACES]]
        shown = "\n".join(f"line {place['line']}: {place['around']}" for place in places)
        head = f"{len(starts)} places in {read.title} (doc_id {read.document_id})"
        return ToolResult(
            f"{head}\n{shown}" if places else f"{read.title} does not hold that text.",
            {"document_id": read.document_id, "version": read.version, "found": len(starts), "places": places},
        )


def _place(text: str, start: int, length: int) -> answers.Json:
    around = text[max(0, start - AROUND) : start + length + AROUND]
    return {
        "line": text.count("\n", 0, start) + 1,
        "start_char": start,
        "end_char": start + length,
        "around": " ".join(around.split()),
    }


class Ask(Where):
    """Answer a question from the documents, every sentence with a citation that can be checked."""

    question: Words = Field(description="The question, understandable without what was said before.")

    async def use(self, desk: ToolBackend) -> ToolResult:
        """Ask."""
        answer = await desk.ask(Question(self.question, filters=self.filters(), profile=self.profile))
        told = answers.answer(answer)
        return ToolResult(told["answer"] + footnotes(told), told)


Tool = type[RagSearch] | type[ReadDocument] | type[FindInDocument] | type[Ask]
TOOLS: Mapping[str, Tool] = {
    "rag_search": RagSearch,
    "read_document": ReadDocument,
    "find_in_document": FindInDocument,
    "ask": Ask,
}


def described() -> list[answers.Json]:
    """Every tool as its users are told of it."""
    return [
        {"name": name, "description": str(tool.__doc__), "inputSchema": tool.model_json_schema()}
        for name, tool in TOOLS.items()
    ]


async def use(desk: ToolBackend, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """What a tool says to these arguments; `Invalid` where it cannot work with them."""
    try:
        asked = TOOLS[name].model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise Invalid(f"{path}: {fault(first)}" if path else fault(first)) from None
    return await asked.use(desk)
