"""JSON bodies of searches and questions, validated, and the engine's questions made from them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator

from pincite.core.accounts.access import ReaderRole, ShareRequest
from pincite.core.query.pictures import MAX_PICTURES as MOST_IMAGES
from pincite.core.query.pictures import read_pictures
from pincite.core.query.question import EffortLevel, Filters, Mode, Question, RequestedStrategy, Sampling
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder
from pincite.serialize.fields import Body, DocumentIds, Image, Levels, Moment, Name, Share, Tag, Text, Words

T = TypeVar("T")
Changes = tuple[tuple[str, bool | int | float | str], ...]
"""Settings by dotted key that override the current ones for one request."""


def single_value(**given: T | None) -> T | None:
    """The value of an option that has several names; raise `Invalid` when they differ."""
    sent = {name: value for name, value in given.items() if value is not None}
    if any(value != next(iter(sent.values())) for value in sent.values()):
        raise Invalid(f"{' and '.join(sent)} are the same option but have different values; send one of them")
    return next(iter(sent.values()), None)


class SearchOptions(Body):
    """Options of a search: filters, strategy and number of results."""

    top_k: int | None = Field(default=None, ge=1, le=1000)
    strategy: RequestedStrategy | None = None
    folder: Text | None = None
    document_ids: DocumentIds | None = None
    min_score: Share | None = None
    levels: Levels | None = None
    profile: Text | None = None
    as_of: Moment | None = None
    tags: list[Tag] = Field(default=[], max_length=100)

    def filters(self) -> Filters:
        """The filters for the engine; the top folder means the whole library."""
        ids = None if self.document_ids is None else tuple(self.document_ids)
        return Filters(clean_folder(self.folder or "") or None, ids, self.as_of, tuple(dict.fromkeys(self.tags)))


def distinct_levels(levels: Sequence[int] | None) -> tuple[int, ...] | None:
    """The requested levels without duplicates, sorted."""
    return None if levels is None else tuple(sorted(set(levels)))


class ExplainedSearchOptions(SearchOptions):
    """Options of a search whose scores can be explained."""

    explain: bool = False

    def to_question(self, queries: Sequence[str], *, many: bool = False, changes: Changes = ()) -> Question:
        """The engine's question for these queries."""
        first, *others = queries
        return Question(
            first,
            also=tuple(others),
            many=many,
            filters=self.filters(),
            top_k=self.top_k,
            min_score=self.min_score,
            strategy=self.strategy,
            profile=self.profile,
            levels=distinct_levels(self.levels),
            changes=changes,
        )


class SearchBody(ExplainedSearchOptions):
    """One query, and settings that override the current ones for it."""

    query: Words
    settings: dict[Name, bool | int | float | Text] = Field(default={}, max_length=100)

    def question(self) -> Question:
        """The engine's question."""
        return self.to_question([self.query], changes=tuple(self.settings.items()))


class ManyBody(ExplainedSearchOptions):
    """Several queries whose results are fused."""

    queries: list[Words] = Field(min_length=1, max_length=100)

    def question(self) -> Question:
        """The engine's question."""
        return self.to_question(self.queries, many=True)


class RagOptions(Body):
    """Search options in the nested object `rag`; `query` is the text to search for instead of the message.

    `mode` takes the place of the setting `rag.mode`. `enabled` switches retrieval on or off, whatever the mode is.
    """

    enabled: bool | None = None
    mode: Literal["always", "automatic", "manual"] | None = None
    query: Words | None = None
    search_limit: int | None = Field(default=None, ge=1, le=1000)
    search_threshold: Share | None = None
    hybrid_alpha: Share | None = None


