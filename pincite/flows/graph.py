"""The definition of a flow: nodes and edges, validated before it runs."""

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pincite.config.messages import describe_error, did_you_mean
from pincite.core.documents.document import ReadRequest
from pincite.core.query.question import Filters, Sampling
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder
from pincite.text.sentences import storable

MAX_NODES, MAX_EDGES, MAX_COMPLETIONS = 50, 200, 10
"""Maximum nodes, edges and completion nodes of a flow."""
NODE_TYPES = ("rag", "read_document", "completion")
MAX_QUERY_CHARS = 4000
"""Maximum characters of a query of a tool call."""
RAG_PRIORITY, READ_PRIORITY = -50, -40
"""Default priorities of the system messages of search and read nodes."""

Words = Annotated[str, AfterValidator(storable)]
Text = Annotated[Words, Field(max_length=2000)]
Input = Annotated[Words, Field(min_length=1, max_length=20_000)]
NAME_PATTERN = r"[^\W_][\w.-]{0,59}"
"""The names of stored flows."""
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Line = Annotated[int, Field(ge=1, le=2**31)]


def fill(text: str, texts: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced by texts; unknown placeholders stay."""
    return re.sub(r"\{([\w-]{1,40})\}", lambda found: texts.get(found[1], found[0]), text)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Node(_Part):
    """A node of a flow; a completion sorts the system messages of its inputs by priority, lowest first."""

    id: Id
    priority: int = Field(default=0, ge=-1000, le=1000)


class RagNode(Node):
    """Gives completions a search: with the node's own `queries`, or else with queries that the model writes."""

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

    def filled(self, text: str) -> "RagNode":
        """Return the node with the flow's input in its queries and its guidance."""
        queries = self.queries and [fill(query, {"input": text})[:MAX_QUERY_CHARS] for query in self.queries]
        return self.model_copy(
            update={"queries": queries, "guidance": self.guidance and fill(self.guidance, {"input": text})}
        )

    def filters(self) -> Filters:
        """Return the filters of its searches."""
        ids = None if self.document_ids is None else tuple(self.document_ids)
        return Filters(clean_folder(self.folder or "") or None, ids, tags=tuple(self.tags))

    def message(self) -> str:
        """Return the system message about writing queries."""
        return self.guidance or (
            f"Search with rag_search before you answer: 1 to {self.max_queries} queries in natural language, each"
            " complete in itself and about one thing. Answer from what they bring."
        )


class ReadNode(Node):
    """Gives completions access to documents: the one it names, or else those that the model requests."""

    type: Literal["read_document"] = "read_document"
    priority: int = Field(default=READ_PRIORITY, ge=-1000, le=1000)
    doc_id: Text | None = None
    source_uri: Text | None = None
    section: Text | None = None
    start_line: Line | None = None
    end_line: Line | None = None
    version: Text | None = None
    guidance: Text | None = None

    def filled(self, text: str) -> "ReadNode":
        """Return the node with the flow's input in its guidance."""
        return self.model_copy(update={"guidance": self.guidance and fill(self.guidance, {"input": text})})

    @property
    def named(self) -> bool:
        """Whether the node names a document."""
        return bool(self.doc_id or self.source_uri)

    def reading(self) -> ReadRequest:
        """Return the part of the document to read."""
        return ReadRequest(self.doc_id, self.source_uri, self.section, self.start_line, self.end_line, self.version)

    def message(self) -> str:
        """Return the system message about reading documents."""
        return (
            self.guidance or "Read on with read_document where a passage is not enough: lines, a section, or all of it."
        )


class CompletionNode(Node):
    """Writes a text; in `prompt`, `{input}` and `{id}` of an earlier completion are replaced by their texts."""

    type: Literal["completion"] = "completion"
    prompt: Annotated[Words, Field(min_length=1, max_length=20_000)] = "{input}"
    system_prompt: Annotated[Words, Field(max_length=20_000)] | None = None
    model: Text | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=100_000)
    stop: Annotated[list[Text], Field(max_length=16)] = []

    def fill_prompt(self, texts: Mapping[str, str]) -> str:
        """Return the prompt with its placeholders replaced by texts; unknown placeholders stay."""
        return fill(self.prompt, texts)

    def sampling(self, messages: Sequence[tuple[int, str]], texts: Mapping[str, str]) -> Sampling:
        """Return the sampling options, with the system messages sorted by priority, lowest first."""
        own = [(self.priority, fill(self.system_prompt, texts))] if self.system_prompt else []
        ordered = sorted([*messages, *own], key=lambda one: one[0])
        return Sampling(
            model=self.model,
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            stop=tuple(self.stop),
            system_prompt="\n\n".join(text for _, text in ordered) or None,
        )


def _normalize_node(node: Any) -> Any:
    """Normalise a node: the types `RAG`, `ReadDocument` and `Completion` and fields in camel case are accepted too."""
    if not isinstance(node, dict):
        raise ValueError("a node must be an object with id and type")
    fields = {re.sub(r"(?<=[a-z])[A-Z]", lambda hump: f"_{hump[0].lower()}", str(name)): name for name in node}
    if len(fields) < len(node):
        raise ValueError("a field is sent twice, in two spellings; send it once")
    node = {name: node[given] for name, given in fields.items()}
    given = str(node.get("type", ""))[:100]
    plain = re.sub(r"[^a-z]|node$", "", given.lower())
    kind = next((name for name in NODE_TYPES if name.replace("_", "") == plain), None)
    if kind is None:
        raise ValueError(
            f"there is no node type '{given}'{did_you_mean(given, NODE_TYPES)}; there are: {', '.join(NODE_TYPES)}"
        )
    return {**node, "type": kind}


