"""A traced question asked again: the same question, other settings, and what that changed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.config.sources import load_settings
from pincite.core.query.question import Filters, Question, Sampling
from pincite.core.traces import Content, Trace, TraceFilter
from pincite.errors import Invalid, NotFound
from pincite.tracing.replay import (
    RankChange,
    options_of,
    question_of,
    rank_changes,
    replayable,
    settings_for,
    settings_of,
    word_changes,
)

PLAIN = Trace("t", "query", datetime.now(UTC), 1.0, content=Content("why"))


def test_a_question_comes_back_with_its_options() -> None:
    asked = Question(
        "and there?",
        ("also",),
        True,
        Filters("hr", ("d1",)),
        3,
        0.1,
        "dense_only",
        0.2,
        Sampling("m", 0.1, 0.9, 50, ("x",), "be brief", 7),
        session_id="s",
        standalone="and in Austria?",
        guessed=True,
    )
    content = Content(asked.text, asked.also, "and in Austria?", "be brief", stop=("x",))
    again = question_of(replace(PLAIN, options=options_of(asked), content=content), None)
    assert again == replace(asked, session_id=None)
    assert options_of(Question("why")) == {}
    assert "Austria" not in str(options_of(asked))


def test_a_text_that_was_not_stored_must_be_given_again() -> None:
    with pytest.raises(Invalid, match=r"--question.*traces\.content"):
        question_of(replace(PLAIN, content=None), None)
    assert question_of(replace(PLAIN, content=None), "given").text == "given"
    with pytest.raises(Invalid, match="of kind 'ingest'"):
        question_of(replace(PLAIN, kind="ingest"), None)


def test_settings_are_those_of_the_trace_changed() -> None:
    now = load_settings({"rag.top_k": 7, "rag.alpha": 0.9, "llm.base_url": "http://here", "llm.model": "new"}, env={})
    then = replace(PLAIN, settings={"rag.alpha": 0.1, "rag.fusion": "rrf", "llm.model": "old", "gone.key": 1})
    made = settings_for(now, then, {"rag.fusion": "relative_score", "rag.rrf_k": "9"})
    assert (made.rag.top_k, made.rag.alpha, made.rag.fusion, made.rag.rrf_k) == (10, 0.1, "relative_score", 9)
    assert (made.llm.base_url, made.llm.model) == ("http://here", "new")
    assert settings_of(made) == {"rag.alpha": 0.1, "rag.rrf_k": 9, "llm.model": "new"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rag.fusoin", "rrf", "did you mean 'rag.fusion'"),
        ("rag.top_k", 0, r"rag\.top_k"),
        ("llm.base_url", "http://evil", "cannot|not a setting"),
        ("llm.api_key", "x", "not a setting"),
        ("llm.provider", "scripted", "not a setting"),
        ("database.url", "x", "not a setting"),
        ("traces.content", True, "not a setting"),
        ("embedding.model", "x", "not a setting"),
        ("llm.question_timeout_s", 9999, "not a setting"),
        ("llm.first_token_timeout_s", 9999, "not a setting"),
        ("rag.reranker", "os.system", "name of a built-in provider"),
    ],
)
def test_what_cannot_be_changed_is_refused(key: str, value: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        settings_for(load_settings(env={}), PLAIN, {key: value})


def test_no_secret_and_no_address_can_be_replayed() -> None:
    assert not [key for key in replayable() if key.endswith(("api_key", "url", "provider", "path", "endpoint"))]
    assert {"rag.fusion", "rag.top_k", "llm.temperature", "context.max_tokens"} <= set(replayable())


def test_rank_changes_of_passages() -> None:
    found = rank_changes([("a", 0.9), ("b", 0.8), ("c", 0.7)], [("b", 0.5), ("d", 0.4), ("c", 0.3)])
    assert found == (
        RankChange("b", 2, 1, 0.8, 0.5),
        RankChange("d", None, 2, None, 0.4),
        RankChange("c", 3, 3, 0.7, 0.3),
        RankChange("a", 1, None, 0.9, None),
    )
    assert [one.change for one in found] == ["moved", "entered", "same", "left"]


def test_word_changes() -> None:
    assert list(word_changes("It is. [Source 2]", "It is. [Source 1]")) == [
        ("same", "It is."),
        ("removed", " [Source 2]"),
        ("added", " [Source 1]"),
    ]
    assert list(word_changes("cats sleep all day", "cats purr all day")) == [
        ("same", "cats"),
        ("removed", " sleep"),
        ("added", " purr"),
        ("same", " all day"),
    ]


def test_long_texts_are_not_compared_word_by_word() -> None:
    before, after = "a b " * 2000, "b a " * 2000
    assert list(word_changes(before, after)) == [("removed", before), ("added", after)]
    assert list(word_changes(before, before)) == [("same", before)]


@given(st.text(" ab[\n", max_size=30), st.text(" ab[\n", max_size=30))
def test_the_changes_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    changes = list(word_changes(before, after))
    assert "".join(text for change, text in changes if change != "added") == before
    assert "".join(text for change, text in changes if change != "removed") == after


# --- with a library -----------------------------------------------------------------------------------------

LEAVE = "# Leave\n\nUnused leave days expire on 31 March. Leave is asked for in the calendar.\n"
DAYS = "# Days\n\nThe office closes on Fridays at noon. Days of leave are counted by the payroll.\n"
CATS = "# Cats\n\nCats sleep for sixteen hours a day and leave hair everywhere.\n"
QUESTION = "When do unused leave days expire?"


def in_a_library(open_pincite: Callable[..., Any], folder: Path, test: Callable[[Any], Any], **settings: Any) -> None:
    async def go() -> None:
        async with open_pincite(**settings) as pincite:
            for name, text in (("leave", LEAVE), ("days", DAYS), ("cats", CATS)):
                (folder / f"{name}.md").write_text(text, encoding="utf-8")
                await pincite.add(folder / f"{name}.md")
            await test(pincite)

    asyncio.run(go())


def test_a_replay_shows_what_other_settings_do(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        answer = await pincite.ask(Question(QUESTION, top_k=3))
        replay = await pincite.questions.replay(
            answer.metadata.trace_id, {"rag.fusion": "rrf", "rag.similarity_threshold": 1.0}
        )
        assert replay.settings == {"rag.fusion": ("relative_score", "rrf"), "rag.similarity_threshold": (0.02, 1.0)}
        assert {one.chunk_id for one in replay.passages} >= set(replay.before.outcome.sources)
        assert all(one.score_after < 0.1 for one in replay.passages)  # reciprocal ranks are small
        assert replay.changed  # nothing is that relevant, so nothing is found
        assert "".join(text for change, text in replay.answer if change != "added") == answer.text
        assert replay.after.outcome.confidence == 0.0
        kept = await pincite.services.traces.get(await pincite.scope(), replay.after.id)
        assert (kept.kind, kept.options["replays"]) == ("replay", answer.metadata.trace_id)
        assert (await pincite.services.sessions.list(await pincite.scope()))[0] == []

    in_a_library(open_pincite, tmp_path, test, traces__content=True)


def test_the_same_settings_change_nothing(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        answer = await pincite.ask(QUESTION)
        first = await pincite.questions.replay(answer.metadata.trace_id, {})
        again = await pincite.questions.replay(first.after.id, {})  # a replay can be replayed
        for replay in (first, again):
            assert not replay.changed
            assert replay.settings == {}
            assert [one.score_before for one in replay.passages] == [one.score_after for one in replay.passages]

    in_a_library(open_pincite, tmp_path, test, traces__content=True)


def test_without_kept_words_both_answers_are_asked_for_again(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        answer = await pincite.ask(QUESTION)
        with pytest.raises(Invalid, match="--question"):
            await pincite.questions.replay(answer.metadata.trace_id, {})
        replay = await pincite.questions.replay(
            answer.metadata.trace_id, {"rag.similarity_threshold": 1.0}, question=QUESTION
        )
        assert "".join(text for change, text in replay.answer if change != "added") == answer.text
        assert replay.changed

    in_a_library(open_pincite, tmp_path, test)


def test_a_follow_up_is_asked_as_what_it_means_and_its_conversation_hears_nothing(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    async def test(pincite: Any) -> None:
        scope = await pincite.scope()
        session = await pincite.services.sessions.create(scope)
        await pincite.ask(Question("Where do I ask for leave?", session_id=session.id))
        answer = await pincite.ask(Question("And when does it expire?", session_id=session.id))
        trace = await pincite.services.traces.get(scope, answer.metadata.trace_id)
        assert (trace.kind, trace.content.question) == ("chat", "And when does it expire?")
        replay = await pincite.questions.replay(trace.id, {})
        assert not replay.changed
        assert [one.score_before for one in replay.passages] == [one.score_after for one in replay.passages]
        assert len((await pincite.services.sessions.get(scope, session.id)).turns) == 2

    in_a_library(open_pincite, tmp_path, test, traces__content=True)


def test_a_search_is_searched_again(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        result = await pincite.search(Question(QUESTION, strategy="hybrid", top_k=2))
        replay = await pincite.questions.replay(result.trace_id, {"rag.fusion": "rrf"})
        assert replay.answer is None
        assert len(replay.after.hits) == 2
        again = await pincite.questions.replay(replay.after.id, {"rag.fusion": "rrf"})
        assert (again.answer, again.changed) == (None, False)

    in_a_library(open_pincite, tmp_path, test, traces__content=True)


def test_a_profile_is_changed_to_and_settings_win_over_it(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        trace_id = (await pincite.ask(QUESTION)).metadata.trace_id
        replay = await pincite.questions.replay(trace_id, {"rag.top_k": 2}, profile="adaptive")
        assert replay.settings["rag.fusion"] == ("relative_score", "rrf")
        assert replay.settings["rag.top_k"] == (10, 2)
        with pytest.raises(Invalid, match="there is no profile 'nope'"):
            await pincite.questions.replay(trace_id, {}, profile="nope")
        with pytest.raises(NotFound):
            await pincite.questions.replay("nope", {})
        found, _ = await pincite.services.traces.list(await pincite.scope(), TraceFilter(kind="replay"))
        assert len(found) == 1

    in_a_library(open_pincite, tmp_path, test, traces__content=True)
