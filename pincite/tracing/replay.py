"""Replay: a traced question asked again with other settings, and what that changed."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any, Literal

from pincite.config.messages import nearest
from pincite.config.schema import NAMES_A_PROVIDER, catalogue, value_of
from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.query.question import Filters, Question, Sampling
from pincite.core.times import parse_time
from pincite.core.traces import Content, Trace
from pincite.errors import Invalid, SettingsError

ASKED = frozenset({"query", "chat", "search", "replay"})
"""Kinds of request that can be asked again."""
OPTIONS = ("many", "top_k", "min_score", "strategy", "alpha", "guessed", "levels", "retrieve", "mode")
SAMPLING = ("model", "temperature", "top_p", "top_k", "max_tokens")
"""The parts of a question that hold no words. Its profile is in the settings; its conversation in what it means alone."""

NOT_REPLAYED = re.compile(
    r"(access|traces|logs|limits|ingest|embedding|rerank|resilience|cache)\.|.*\b(provider|base_url|path)$|.*timeout_s$|.*\.fallback\."
)
"""Settings an answer does not depend on (a replay is made anew), those that say who the providers are and
where, and how long they may take."""

_WORD = re.compile(r"\s*(?:\[Source \d+\]|[^\s\[]+|\[)|\s+")
"""Words and marks of sources, each with the space before it; they change as a whole."""
MOST_WORDS = 2000
"""Texts with more words are not compared word by word, which would take minutes."""

Change = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Moved:
    """A passage's place and score before and after; None where it was not among those found."""

    chunk_id: str
    before: int | None
    after: int | None
    score_before: float | None
    score_after: float | None

    @property
    def document_id(self) -> str:
        """The document it is of."""
        return self.chunk_id.split(".")[0]

    @property
    def change(self) -> Literal["same", "moved", "entered", "left"]:
        """What became of it."""
        if self.before is None or self.after is None:
            return "entered" if self.before is None else "left"
        return "same" if self.before == self.after else "moved"


@dataclass(frozen=True, slots=True)
class Replay:
    """Two traces of one question, the settings that differ, and what became of passages and answer.

    `answer` is the old answer's words turned into the new one's; None where there is no answer to compare with.
    """

    before: Trace
    after: Trace
    settings: Mapping[str, tuple[Any, Any]]
    passages: tuple[Moved, ...]
    answer: tuple[tuple[Change, str], ...] | None = None

    @property
    def changed(self) -> bool:
        """Whether anything but scores and times came out differently."""
        moved = any(one.change != "same" for one in self.passages)
        return moved or any(kind != "same" for kind, _ in self.answer or ())


# --- what a trace keeps, and the way back -----------------------------------------------------------------------


def options_of(question: Question) -> dict[str, Any]:
    """What the caller wished for beyond the words, where it is not the default."""
    filters = _wishes(question.filters, ("folder", "document_ids", "tags"))
    if question.filters.as_of is not None:
        filters["as_of"] = question.filters.as_of.isoformat()
    sampling = _wishes(question.sampling, SAMPLING)
    told = _wishes(question, OPTIONS) | {"filters": filters, "sampling": sampling}
    return {name: value for name, value in told.items() if value != {}}


def _wishes(part: Any, names: Sequence[str]) -> dict[str, Any]:
    usual = {one.name: one.default for one in fields(part)}
    return {name: value for name in names if (value := getattr(part, name)) != usual[name]}


def question_of(trace: Trace, words: str | None) -> Question:
    """The question of a trace: its words, kept or given again, with the options it had."""
    if trace.options.get("mode") == "vision":
        raise Invalid(
            "a question with pictures cannot be asked again from its trace: they are not kept", code="no_content"
        )
    if trace.kind not in ASKED:
        raise Invalid(f"trace {trace.id} is of kind '{trace.kind}'; only questions and searches can be asked again")
    content = trace.content if words is None else Content(words)
    if content is None:
        raise Invalid(
            "the words of this question were not kept; give them again (--question, or `question` over HTTP), and "
            "set traces.content=true to have them kept from now on",
            code="no_content",
        )
    filters: dict[str, Any] = {name: _tupled(value) for name, value in _part(trace, "filters")}
    if "as_of" in filters:
        filters["as_of"] = parse_time(filters["as_of"])
    return Question(
        content.question, content.also, filters=Filters(**filters), standalone=content.standalone,
        sampling=Sampling(
            **dict(_part(trace, "sampling")), stop=content.stop, system_prompt=content.system_prompt
        ),
        **{name: _tupled(trace.options[name]) for name in OPTIONS if name in trace.options},
    )  # fmt: skip


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _part(trace: Trace, name: str) -> list[tuple[str, Any]]:
    return list(trace.options.get(name, {}).items())