AnyNode = Annotated[
    Annotated[RagNode | ReadNode | CompletionNode, Field(discriminator="type")], BeforeValidator(_normalize_node)
]


class Edge(_Part):
    """An edge: the output of `source` is an input of `target`."""

    source: Id = Field(alias="from")
    target: Id = Field(alias="to")


class FlowDefinition(_Part):
    """A flow without its input: its nodes and edges, and which completion is the answer."""

    nodes: Annotated[list[AnyNode], Field(min_length=1, max_length=MAX_NODES)]
    edges: Annotated[list[Edge], Field(max_length=MAX_EDGES)] = []
    output: Id | None = None
    profile: Text | None = None

    @model_validator(mode="after")
    def _validate(self) -> Self:
        self._check_nodes()
        self._check_edges()
        try:
            self._order()
        except CycleError as error:
            raise ValueError(f"the edges form a cycle: {' → '.join(error.args[1])}") from None
        self._check_ends()
        return self

    def _check_nodes(self) -> None:
        ids = [node.id for node in self.nodes]
        twice = next((one for one in ids if ids.count(one) > 1), None)
        if twice is not None:
            raise ValueError(f"two nodes have the id '{twice}'")
        if "input" in ids:
            raise ValueError("a node cannot be called 'input'; that is the name of the flow's input")
        if not 1 <= len(self.completions()) <= MAX_COMPLETIONS:
            raise ValueError(f"a flow needs 1 to {MAX_COMPLETIONS} nodes of the type completion")

    def _check_edges(self) -> None:
        known = {node.id: node for node in self.nodes}
        for edge in self.edges:
            for one in (edge.source, edge.target):
                if one not in known:
                    raise ValueError(f"an edge names '{one}', but there is no such node{did_you_mean(one, known)}")
            if not isinstance(known[edge.target], CompletionNode):
                raise ValueError(f"'{edge.target}' is of the type {known[edge.target].type}, which accepts no input")
        if len({(edge.source, edge.target) for edge in self.edges}) < len(self.edges):
            raise ValueError("two edges connect the same nodes; remove one")

    def _check_ends(self) -> None:
        sources = {edge.source for edge in self.edges}
        ends = [node for node in self.nodes if node.id not in sources]
        idle = next((node for node in ends if not isinstance(node, CompletionNode)), None)
        if idle is not None:
            raise ValueError(f"'{idle.id}' has no outgoing edge; connect it to a completion")
        if self.output is not None and self.output not in {node.id for node in self.completions()}:
            raise ValueError(f"output: there is no completion '{self.output}'")
        if self.output is None and len(ends) > 1:
            names = ", ".join(node.id for node in ends)
            raise ValueError(
                f"several completions have no outgoing edge ({names}); name the one that is the answer with 'output'"
            )

    def completions(self) -> list[CompletionNode]:
        """Return the completion nodes, in the listed order."""
        return [node for node in self.nodes if isinstance(node, CompletionNode)]

    def inputs(self, node: Node) -> list[RagNode | ReadNode | CompletionNode]:
        """Return the nodes with an edge to a node, in the listed order."""
        sources = {edge.source for edge in self.edges if edge.target == node.id}
        return [one for one in self.nodes if one.id in sources]

    def in_order(self) -> list[CompletionNode]:
        """Return the completions that the answer needs, in topological order; the last one is the answer."""
        order, known = self._order(), {node.id: node for node in self.completions()}
        last = self.output or next(one for one in reversed(order) if one in known)
        needed = {last}
        for one in reversed(order):
            if one in needed:
                needed |= {node.id for node in self.inputs(known[one])} if one in known else set()
        return [known[one] for one in order if one in needed and one in known]

    def has_documents(self) -> bool:
        """Whether a completion that the answer needs has a node that searches or reads."""
        return any(not isinstance(one, CompletionNode) for node in self.in_order() for one in self.inputs(node))

    def _order(self) -> list[str]:
        sorter: TopologicalSorter[str] = TopologicalSorter({node.id: () for node in self.nodes})
        for edge in self.edges:
            sorter.add(edge.target, edge.source)
        return list(sorter.static_order())


class Flow(FlowDefinition):
    """A flow with its input text."""

    input: Input


class SavedFlow(FlowDefinition):
    """A flow as it is stored; its `input` is used if a run gives none."""

    input: Input | None = None


F = TypeVar("F", bound=FlowDefinition)


def read_flow(value: Any) -> Flow:
    """Parse a flow from JSON values; `Invalid` names the error."""
    return _read(Flow, value)


def flow_to_save(name: str, value: Any) -> dict[str, Any]:
    """Return the definition to store under a name, without defaults; `Invalid` names the error."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise Invalid(
            f"a flow cannot be called '{name[:60]}'; use 1 to 60 letters, digits, dots, dashes and underscores,"
            " beginning with a letter or digit"
        )
    flow = _read(SavedFlow, value)
    nodes = [
        {"id": node.id, "type": node.type, **node.model_dump(mode="json", exclude_defaults=True)} for node in flow.nodes
    ]
    return {**flow.model_dump(mode="json", by_alias=True, exclude_defaults=True), "nodes": nodes}


def stored_flow(definition: Mapping[str, Any], text: str | None) -> Flow:
    """Return a stored flow with its input: the text of this run, or else the stored one; `Invalid` if there is none."""
    found = text if text is not None else definition.get("input")
    if found is None:
        raise Invalid("this flow is stored without an input; send one")
    return read_flow({**definition, "input": found})


def _read(kind: type[F], value: Any) -> F:
    if not isinstance(value, dict):
        raise Invalid("a flow must be an object with nodes, edges and input")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"] if part not in NODE_TYPES)
        raise Invalid(f"{path}: {describe_error(first)}" if path else describe_error(first)) from None
