"""A replay in a terminal."""

from dataclasses import replace

import pytest

from pincite.cli.view.replay import print_replay
from pincite.core.traces import TraceOutcome
from pincite.tracing.replay import Replay, rank_changes, word_changes

from .makers import seen
from .test_traces import trace

BEFORE = trace(outcome=TraceOutcome(0.82, "high", 1.0, ("d1.v.0",), ("d1.v.0",), 9, "m"))
AFTER = trace(id="f" * 32, outcome=TraceOutcome(0.4, "low", 0.5, (), (), 9, "n"), duration_ms=50.0)
REPLAY = Replay(
    BEFORE,
    AFTER,
    {"rag.fusion": ("relative_score", "rrf")},
    rank_changes(
        [("d1.v.0", 0.9), ("d1.v.1", 0.8), ("d2.v.7", 0.7)], [("d1.v.1", 0.03), ("d1.v.0", 0.02), ("d3.v.0", 0.01)]
    ),
    tuple(word_changes("Cats sleep. [Source 1]", "Cats purr. [Source 1]")),
)
TITLES = {"d1": "Cats", "d3": "Dogs \x1b[31m"}


def shown(replay: Replay, width: int = 80) -> list[str]:
    return seen(lambda screen: print_replay(screen, replay, TITLES), width=width).splitlines()


def test_each_passages_rank_change_is_printed() -> None:
    lines = [line.split() for line in shown(REPLAY)]
    assert ["2", "1", "↑", "1", "0.8000", "0.0300", "Cats", "#1"] in lines
    assert ["1", "2", "↓", "1", "0.9000", "0.0200", "Cats", "#0"] in lines
    assert ["–", "3", "entered", "–", "0.0100", "Dogs", "\\x1b[31m", "#0"] in lines
    assert ["3", "–", "left", "0.7000", "–", "a", "removed", "document", "#7"] in lines


def test_settings_answer_and_measures_are_printed() -> None:
    text = "\n".join(shown(REPLAY))
    assert "rag.fusion  relative_score → rrf" in text
    own = replace(REPLAY, settings={"rag.use_hybrid_search": (True, False), "llm.temperature": (None, 0.3)})
    assert "rag.use_hybrid_search  true → false\nllm.temperature  (none) → 0.3" in "\n".join(shown(own))
    assert "  Cats [-sleep.-] {+purr.+} [Source 1]" in text
    assert ["confidence", "0.82", "high", "0.40", "low"] in [line.split() for line in text.splitlines()]
    assert ["model", "m", "n"] in [line.split() for line in text.splitlines()]
    assert ["took", "100.0", "ms", "50.0", "ms"] in [line.split() for line in text.splitlines()]


def test_a_replay_that_changed_nothing_says_so() -> None:
    same = replace(REPLAY, settings={}, answer=tuple(word_changes("a", "a")), passages=())
    text = "\n".join(shown(same))
    assert "No setting differs" in text
    assert "The answer is the same, word for word." in text
    assert "No passages were found" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit(width: int) -> None:
    assert max(map(len, shown(REPLAY, width))) <= width
