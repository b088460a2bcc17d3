"""Answers as JSON for the database and back, and answers without the quotes of removed or unreadable documents."""

import dataclasses
import types
from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pincite.core.accounts.conversations import KeptTurn
from pincite.core.query.answer import Answer, AnswerGraph, AnswerMetadata, Citation, Groundedness, Source, Sufficiency
from pincite.text.sentences import storable

T = TypeVar("T")

REMOVED = "this answer cites a document that was removed; its quotes were removed, too"
"""Warning of a stored answer that cites a removed document."""
WITHHELD = "you may not read some sources of this answer: their names and quotes are left out"
"""Warning of a shared answer for a reader who may not read all of its sources."""
GAP = "[…]"
"""Replaces a sentence that an answer copied from a removed document."""


def to_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as plain JSON values."""
    return _to_plain(answer)  # type: ignore[no-any-return]


def from_json(stored: Mapping[str, Any]) -> Answer:
    """Return the answer of stored JSON; missing fields get their default, unknown fields are dropped."""
    return _from_plain(Answer, stored)  # type: ignore[no-any-return]


def _to_plain(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if names := _field_names(value.__class__):
        return {name: _to_plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {storable(key): _to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(item) for item in value]
    return value


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Return the field names of a dataclass; an empty tuple for any other type."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _from_plain(kind: Any, stored: Any) -> Any:
    """Return a stored value converted to the type of its field."""
    if stored is None:
        return None
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{name: _from_plain(hints[name], value) for name, value in stored.items() if name in hints})
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _from_plain(next(part for part in inner if part is not type(None)), stored)
    if origin is tuple:
        kinds = [inner[0]] * len(stored) if inner[-1] is Ellipsis else inner
        return tuple(_from_plain(part, item) for part, item in zip(kinds, stored, strict=True))
    return stored


# --- removing a document from answers -----------------------------------------------------------------------


def without_document(turn: KeptTurn, document_id: str) -> tuple[KeptTurn, int]:
    """Return a turn without the quotes, snippets and titles of a document, and the number of removed quotes.

    The model's own words stay. Sentences that code copied from the document count as quotes, and so does the text of an
    incomplete answer, because its sentences were never checked against the sources.
    """
    if turn.answer is None:
        removed = int(bool(turn.words))
        return replace(turn, words=GAP if removed else "", removed=True), removed
    answer, removed = _remove_document(turn.answer, document_id)
    return replace(turn, answer=answer, words=answer.text, removed=True), removed


def _remove_document(answer: Answer, document_id: str) -> tuple[Answer, int]:
    numbers = {source.number for source in answer.sources if source.document_id == document_id}
    snippets = sum(bool(source.snippet) for source in answer.sources if source.number in numbers)
    quotes = sum(bool(citation.quote) for citation in answer.citations if citation.source in numbers)
    answer = _remove_copied_sentences(replace(answer, warnings=_warnings_without(answer, numbers)), numbers)
    return replace(
        answer,
        sources=tuple(_cleared_source(one) if one.number in numbers else one for one in answer.sources),
        citations=tuple(_cleared_citation(one) if one.source in numbers else one for one in answer.citations),
        related_documents=tuple(one for one in answer.related_documents if one.document_id != document_id),
        context_sufficiency=_remove_conflicts(answer.context_sufficiency, document_id),
        suggested_questions=() if numbers else answer.suggested_questions,
        graph=_graph_without(answer, lambda one: one == document_id),
        warnings=answer.warnings if REMOVED in answer.warnings else (*answer.warnings, REMOVED),
    ), quotes + snippets


def _remove_copied_sentences(answer: Answer, numbers: set[int]) -> Answer:
    """Replace the sentences that code copied from these sources by a gap, and shift the later citations."""
    text, citations, last = "", list[Citation](), 0
    for citation in answer.citations:
        by_code = citation.matched_by in ("code", "computed", "document_name")
        copied = by_code and citation.end > citation.start and citation.source in numbers
        text += f"{' ' if last else ''}{GAP} " if copied else answer.text[last : citation.start]
        start = len(text)
        text += answer.text[citation.start : citation.end]
        citations.append(replace(citation, start=start, end=len(text)))
        last = citation.end
    text += answer.text[last:]
    if text == answer.text:
        return answer
    # The checked sentences are dropped: their offsets refer to the previous text.
    return replace(answer, text=text, citations=tuple(citations), groundedness=Groundedness(answer.groundedness.score))


def _remove_conflicts(sufficiency: Sufficiency, document_id: str) -> Sufficiency:
    """Return the sufficiency without the conflicts that quote a document."""
    conflicts = tuple(
        conflict
        for conflict in sufficiency.conflicts
        if all(statement.document_id != document_id for statement in conflict.statements)
    )
    return replace(sufficiency, conflicts=conflicts)


def _warnings_without(answer: Answer, numbers: Container[int | None]) -> tuple[str, ...]:
    """Return the warnings of an answer, except those that repeat a citation's reason for these sources."""
    reasons = [one.reason for one in answer.citations if one.source in numbers and one.reason]
    return tuple(one for one in answer.warnings if not any(reason in one for reason in reasons))


def _graph_without(answer: Answer, hidden: Callable[[str], bool]) -> AnswerGraph:
    """The facts of an answer without those that hidden documents state."""
    return replace(answer.graph, facts=tuple(one for one in answer.graph.facts if not hidden(one.document_id)))


def _cleared_source(source: Source) -> Source:
    return replace(
        source,
        document_name="",
        title="",
        snippet="",
        heading_path=(),
        urls=(),
        page=None,
        checksum="",
        place=None,
        folder="",
    )


def _cleared_citation(citation: Citation) -> Citation:
    return replace(
        citation,
        matched=False,
        matched_by=None,
        quote="",
        quote_start_char=None,
        quote_end_char=None,
        quote_start_line=None,
        quote_end_line=None,
        page=None,
        rects=(),
        place=None,
        reason=None,
        title="",
        section=None,
        document_id=None,
        version=None,
    )


# --- shared answers, as another reader may see them ---------------------------------------------------------


def without_documents(answer: Answer, removed: Collection[str]) -> Answer:
    """Return an answer without the quotes of these documents, as if they had been removed."""
    for document_id in removed:
        answer, _ = _remove_document(answer, document_id)
    return answer


def only_readable(answer: Answer, readable: Container[str]) -> Answer:
    """Return an answer for another reader: its text and the readable sources, without metadata of the request."""
    hidden = {source.number for source in answer.sources if source.document_id not in readable}
    return replace(
        answer,
        sources=tuple(_hidden_source(one) if one.number in hidden else one for one in answer.sources),
        citations=tuple(_cleared_citation(one) if one.source in hidden else one for one in answer.citations),
        related_documents=tuple(one for one in answer.related_documents if one.document_id in readable),
        graph=_graph_without(answer, lambda document_id: document_id not in readable),
        context_sufficiency=replace(answer.context_sufficiency, missing_aspects=(), conflicts=()),
        metadata=AnswerMetadata(0, answer.metadata.model, answer.metadata.finish_reason, ""),
        warnings=(*_warnings_without(answer, hidden), WITHHELD) if hidden else answer.warnings,
        degraded=(),
        suggested_questions=(),
        session_id=None,
        stream_id=None,
    )


def _hidden_source(source: Source) -> Source:
    return replace(
        _cleared_source(source),
        document_id="",
        chunk_id="",
        version="",
        start_line=0,
        end_line=0,
        start_char=0,
        end_char=0,
    )
