"""Replay a traced question with other settings, and compare the results."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any, Literal

from pincite.config.messages import did_you_mean
from pincite.config.schema import NAMES_A_PROVIDER, catalogue, value_of
from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.query.question import Filters, Question, Sampling
from pincite.core.times import parse_time
from pincite.core.traces import Content, Trace
from pincite.errors import Invalid, SettingsError

REPLAYABLE_KINDS = frozenset({"query", "chat", "search", "replay"})
"""Kinds of requests that can be replayed."""

OPTION_FIELDS = ("many", "top_k", "min_score", "strategy", "alpha", "guessed", "levels", "retrieve", "mode")
SAMPLING_FIELDS = ("model", "temperature", "top_p", "top_k", "max_tokens")
"""The fields of a question that hold no text. The settings include its profile; the standalone text its history."""

NOT_REPLAYED = re.compile(
    r"(access|traces|logs|limits|ingest|embedding|rerank|resilience|cache)\."
    r"|.*\b(provider|base_url|path)$|.*timeout_s$|.*\.fallback\."
)
"""Settings that a replay does not change: those that do not affect an answer, providers, addresses and timeouts."""

_WORD = re.compile(r"\s*(?:\[Source \d+\]|[^\s\[]+|\[)|\s+")
"""Words and source marks with their preceding white space, the units of a comparison."""
MAX_DIFF_WORDS = 2000
"""Maximum number of words of a text that is compared word by word; more would take minutes."""

Change = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class RankChange:
    """Rank and score of a passage before and after; None if it was not found."""

    chunk_id: str
    before: int | None
    after: int | None
    score_before: float | None
    score_after: float | None

    @property
    def document_id(self) -> str:
        """The id of its document."""
        return self.chunk_id.split(".")[0]

    @property
    def change(self) -> Literal["same", "moved", "entered", "left"]:
        """How its rank changed."""
        if self.before is None or self.after is None:
            return "entered" if self.before is None else "left"
        return "same" if self.before == self.after else "moved"


@dataclass(frozen=True, slots=True)
class Replay:
    """Two traces of one question, with the differences in settings, passages and answer.

    `answer` is the word diff from the old to the new answer; None if one of them is missing.
    """

    before: Trace
    after: Trace
    settings: Mapping[str, tuple[Any, Any]]
    passages: tuple[RankChange, ...]
    answer: tuple[tuple[Change, str], ...] | None = None

    @property
    def changed(self) -> bool:
        """Whether anything except scores and times differs."""
        moved = any(one.change != "same" for one in self.passages)
        return moved or any(kind != "same" for kind, _ in self.answer or ())


# --- storing a question in a trace, and restoring it ----------------------------------------------------------


def options_of(question: Question) -> dict[str, Any]:
    """Return the options of a question that differ from their defaults, without its text."""
    filters = _non_defaults(question.filters, ("folder", "document_ids", "tags"))
    if question.filters.as_of is not None:
        filters["as_of"] = question.filters.as_of.isoformat()
    sampling = _non_defaults(question.sampling, SAMPLING_FIELDS)
    options = _non_defaults(question, OPTION_FIELDS) | {"filters": filters, "sampling": sampling}
    return {name: value for name, value in options.items() if value != {}}


def _non_defaults(part: Any, names: Sequence[str]) -> dict[str, Any]:
    defaults = {one.name: one.default for one in fields(part)}
    return {name: value for name in names if (value := getattr(part, name)) != defaults[name]}


def question_of(trace: Trace, text: str | None) -> Question:
    """Restore the question of a trace with its options; `text` replaces a text that was not stored."""
    if trace.options.get("mode") == "vision":
        raise Invalid("a question with images cannot be replayed, because images are not stored", code="no_content")
    if trace.kind not in REPLAYABLE_KINDS:
        raise Invalid(f"trace {trace.id} is of kind '{trace.kind}'; only questions and searches can be replayed")
    content = trace.content if text is None else Content(text)
    if content is None:
        raise Invalid(
            "the text of this question was not stored; pass it again (--question, or `question` over HTTP), and set "
            "traces.content=true to store it in the future",
            code="no_content",
        )
    filters: dict[str, Any] = {name: _to_tuple(value) for name, value in _part(trace, "filters")}
    if "as_of" in filters:
        filters["as_of"] = parse_time(filters["as_of"])
    return Question(
        content.question,
        content.also,
        filters=Filters(**filters),
        query=content.query,
        standalone=content.standalone,
        sampling=Sampling(**dict(_part(trace, "sampling")), stop=content.stop, system_prompt=content.system_prompt),
        **{name: _to_tuple(trace.options[name]) for name in OPTION_FIELDS if name in trace.options},
    )


def _to_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _part(trace: Trace, name: str) -> list[tuple[str, Any]]:
    return list(trace.options.get(name, {}).items())


@cache
def replayable() -> Mapping[str, Any]:
    """The settings that a replay can change, with their defaults."""
    return {
        name: value_of(Settings(), name)
        for name, key in catalogue().items()
        if key.acts == "query" and not key.secret and not NOT_REPLAYED.match(name)
    }


def settings_of(settings: Settings) -> dict[str, Any]:
    """Return the settings that affect an answer and differ from their defaults; never an address or a secret."""
    return dict(_changed_settings(_ByIdentity(settings)))


class _ByIdentity:
    """Settings as a cache key by identity: they are immutable, and most requests share one object."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __hash__(self) -> int:
        return id(self.settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.settings is self.settings


@lru_cache(maxsize=8)
def _changed_settings(same: _ByIdentity) -> Mapping[str, Any]:
    defaults = replayable().items()
    return {key: value for key, default in defaults if (value := value_of(same.settings, key)) != default}


def check_changes(changes: Mapping[str, Any], what: str) -> None:
    """Raise if a caller may not change one of these settings; `what` names the operation in the error."""
    for key, value in changes.items():
        if key not in replayable():
            raise Invalid(f"'{key}' is not a setting that {what} can change{did_you_mean(key, replayable())}")
        if NAMES_A_PROVIDER.search(key) and "." in str(value):
            raise Invalid(f"'{key}' must be the name of a built-in provider (was '{value}')")


def settings_for(base: Settings, trace: Trace, changes: Mapping[str, Any]) -> Settings:
    """Return the settings of a trace with changes; providers and addresses are the current ones."""
    check_changes(changes, "a replay")
    known = {
        key: value for key, value in replayable().items() if key != "llm.model"
    }  # the current provider may not have it
    kept = {key: value for key, value in trace.settings.items() if key in known}
    return _apply(base, {**known, **kept, **changes})


def with_changes(settings: Settings, changes: Mapping[str, Any], what: str) -> Settings:
    """Return the settings with changes that a caller may make."""
    check_changes(changes, what)
    return _apply(settings, changes)


def _apply(settings: Settings, values: Mapping[str, Any]) -> Settings:
    try:
        return with_values(settings, values)
    except SettingsError as error:
        raise Invalid(str(error)) from error


# --- comparing two traces -------------------------------------------------------------------------------------


def compare(before: Trace, after: Trace, answers: tuple[str | None, str | None]) -> Replay:
    """Compare the settings, passages and answers of two traces of one question."""
    was, now = answers
    keys = sorted({*before.settings, *after.settings})
    differ = {
        key: (before.settings.get(key, replayable().get(key)), after.settings.get(key, replayable().get(key)))
        for key in keys
        if before.settings.get(key) != after.settings.get(key)
    }
    words = tuple(word_changes(was, now)) if was is not None and now is not None else None
    return Replay(before, after, differ, rank_changes(before.hits, after.hits), words)


def rank_changes(before: Sequence[tuple[str, float]], after: Sequence[tuple[str, float]]) -> tuple[RankChange, ...]:
    """Return the rank change of every passage: first in the new order, then the removed ones in the old order."""
    old = {chunk: (rank, score) for rank, (chunk, score) in enumerate(before, start=1)}
    new = {chunk: (rank, score) for rank, (chunk, score) in enumerate(after, start=1)}
    nowhere: tuple[None, None] = (None, None)
    return tuple(
        RankChange(chunk, rank_before, rank_after, score_before, score_after)
        for chunk in dict.fromkeys([*new, *old])
        for rank_before, score_before in [old.get(chunk, nowhere)]
        for rank_after, score_after in [new.get(chunk, nowhere)]
    )


def word_changes(before: str, after: str) -> Iterator[tuple[Change, str]]:
    """Yield the word diff of two texts; the same and added words make up the new text."""
    old, new = (_WORD.findall(text) for text in (before, after))
    if max(len(old), len(new)) > MAX_DIFF_WORDS:
        if before == after:
            yield "same", after
        else:
            yield "removed", before
            yield "added", after
        return
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "same", "".join(old[start:end])
            continue
        if start < end:
            yield "removed", "".join(old[start:end])
        if new_start < new_end:
            yield "added", "".join(new[new_start:new_end])
