"""What a flow is: its nodes and edges, read and checked before anything runs."""

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pincite.config.messages import describe_error, nearest
from pincite.core.documents.document import ReadRequest
from pincite.core.query.question import Filters, Sampling
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder
from pincite.text.sentences import storable

MAX_NODES, MAX_EDGES, MAX_COMPLETIONS = 50, 200, 10
NODE_TYPES = ("rag", "read_document", "completion")
RAG_PRIORITY, READ_PRIORITY = -50, -40
"""Where guidance of queries and of reading stand among system messages."""

Words = Annotated[str, AfterValidator(storable)]
Text = Annotated[Words, Field(max_length=2000)]
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Line = Annotated[int, Field(ge=1, le=2**31)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Node(_Part):
    """A part of a flow; of the system messages that meet in a completion, those of low priority come first."""

    id: Id
    priority: int = Field(default=0, ge=-1000, le=1000)


class RagNode(Node):
    """Lets completions search: with queries of its own at once, else with those that the model writes."""

    type: Literal["rag"] = "rag"
    priority: int = Field(default=RAG_PRIORITY, ge=-1000, le=1000)
    queries: Annotated[list[Text], Field(min_length=1, max_length=5)] | None = None
    max_queries: int = Field(default=5, ge=1, le=5)
    top_k: int | None = Field(default=None, ge=1, le=50)
    min_score: float | None = Field(default=None, ge=0, le=1)
    folder: Text | None = None
    document_ids: Annotated[list[Text], Field(max_length=1000)] | None = None
    tags: Annotated[list[Text], Field(max_length=100)] = []
    guidance: Text | None = None

    def filters(self) -> Filters:
        """What part of the library it searches."""
        ids = None if self.document_ids is None else tuple(self.document_ids)
        return Filters(clean_folder(self.folder or "") or None, ids, tags=tuple(self.tags))

    def message(self) -> str:
        """How queries should be written."""
        return self.guidance or (
            f"Search with rag_search before you answer: 1 to {self.max_queries} queries in natural language, each complete in"
            " itself and about one thing. Answer from what they bring."
        )


class ReadNode(Node):
    """Lets completions read documents: the one it names at once, else those that the model asks for."""

    type: Literal["read_document"] = "read_document"
    priority: int = Field(default=READ_PRIORITY, ge=-1000, le=1000)
    doc_id: Text | None = None
    source_uri: Text | None = None
    section: Text | None = None
    start_line: Line | None = None
    end_line: Line | None = None
    version: Text | None = None
    guidance: Text | None = None

    @property
    def named(self) -> bool:
        """Whether it says which document."""
        return bool(self.doc_id or self.source_uri)

    def reading(self) -> ReadRequest:
        """What it reads."""
        return ReadRequest(self.doc_id, self.source_uri, self.section, self.start_line, self.end_line, self.version)

    def message(self) -> str:
        """How documents should be read."""
        return (
            self.guidance or "Read on with read_document where a passage is not enough: lines, a section, or all of it."
        )


class CompletionNode(Node):
    """Writes: its `prompt` is what is asked, with `{input}` and the ids of completions before it filled in."""

    type: Literal["completion"] = "completion"
    prompt: Annotated[Words, Field(min_length=1, max_length=20_000)] = "{input}"
    system_prompt: Annotated[Words, Field(max_length=20_000)] | None = None
    model: Text | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=100_000)
    stop: Annotated[list[Text], Field(max_length=16)] = []

    def asks(self, said: Mapping[str, str]) -> str:
        """What it asks once these were said; braces that name nothing stay."""
        return re.sub(r"\{([\w-]{1,40})\}", lambda found: said.get(found[1], found[0]), self.prompt)

    def sampling(self, messages: Sequence[tuple[int, str]]) -> Sampling:
        """How it writes, under all these system messages, those of low priority first."""
        own = [(self.priority, self.system_prompt)] if self.system_prompt else []
        ordered = sorted([*messages, *own], key=lambda one: one[0])
        return Sampling(
            self.model, self.temperature, self.top_p, self.max_tokens, tuple(self.stop),
            "\n\n".join(text for _, text in ordered) or None,
        )  # fmt: skip


def _normalize_type(node: Any) -> Any:
    """A node with its type as we write it: `RAG`, `ReadDocument` and `Completion` are the same."""
    if not isinstance(node, dict):
        raise ValueError("a node is an object with id and type")
    given = str(node.get("type", ""))[:100]
    plain = re.sub(r"[^a-z]|node$", "", given.lower())
    kind = next((name for name in NODE_TYPES if name.replace("_", "") == plain), None)
    if kind is None:
        raise ValueError(
            f"there is no type of node '{given}'{nearest(given, NODE_TYPES)}; there are: {', '.join(NODE_TYPES)}"
        )
    return {**node, "type": kind}