@cache
def replayable() -> Mapping[str, Any]:
    """The settings that a replay can change, with what they are unless set."""
    return {
        name: value_of(Settings(), name)
        for name, key in catalogue().items()
        if key.acts == "query" and not key.secret and not NOT_REPLAYED.match(name)
    }


def settings_of(settings: Settings) -> dict[str, Any]:
    """The settings an answer depends on, where they are not the default; never an address or a secret."""
    return dict(_changed(_Same(settings)))


class _Same:
    """Settings told apart by identity: they are never changed, and most requests have the same ones."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __hash__(self) -> int:
        return id(self.settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.settings is self.settings


@lru_cache(maxsize=8)
def _changed(same: _Same) -> Mapping[str, Any]:
    defaults = replayable().items()
    return {key: value for key, default in defaults if (value := value_of(same.settings, key)) != default}


def check_changes(changes: Mapping[str, Any], what: str) -> None:
    """Refuse changes that are not for whoever only asks: `what` is what they asked for."""
    for key, value in changes.items():
        if key not in replayable():
            raise Invalid(f"'{key}' is not a setting that {what} can change{nearest(key, replayable())}")
        if NAMES_A_PROVIDER.search(key) and "." in str(value):
            raise Invalid(f"'{key}' takes the name of one that is shipped; '{value}' is not that")


def settings_for(base: Settings, trace: Trace, changes: Mapping[str, Any]) -> Settings:
    """The traced settings, changed; who the providers are and where is as it is now."""
    check_changes(changes, "a replay")
    known = {key: value for key, value in replayable().items() if key != "llm.model"}  # another provider lacks it
    kept = {key: value for key, value in trace.settings.items() if key in known}
    return _with(base, {**known, **kept, **changes})


def changed(settings: Settings, changes: Mapping[str, Any], what: str) -> Settings:
    """The settings with other values for what whoever asks may change."""
    check_changes(changes, what)
    return _with(settings, changes)


def _with(settings: Settings, values: Mapping[str, Any]) -> Settings:
    try:
        return with_values(settings, values)
    except SettingsError as error:
        raise Invalid(str(error)) from error


# --- what changed -----------------------------------------------------------------------------------------------


def compare(before: Trace, after: Trace, answers: tuple[str | None, str | None]) -> Replay:
    """What became of the passages and the answer between two traces of one question."""
    was, now = answers
    keys = sorted({*before.settings, *after.settings})
    differ = {
        key: (before.settings.get(key, replayable().get(key)), after.settings.get(key, replayable().get(key)))
        for key in keys
        if before.settings.get(key) != after.settings.get(key)
    }
    words = tuple(word_changes(was, now)) if was is not None and now is not None else None
    return Replay(before, after, differ, moves(before.hits, after.hits), words)


def moves(before: Sequence[tuple[str, float]], after: Sequence[tuple[str, float]]) -> tuple[Moved, ...]:
    """Every passage of either list: the new order first, then what is gone in the old order."""
    old = {chunk: (rank, score) for rank, (chunk, score) in enumerate(before, start=1)}
    new = {chunk: (rank, score) for rank, (chunk, score) in enumerate(after, start=1)}
    nowhere: tuple[None, None] = (None, None)
    return tuple(
        Moved(chunk, rank_before, rank_after, score_before, score_after)
        for chunk in dict.fromkeys([*new, *old])
        for rank_before, score_before in [old.get(chunk, nowhere)]
        for rank_after, score_after in [new.get(chunk, nowhere)]
    )


def word_changes(before: str, after: str) -> Iterator[tuple[Change, str]]:
    """The words that stayed, went and came, in order; the ones that stayed or came make up the new text."""
    old, new = (_WORD.findall(text) for text in (before, after))
    if max(len(old), len(new)) > MOST_WORDS:
        yield from [("same", after)] if before == after else [("removed", before), ("added", after)]  # type: ignore[misc]
        return
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "same", "".join(old[start:end])
            continue
        if start < end:
            yield "removed", "".join(old[start:end])
        if new_start < new_end:
            yield "added", "".join(new[new_start:new_end])