class AnswerOptions(SearchOptions):
    """Options of an answer."""

    stream: bool = False
    resumable: bool = False
    mode: Mode | None = None
    images: list[Image] = Field(default=[], max_length=MOST_IMAGES)
    level_filter: Levels | None = None
    folder_id: Text | None = None
    collection_filter: Text | None = None
    temperature_override: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    sampling_top_k: int | None = Field(default=None, ge=1, le=1000)
    max_tokens: int | None = Field(default=None, ge=1, le=100_000)
    stop: Text | list[Text] | None = None
    model: Text | None = None
    system_prompt: Words | None = Field(default=None, max_length=20_000)
    intelligence_level: EffortLevel | None = None
    enable_cot: bool | None = None
    ensemble_voting: bool | None = None
    extended_thinking: bool | None = None
    second_look: bool | None = None
    enable_verification: bool | None = None
    enable_document_expansion: bool | None = None
    max_documents_to_expand: int | None = Field(default=None, ge=1, le=50)
    max_chunks_per_document: int | None = Field(default=None, ge=1, le=200)
    expansion_threshold: Share | None = None
    no_cache: bool = False
    rag: RagOptions = RagOptions()

    @model_validator(mode="after")
    def _resumable_streams_only(self) -> Self:
        if self.resumable and not self.stream:
            raise ValueError("only a stream can be resumable; send stream: true as well")
        return self

    def to_question(self, text: str) -> Question:
        """The engine's question with this text and these options."""
        folder = single_value(folder=self.folder, folder_id=self.folder_id, collection_filter=self.collection_filter)
        return Question(
            text,
            query=self.rag.query if self.rag.query != text else None,
            filters=replace(self.filters(), folder=clean_folder(folder or "") or None),
            top_k=single_value(top_k=self.top_k, **{"rag.search_limit": self.rag.search_limit}),
            min_score=single_value(min_score=self.min_score, **{"rag.search_threshold": self.rag.search_threshold}),
            strategy=self.strategy,
            alpha=self.rag.hybrid_alpha,
            sampling=self._sampling(),
            profile=self.profile,
            changes=self._changes(),
            levels=distinct_levels(single_value(levels=self.levels, level_filter=self.level_filter)),
            retrieve=self.rag.enabled,
            fresh=self.no_cache,
            intelligence_level=self.intelligence_level,
            mode=self.mode or ("vision" if self.images else "chat"),
            pictures=read_pictures(self.images),
        )

    def _changes(self) -> Changes:
        """The settings that this request overrides."""
        chain_of_thought = None if self.enable_cot is None else "on" if self.enable_cot else "off"
        overrides = {
            "answers.chain_of_thought": chain_of_thought,
            "answers.ensemble_voting": self.ensemble_voting,
            "answers.extended_thinking": self.extended_thinking,
            "rag.mode": self.rag.mode,
            "rag.second_look": self.second_look,
            "rag.verification_enabled": self.enable_verification,
            "rag.expansion.enabled": self.enable_document_expansion,
            "rag.expansion.max_documents": self.max_documents_to_expand,
            "rag.expansion.max_chunks": self.max_chunks_per_document,
            "rag.expansion.threshold": self.expansion_threshold,
        }
        return tuple((key, value) for key, value in overrides.items() if value is not None)

    def _sampling(self) -> Sampling:
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        return Sampling(
            model=self.model,
            temperature=self.temperature_override,
            top_p=self.top_p,
            top_k=self.sampling_top_k,
            max_tokens=self.max_tokens,
            stop=stop,
            system_prompt=self.system_prompt or None,
        )


class QueryBody(AnswerOptions):
    """A question and the options of its answer."""

    query: Words

    def question(self) -> Question:
        """The engine's question."""
        return self.to_question(self.query)


Names = Annotated[list[Annotated[Name, Field(min_length=1, max_length=100)]], Field(max_length=1000)]


class AccessBody(Body):
    """Readers besides the owner: users and groups by id or name, the users of a role, or every user."""

    users: Names = Field(default=[])
    groups: Names = Field(default=[])
    roles: list[ReaderRole] = Field(default=[], max_length=10)
    everyone: bool = False

    def to_share_request(self) -> ShareRequest:
        """The request for the engine."""
        users, groups = (tuple(dict.fromkeys(names)) for names in (self.users, self.groups))
        return ShareRequest(users, groups, self.everyone, tuple(dict.fromkeys(self.roles)))
