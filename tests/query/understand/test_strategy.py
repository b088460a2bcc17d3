from typing import Any, get_args

import pytest

from pincite.config.branches.retrieval import Rag
from pincite.core.query.question import Question, RequestedStrategy, Strategy
from pincite.query.understand.intent import analyse_question
from pincite.query.understand.strategy import STRATEGIES, choose_strategy, passage_count, route_by_kind


def test_every_strategy_has_a_spec() -> None:
    assert set(STRATEGIES) == set(get_args(Strategy))
    assert set(get_args(Rag.model_fields["strategy"].annotation)) == {"auto", "by_type", *get_args(Strategy)}
    assert set(get_args(RequestedStrategy)) == {"auto", *get_args(Strategy)}
    ways = [
        (way.engines, way.breadth, way.reads, way.reranked)
        for name, way in STRATEGIES.items()
        if name != "hierarchical"
    ]
    assert len(set(ways)) == len(ways)  # hierarchical differs from two_stage in what its second stage does


@pytest.mark.parametrize(
    ("question", "rag", "strategy", "why"),
    [
        (Question("q", strategy="fusion"), {"strategy": "two_stage"}, "fusion", "request"),
        (Question("q"), {"strategy": "two_stage"}, "two_stage", "rag.strategy"),
        (Question("q"), {"strategy": "two_stage", "use_hybrid_search": False}, "two_stage", "rag.strategy"),
        (Question("q"), {"use_hybrid_search": False}, "dense_only", "use_hybrid_search"),
        (Question("q", strategy="hybrid"), {"use_hybrid_search": False}, "hybrid", "request"),
        (Question("q"), {}, "hybrid", "rag.strategy"),
        (Question("q", strategy="auto"), {}, "dense_only", "short"),
        (Question("q", strategy="auto"), {"strategy": "two_stage"}, "dense_only", "short"),
        (Question("q"), {"strategy": "by_type"}, "hybrid", "no other"),
        (Question("Compare cats with dogs."), {"strategy": "by_type"}, "fusion", "parts"),
        (Question("Summarise the handbook."), {"strategy": "by_type"}, "hierarchical", "summary"),
        (Question("q"), {"strategy": "auto"}, "dense_only", "short"),
    ],
)
def test_the_request_wins_over_the_settings_and_these_over_the_router(
    question: Question, rag: dict[str, Any], strategy: str, why: str
) -> None:
    found, because = choose_strategy(question, Rag(**rag), analyse_question(question.text), question.text)
    assert found == strategy
    assert why in because


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("Who designed the north tower?", "dense_only"),
        ("Wer hat den Nordturm entworfen?", "dense_only"),
        ("When does the canteen open?", "dense_only"),
        ("Seit wann gibt es die Kantine?", "dense_only"),
        ("Who is responsible for booking trains?", "dense_only"),
        ("How do I book a train?", "hybrid"),
        ("How do I reset the password for the intranet portal after a lock?", "hybrid"),
        ("Compare Quick and Fine mode", "fusion"),
        ("When does the canteen open, and who runs it?", "fusion"),
        ("Who is the mother of the director of Sundial?", "fusion"),
        ("What does error E-1042 mean?", "two_stage"),
        ('Where is "the long corridor" mentioned?', "two_stage"),
        ("Summarise the annual report.", "hierarchical"),
        ("Fasse den Jahresbericht zusammen.", "hierarchical"),
    ],
)
def test_the_router_goes_by_the_kind_of_question(text: str, strategy: str) -> None:
    assert route_by_kind(analyse_question(text), text)[0] == strategy


@pytest.mark.parametrize(
    ("question", "rag", "strategy", "wanted"),
    [
        (Question("q"), {}, "hybrid", 10),
        (Question("q", strategy="dense_only"), {}, "dense_only", 5),
        (Question("q"), {"use_hybrid_search": False}, "dense_only", 10),
        (Question("q"), {}, "fusion", 20),
        (Question("q"), {"top_k": 3}, "fusion", 6),
        (Question("List all telescopes."), {}, "hybrid", 15),
        (Question("List all telescopes."), {}, "fusion", 20),
        (Question("List all telescopes.", top_k=4), {}, "fusion", 4),
        (Question("List all telescopes."), {"top_k_by_intent": False}, "hybrid", 10),
        (Question("Summarise the annual report."), {"top_k_by_intent": False}, "hybrid", 10),
        (Question("q"), {"top_k": 1000}, "fusion", 1000),
        (Question("q", strategy="dense_only"), {"top_k": 1}, "dense_only", 1),
    ],
)
def test_how_many_passages_are_wanted(question: Question, rag: dict[str, Any], strategy: Any, wanted: int) -> None:
    assert passage_count(question, Rag(**rag), strategy, analyse_question(question.text)) == wanted
