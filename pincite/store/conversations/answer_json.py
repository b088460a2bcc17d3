"""Answers as JSON in the database, back again, and without what a document gave them that one may not read."""

import dataclasses
import types
from collections.abc import Collection, Container, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pincite.core.accounts.conversations import KeptTurn
from pincite.core.query.answer import Answer, AnswerMetadata, Citation, Groundedness, Source, Sufficiency
from pincite.text.sentences import storable

T = TypeVar("T")

REMOVED = "this answer stands on a document that was removed; its quotes are gone"
"""What an answer in the history says when a document it stands on is gone."""
WITHHELD = "some sources of this answer are not yours to read: their names and quotes are left out"
"""What a shared answer says to whoever may not read all that it stands on."""
GAP = "[…]"
"""Stands where an answer had repeated a removed document word by word."""


def to_json(answer: Answer) -> dict[str, Any]:
    """The whole answer as plain values."""
    return _plain(answer)  # type: ignore[no-any-return]


def from_json(stored: Mapping[str, Any]) -> Answer:
    """The answer again; what is new since then has its default, what is no longer known is dropped."""
    return _value(Answer, stored)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if names := _names(value.__class__):
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {storable(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass; none of anything else."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(kind: Any, stored: Any) -> Any:
    """A stored value as the type its place asks for."""
    if stored is None:
        return None
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{name: _value(hints[name], value) for name, value in stored.items() if name in hints})
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _value(next(part for part in inner if part is not type(None)), stored)
    if origin is tuple:
        kinds = [inner[0]] * len(stored) if inner[-1] is Ellipsis else inner
        return tuple(_value(part, item) for part, item in zip(kinds, stored, strict=True))
    return stored


# --- what stays when a document is removed ------------------------------------------------------------------


def without_document(turn: KeptTurn, document_id: str) -> tuple[KeptTurn, int]:
    """The turn without the quotes, snippets and titles of a document, and how many quotes and snippets went.

    The answer's own words stay. Sentences that code copied out of the document are quotes too, and so is
    whatever a cut answer had said: nobody checked yet whose words those were.
    """
    if turn.answer is None:
        gone = int(bool(turn.words))
        return replace(turn, words=GAP if gone else "", removed=True), gone
    answer, gone = _without(turn.answer, document_id)
    return replace(turn, answer=answer, words=answer.text, removed=True), gone


def _without(answer: Answer, document_id: str) -> tuple[Answer, int]:
    numbers = {source.number for source in answer.sources if source.document_id == document_id}
    snippets = sum(bool(source.snippet) for source in answer.sources if source.number in numbers)
    quotes = sum(bool(citation.quote) for citation in answer.citations if citation.source in numbers)
    answer = _uncopied(replace(answer, warnings=_unquoting(answer, numbers)), numbers)
    return replace(
        answer,
        sources=tuple(_bare_source(one) if one.number in numbers else one for one in answer.sources),
        citations=tuple(_bare_citation(one) if one.source in numbers else one for one in answer.citations),
        related_documents=tuple(one for one in answer.related_documents if one.document_id != document_id),
        context_sufficiency=_undisputed(answer.context_sufficiency, document_id),
        suggested_questions=() if numbers else answer.suggested_questions,
        warnings=answer.warnings if REMOVED in answer.warnings else (*answer.warnings, REMOVED),
    ), quotes + snippets


def _uncopied(answer: Answer, numbers: set[int]) -> Answer:
    """Put a gap where code copied a sentence of these sources; everything after it moves."""
    text, citations, last = "", list[Citation](), 0
    for citation in answer.citations:
        copied = citation.matched_by == "code" and citation.end > citation.start and citation.source in numbers
        text += f"{' ' if last else ''}{GAP} " if copied else answer.text[last : citation.start]
        start = len(text)
        text += answer.text[citation.start : citation.end]
        citations.append(replace(citation, start=start, end=len(text)))
        last = citation.end
    text += answer.text[last:]
    if text == answer.text:
        return answer
    # The sentences were judged where they stood; their places would point at other words now.
    return replace(answer, text=text, citations=tuple(citations), groundedness=Groundedness(answer.groundedness.score))


def _undisputed(sufficiency: Sufficiency, document_id: str) -> Sufficiency:
    """Without the conflicts that quote a document."""
    kept = tuple(
        one for one in sufficiency.conflicts if all(said.document_id != document_id for said in one.statements)
    )
    return replace(sufficiency, conflicts=kept)


def _unquoting(answer: Answer, numbers: Container[int | None]) -> tuple[str, ...]:
    """The warnings but for those that say what these sources say."""
    reasons = [one.reason for one in answer.citations if one.source in numbers and one.reason]
    return tuple(one for one in answer.warnings if not any(reason in one for reason in reasons))


def _bare_source(source: Source) -> Source:
    return replace(
        source, document_name="", title="", snippet="", heading_path=(), urls=(), page=None, checksum="", place=None
    )  # fmt: skip


def _bare_citation(citation: Citation) -> Citation:
    return replace(
        citation, matched=False, matched_by=None, quote="", quote_start_char=None, quote_end_char=None,
        quote_start_line=None, quote_end_line=None, page=None, rects=(), place=None, reason=None,
    )  # fmt: skip


# --- what somebody else may see of an answer ----------------------------------------------------------------


def without_documents(answer: Answer, gone: Collection[str]) -> Answer:
    """The answer without what these documents gave it, as if they had been removed."""
    for document_id in gone:
        answer, _ = _without(answer, document_id)
    return answer


def only_readable(answer: Answer, readable: Container[str]) -> Answer:
    """The answer as somebody else is shown it: its words, the sources they may read, nothing of how it came to be."""
    hidden = {source.number for source in answer.sources if source.document_id not in readable}
    return replace(
        answer,
        sources=tuple(_hidden_source(one) if one.number in hidden else one for one in answer.sources),
        citations=tuple(_bare_citation(one) if one.source in hidden else one for one in answer.citations),
        related_documents=tuple(one for one in answer.related_documents if one.document_id in readable),
        context_sufficiency=replace(answer.context_sufficiency, missing_aspects=(), conflicts=()),
        metadata=AnswerMetadata(0, answer.metadata.model, answer.metadata.finish_reason, ""),
        warnings=(*_unquoting(answer, hidden), WITHHELD) if hidden else answer.warnings,
        degraded=(),
        suggested_questions=(),
        session_id=None,
        stream_id=None,
    )


def _hidden_source(source: Source) -> Source:
    return replace(
        _bare_source(source),
        document_id="",
        chunk_id="",
        version="",
        start_line=0,
        end_line=0,
        start_char=0,
        end_char=0,
    )
