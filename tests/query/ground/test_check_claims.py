"""Claims of an answer compared with their sources."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from pincite.core.query.prompt import Computation, Draft, Quote
from pincite.core.run import Run
from pincite.extractive.tables import tables_in
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedLLM
from pincite.query.citations.marks import normalise_marks
from pincite.query.ground.check_claims import ClaimCheck, check_text, claim_check
from pincite.query.ground.llm_judge import claim_verification
from pincite.query.ground.support import MIN_SUPPORT
from tests.builders import hit

SOURCES = [
    hit("Every employee has 30 days of leave. Unused days expire on 31 March.", key=1),
    hit("The canteen opens at noon. Dogs stay outside.", key=2),
]
REWORDED = "Staff enjoy 30 days of leave each."


def checked(run: Run, text: str) -> tuple[str, ClaimCheck]:
    text, marks = normalise_marks(text, SOURCES)

    async def check_and_verify() -> ClaimCheck:
        made = await check_text(run, text, marks, SOURCES)
        if run.settings.grounding.judge == "model":
            made = await run.attempt(made, claim_verification, SOURCES, made)
        return made

    return text, asyncio.run(check_and_verify())


def test_a_claim_without_a_mark_is_matched_with_the_source_that_says_it(make_run: Callable[..., Run]) -> None:
    _, made = checked(make_run(), "Dogs stay outside. The moon is made of cheese.")
    [(claim, source, verdict)] = made.aligned
    assert (claim.text, source) == ("Dogs stay outside.", 2)
    assert verdict.support >= MIN_SUPPORT
    assert [sentence.source for sentence in made.groundedness.sentences] == [2, None]


def test_an_unsupported_mark_is_not_moved_to_another_source(make_run: Callable[..., Run]) -> None:
    _, made = checked(make_run(), "Dogs stay outside [1].")
    assert made.aligned == ()
    assert made.by_mark[0].support < MIN_SUPPORT
    assert made.groundedness.sentences[0].source == 1


def test_the_weakest_claim_of_a_sentence_decides(make_run: Callable[..., Run]) -> None:
    _, made = checked(make_run(), "Dogs stay outside [2], and employees have 25 days of leave [1].")
    assert made.by_mark[0].support >= MIN_SUPPORT > made.by_mark[1].support
    assert made.groundedness.score < MIN_SUPPORT


def test_two_sources_may_support_a_claim_together(make_run: Callable[..., Run]) -> None:
    _, made = checked(make_run(), "Unused days expire on 31 March and dogs stay outside [1][2].")
    assert [verdict.support >= MIN_SUPPORT for verdict in made.by_mark.values()] == [True, True]


class Counting(ScriptedEmbedder):
    """Counts its calls."""

    calls = 0

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        self.calls += 1
        return await super().embed(texts, as_query=as_query)


def test_open_verdicts_are_embedded_in_one_batch_and_others_not_at_all(
    make_run: Callable[..., Run],
) -> None:
    embedder = Counting(Options())
    run = make_run(embedder=embedder)
    checked(run, "Dogs stay outside [2].")
    assert embedder.calls == 0
    checked(run, f"Dogs stay outside [2]. {REWORDED} [1] Staff like the canteen [2].")
    assert embedder.calls == 1
    assert REWORDED in run.embedded


def test_claims_are_checked_by_words_where_the_embedder_is_down(make_run: Callable[..., Run]) -> None:
    run = make_run(embedder=ScriptedEmbedder(Options(fail="down")))
    _, made = checked(run, f"{REWORDED} [1]")
    assert made.by_mark[0].support > 0
    assert "by words alone: down" in run.degraded[0].reason


@pytest.mark.parametrize(("word", "supported"), [("yes", True), ("no", False)])
def test_the_model_overrides_open_verdicts(make_run: Callable[..., Run], word: str, supported: bool) -> None:
    run = make_run(llm=ScriptedLLM(Options(answers=(f"1: {word}",))), grounding__judge="model")
    _, made = checked(run, f"{REWORDED} [1]")
    assert (made.by_mark[0].support >= MIN_SUPPORT) is supported


def test_the_model_cannot_confirm_a_refuted_number(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=ScriptedLLM(Options(answers=("1: yes",))), grounding__judge="model")
    _, made = checked(run, "Every employee has 25 days of leave [1].")
    assert made.by_mark[0].reason == "says 25 days, the source says 30 days"


@pytest.mark.parametrize("answer", ["I cannot say.", "2: yes"])
def test_rule_verdicts_stay_where_the_model_gives_none(make_run: Callable[..., Run], answer: str) -> None:
    run = make_run(llm=ScriptedLLM(Options(answers=(answer,))), grounding__judge="model")
    _, made = checked(run, "Dogs stay outside [2].")
    assert made.by_mark[0].support >= MIN_SUPPORT
    assert run.degraded


TABLE = hit("| Lamp | Price |\n|---|---|\n| Desk | 30 |\n| Floor | 80 |")
ROWS = tuple((row.start, row.end) for table in tables_in(TABLE.chunk.text) for row in table.rows)


@pytest.mark.parametrize(
    ("value", "rows", "support"), [("110", ROWS, 1.0), ("120", ROWS, 0.0), ("110", ROWS[:1], 0.0), ("110", (), 0.0)]
)
def test_a_computed_value_is_computed_again_from_its_rows(
    make_run: Callable[..., Run], value: str, rows: tuple[tuple[int, int], ...], support: float
) -> None:
    text = f"Computed from 2 rows: {value} (total of Price). [Source 1]"
    quote = Quote(1, ROWS[0][0], ROWS[-1][1], text.index("["), len(text), Computation("sum", 1, rows, value))
    made = asyncio.run(claim_check(make_run(), [TABLE], Draft(text, "extractive", "stop", quotes=(quote,))))
    assert made.marks[0].matched_by == "computed"
    assert made.by_mark[0].support == support
    assert made.groundedness.score == support
