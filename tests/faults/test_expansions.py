"""Query expansion through a model server under every fault: the search continues without it."""

from typing import Any

import pytest

from pincite.core.query.answer import SearchResult
from pincite.core.query.question import Question
from pincite.query.prompt.helper_call import Bounds
from pincite.query.retrieve import query_expansion as stage

from .bench import SLOW, Bench

VARIATIONS = "1. How much leave is carried over?\n2. rolling over holidays\n3. days kept for next year"
WRITTEN = ("How much leave is carried over?", "rolling over holidays", "days kept for next year")
GENERAL = "What happens to leave at the end of a year?"
SUPPOSED = "Unused leave is carried over into the next year."
FAULTS = (
    *("429", "500", "400", "401", "reset", "cut", "cut:0", "eof", "eof:0", "malformed", "malformed:0", "shape:0"),
    *("error:0", "html", "empty", "tools", "silent", "hang", "endless", "bytes", "crlf", "bom"),
)


@pytest.fixture(autouse=True)
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short limit for the call that never ends; limits for the others that a busy machine keeps."""
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    is_slow = str(parameters.get("fault", "")).startswith(SLOW)
    for name in ("STEP_BACK_BOUNDS", "VARIATIONS_BOUNDS", "HYDE_BOUNDS"):
        bounds: Bounds = getattr(stage, name)
        seconds = 1.0 if is_slow and name == "VARIATIONS_BOUNDS" else 30.0
        monkeypatch.setattr(stage, name, Bounds(seconds, bounds.tokens, bounds.characters))


def search(bench: Bench, text: str = "Carry over leave?", fault: str = "", **settings: Any) -> SearchResult:
    """Search with a model that answers each expansion prompt; `fault` applies to the variations only."""
    bench.play(**settings)
    answers: list[dict[str, Any]] = [
        {"match": "Other words:$", "say": VARIATIONS} | ({"fault": fault} if fault else {}),
        {"match": "More general question:$", "say": GENERAL},
        {"match": "Passage:$", "say": SUPPOSED},
    ]
    bench.stub.play(answers=answers)
    return bench.run(bench.pincite.search(Question(text, strategy="fusion")))


def texts(result: SearchResult) -> tuple[str, ...]:
    assert result.plan is not None
    return result.plan.extra


def test_expansions_are_searched_with_the_question(bench: Bench) -> None:
    result = search(bench)
    assert texts(result) == (GENERAL, SUPPOSED, *WRITTEN)
    assert result.degraded == ()
    assert {placing.query for placing in result.hits[0].placings} == {0, 1, 2, 3, 4, 5}
    calls = [call.path for call in bench.stub.calls]
    assert sum("chat/completions" in path for path in calls) == 3


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_expansion_does_not_affect_the_others(bench: Bench, fault: str) -> None:
    result = search(bench, fault=fault)
    assert result.hits
    assert texts(result)[:2] == (GENERAL, SUPPOSED)
    assert len(texts(result)) <= 5
    assert {note.stage for note in result.degraded} <= {"query_variations"}
    if fault in ("bytes", "crlf", "bom"):
        assert len(texts(result)) == 5
        assert result.degraded == ()
    if fault in ("429", "500", "400", "401", "reset", "eof:0", "malformed:0", "html", "silent"):
        assert texts(result) == (GENERAL, SUPPOSED)
        assert [note.stage for note in result.degraded] == ["query_variations"]


def test_answers_are_checked_against_the_original_question(bench: Bench) -> None:
    bench.play(rag__query_expansion_enabled=True)
    question = "How many vacation days carry over in Germany?"
    answer = bench.run(bench.pincite.ask(Question(question)))
    assert answer.citations[0].matched
    assert answer.metadata.plan[2].startswith("strategy hybrid")