AnyNode = Annotated[
    Annotated[RagNode | ReadNode | CompletionNode, Field(discriminator="type")], BeforeValidator(_normalize_type)
]


class Edge(_Part):
    """What one node gives to another."""

    source: Id = Field(alias="from")
    target: Id = Field(alias="to")


class Flow(_Part):
    """Nodes, the edges that join them, and what is asked."""

    nodes: Annotated[list[AnyNode], Field(min_length=1, max_length=MAX_NODES)]
    edges: Annotated[list[Edge], Field(max_length=MAX_EDGES)] = []
    input: Annotated[Words, Field(min_length=1, max_length=20_000)]
    output: Id | None = None
    profile: Text | None = None

    @model_validator(mode="after")
    def _sound(self) -> "Flow":
        self._check_nodes()
        self._check_edges()
        try:
            self._order()
        except CycleError as error:
            raise ValueError(f"the edges go round in a circle: {' → '.join(error.args[1])}") from None
        self._check_ends()
        return self

    def _check_nodes(self) -> None:
        ids = [node.id for node in self.nodes]
        twice = next((one for one in ids if ids.count(one) > 1), None)
        if twice is not None:
            raise ValueError(f"two nodes have the id '{twice}'")
        if "input" in ids:
            raise ValueError("a node cannot be called 'input'; that is what the flow is asked")
        if not 1 <= len(self.completions()) <= MAX_COMPLETIONS:
            raise ValueError(f"a flow needs 1 to {MAX_COMPLETIONS} nodes of the type completion")

    def _check_edges(self) -> None:
        known = {node.id: node for node in self.nodes}
        for edge in self.edges:
            for one in (edge.source, edge.target):
                if one not in known:
                    raise ValueError(f"an edge names '{one}', and there is no such node{nearest(one, known)}")
            if not isinstance(known[edge.target], CompletionNode):
                raise ValueError(f"'{edge.target}' is of the type {known[edge.target].type}, which takes no input")
        if len({(edge.source, edge.target) for edge in self.edges}) < len(self.edges):
            raise ValueError("two edges join the same nodes")

    def _check_ends(self) -> None:
        sources = {edge.source for edge in self.edges}
        ends = [node for node in self.nodes if node.id not in sources]
        idle = next((node for node in ends if not isinstance(node, CompletionNode)), None)
        if idle is not None:
            raise ValueError(f"'{idle.id}' leads nowhere; join it to a completion with an edge")
        if self.output is not None and self.output not in {node.id for node in self.completions()}:
            raise ValueError(f"output: there is no completion '{self.output}'")
        if self.output is None and len(ends) > 1:
            names = ", ".join(node.id for node in ends)
            raise ValueError(f"several completions lead nowhere ({names}); say which is the answer with 'output'")

    def completions(self) -> list[CompletionNode]:
        """The nodes that write, as they are listed."""
        return [node for node in self.nodes if isinstance(node, CompletionNode)]

    def inputs(self, node: Node) -> list[RagNode | ReadNode | CompletionNode]:
        """What leads to a node, as it is listed."""
        sources = {edge.source for edge in self.edges if edge.target == node.id}
        return [one for one in self.nodes if one.id in sources]

    def in_order(self) -> list[CompletionNode]:
        """The completions that the answer needs, each after those that lead to it; the last one is the answer."""
        order, known = self._order(), {node.id: node for node in self.completions()}
        last = self.output or next(one for one in reversed(order) if one in known)
        needed = {last}
        for one in reversed(order):
            if one in needed:
                needed |= {node.id for node in self.inputs(known[one])} if one in known else set()
        return [known[one] for one in order if one in needed and one in known]

    def _order(self) -> list[str]:
        sorter: TopologicalSorter[str] = TopologicalSorter({node.id: () for node in self.nodes})
        for edge in self.edges:
            sorter.add(edge.target, edge.source)
        return list(sorter.static_order())


def read_flow(told: Any) -> Flow:
    """A flow from plain values, as a file holds them; `Invalid` says what is wrong with it."""
    if not isinstance(told, dict):
        raise Invalid("a flow is an object with nodes, edges and input")
    try:
        return Flow.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"] if part not in NODE_TYPES)
        raise Invalid(f"{path}: {describe_error(first)}" if path else describe_error(first)) from None
