"""The commands for traces."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pincite.cli.traces import parse_since
from pincite.errors import Invalid

from .terminal import Call


def test_a_request_leaves_a_trace(library: Call) -> None:
    trace_id = library("ask", "Where is the key?", "--json").json["metadata"]["trace_id"]
    listed = library("trace", "list", "--json", "--kind", "query").json["items"]
    assert (listed[0]["id"], listed[0]["kind"]) == (trace_id, "query")
    assert "spans" not in listed[0]
    assert trace_id[:12] in library("trace", "list", "--limit", "1", "--kind", "query").out
    shown = library("trace", "show", trace_id[:8]).out
    assert trace_id in shown
    for stage in ("guardrails", "query_analysis", "retrieval", "grounding"):
        [line] = [line for line in shown.splitlines() if line.startswith(f"{stage} ")]
        assert "━" in line
        assert line.endswith(" ms")
    assert "\n  vector_search " in shown
    spans = library("trace", "show", trace_id, "--json").json["spans"]
    assert spans[0]["name"] == "guardrails"


def test_lists_can_be_narrowed(library: Call) -> None:
    library("search", "x" * 5000)
    library("search", "cat")
    newest = library("trace", "list", "--errors", "--json", "--limit", "1").json["items"][0]
    assert newest["code"] == "query_too_long"
    assert all(one["kind"] == "search" for one in library("trace", "list", "--kind", "search", "--json").json["items"])
    assert library("trace", "list", "--slow", "9999999", "--json").json["items"] == []
    assert library("trace", "list", "--since", "1h", "--json").json["items"] != []
    assert library("trace", "list", "--since", "2999-01-01").out.startswith("There are no matching traces")
    assert "there is no kind of trace 'foo'; there are: query, chat, search" in library(
        "trace", "list", "--kind", "foo"
    ).failed_with(2)
    assert "--since takes 30m, 2h" in library("trace", "list", "--since", "soon").failed_with(2)


def test_an_unknown_trace_is_one_line(library: Call) -> None:
    assert library("trace", "show", "beef").failed_with(1) == "there is no trace 'beef'; see: pincite trace list"
    assert "there is no trace 'beef'" in library("trace", "replay", "beef").failed_with(1)


@pytest.fixture
def observatory(pincite: Call, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """A library of its own with the sample documents, where traces keep words."""
    monkeypatch.setenv("PINCITE_DATABASE_URL", database_url)
    monkeypatch.setenv("PINCITE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PINCITE_TRACES__CONTENT", "true")
    assert pincite("add", Path(__file__).parents[2] / "examples" / "documents").code == 0
    return pincite


def test_a_replay_shows_what_changed_in_ranks_scores_and_answer(observatory: Call) -> None:
    question = "What was the highest gust of the storm in February 2024?"
    answer = observatory("ask", question, "--top-k", "3", "--json").json
    trace_id = answer["metadata"]["trace_id"]
    assert observatory("trace", "list", "--json", "--limit", "1").json["items"][0]["question"] == question
    replay = observatory("trace", "replay", trace_id[:10], "--set", "rag.alpha=0", "--json").json
    assert replay["settings"] == {"rag.alpha": {"before": 0.5, "after": 0.0}}
    changes = {one["change"] for one in replay["passages"]}
    assert {"entered", "left"} <= changes
    ranks = sorted(one["rank_after"] for one in replay["passages"] if one["rank_after"])
    assert ranks == [1, 2, 3]
    assert all(one["score_before"] != one["score_after"] for one in replay["passages"])
    assert replay["answer"]["before"] == answer["answer"]
    assert replay["answer"]["after"] != answer["answer"]
    assert replay["changed"]
    shown = observatory("trace", "replay", trace_id, "--set", "rag.alpha=0")
    assert shown.code == 0
    assert "rag.alpha 0.5 → 0" in shown.words
    assert {"entered", "left"} <= set(shown.words.split())
    assert "[-" in shown.out
    assert "{+" in shown.out
    assert "confidence" in shown.out
    same = observatory("trace", "replay", trace_id).words
    assert "No setting differs" in same
    assert "The answer is the same, word for word." in same


def test_a_replay_asks_for_a_question_that_was_not_stored(library: Call) -> None:
    trace_id = library("ask", "What is the cat called?", "--json").json["metadata"]["trace_id"]
    told = library("trace", "replay", trace_id, "--set", "rag.fusion=rrf").failed_with(2)
    assert "--question" in told
    assert "traces.content=true" in told
    given = library("trace", "replay", trace_id, "--set", "rag.fusion=rrf", "--question", "What is the cat called?")
    assert "The answer is the same, word for word." in given.words
    for key in ("llm.base_url=http://127.0.0.1:9/v1", "chunking.size=400"):
        refused = library("trace", "replay", trace_id, "--set", key, "--question", "x").failed_with(2)
        assert "is not a setting that a replay can change" in refused
    assert "there is no profile 'nope'" in library(
        "trace", "replay", trace_id, "--profile", "nope", "--question", "x"
    ).failed_with(2)


def test_times_have_several_formats() -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert parse_since("90m", now) == now - timedelta(minutes=90)
    assert parse_since(" 7d ", now) == now - timedelta(days=7)
    assert parse_since("2026-05-01") == datetime(2026, 5, 1, tzinfo=UTC)
    assert parse_since("2026-05-01T12:00:00+02:00") == datetime(2026, 5, 1, 10, tzinfo=UTC)
    with pytest.raises(Invalid):
        parse_since("7w")
