import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.hits import summands
from pincite.core.query.question import Question
from pincite.core.run import Answered, Event, PassagesFound, Planned, Run, SourcesFound, Started, Token
from pincite.errors import OverBudget, Unavailable
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedLLM, ScriptedReranker
from pincite.query.pipeline import answer, search

TEXTS = {1: "Every employee has 30 days of leave.\nUnused days expire on 31 March.", 2: "The canteen opens at noon."}
RANKS = {1: 0.8, 2: 0.2}


def ask(run: Run, text: str = "When do unused days of leave expire?") -> Answer:
    return asyncio.run(answer(run, Question(text)))


def stages(run: Run) -> list[str]:
    """The stages in their order, without the embedding that runs beside the first."""
    return [span.name for span in run.spans if span.parent is None and span.name != "query_embedding"]


def scripted(*answers: str) -> ScriptedLLM:
    return ScriptedLLM(Options(answers=answers))


def test_every_stage_runs_once_and_in_order(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    run = make_run(TEXTS, RANKS, RANKS, events=events)
    result = ask(run)
    assert stages(run) == [
        "guardrails",
        "model_lookup",
        "history_lookup",
        "query_rewriting",
        "spelling_correction",
        "query_analysis",
        "retrieval",
        "ranking",
        "relevance_filter",
        "evidence_selection",
        "prompt_assembly",
        "llm_generation",
        "claim_check",
        "grounding",
        "suggested_questions",
        "history_saving",
    ]
    kinds = [type(event) for event in events]
    assert (*kinds[:5], kinds[-1]) == (Started, Planned, PassagesFound, SourcesFound, Token, Answered)
    assert "".join(event.text for event in events if isinstance(event, Token)) == result.text


def test_a_citation_points_at_the_exact_passage(make_run: Callable[..., Run]) -> None:
    result = ask(make_run(TEXTS, RANKS, RANKS, llm=scripted("Unused days expire on 31 March [1].")))
    assert result.text == "Unused days expire on 31 March [Source 1]."
    [citation] = result.citations
    assert citation.quote == "Unused days expire on 31 March."
    chunk_start = 100
    assert citation.quote_start_char == chunk_start + TEXTS[1].index("Unused")
    assert (citation.quote_start_line, citation.quote_end_line) == (11, 11)
    assert (citation.matched_by, citation.support) == ("number", 1.0)
    assert result.confidence.level in ("high", "medium")
    assert result.groundedness.sentences[0].source == 1
    assert [source.cited for source in result.sources] == [True, False][: len(result.sources)]


@pytest.mark.parametrize(
    ("draft", "warning"),
    [
        ("Unused days expire on 31 March.", "cites no source"),
        ("Penguins live in Patagonia. [Source 1]", "not supported"),
        ("Unused days expire. [Source 9]", "not supported"),
    ],
)
def test_uncheckable_answers_have_warnings(make_run: Callable[..., Run], draft: str, warning: str) -> None:
    result = ask(make_run(TEXTS, RANKS, RANKS, llm=scripted(draft), grounding__replace_unsupported=False))
    assert warning in result.warnings[0]
    assert result.confidence.level != "high"


def test_a_source_that_is_not_there_stays_unmatched(make_run: Callable[..., Run]) -> None:
    [citation] = ask(make_run(TEXTS, RANKS, RANKS, llm=scripted("Yes. [Source 9]"))).citations
    assert (citation.matched, citation.source, citation.quote) == (False, None, "")


def test_nothing_relevant_means_no_model_is_asked(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=ScriptedLLM(Options(fail="must not be called")))
    result = ask(run)
    assert "don't have specific information" in result.text
    assert (result.metadata.model, result.metadata.chunks_retrieved, result.confidence.level) == (None, 0, "low")
    assert (result.degraded, result.sources, result.has_relevant_sources) == ((), (), False)
    assert "keine genauen Angaben" in ask(make_run(), "Wie viele Tage haben wir?").text


def test_without_a_model_the_answer_is_extractive_and_degraded(make_run: Callable[..., Run]) -> None:
    result = ask(make_run(TEXTS, RANKS, RANKS, llm=ScriptedLLM(Options(fail="connection refused"))))
    assert "Unused days expire on 31 March." in result.text
    assert result.metadata.model == "extractive"
    assert [(note.stage, note.reason) for note in result.degraded] == [("llm_generation", "connection refused")]


def test_a_cut_answer_says_so(make_run: Callable[..., Run]) -> None:
    cut = ScriptedLLM(Options(answers=("Unused days expire on 31 March.",), fail_after=3))
    result = ask(make_run(TEXTS, RANKS, RANKS, llm=cut))
    assert result.metadata.finish_reason == "incomplete"
    assert "incomplete" in result.warnings[0]


def test_no_time_left(make_run: Callable[..., Run]) -> None:
    with pytest.raises(OverBudget, match="before guardrails"):
        ask(make_run(seconds=-1))


def test_searching_neither_assembles_nor_generates(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS)
    _, hits = asyncio.run(search(run, Question("leave", top_k=1)))
    assert [hit.chunk.key for hit in hits] == [1]
    assert stages(run) == [
        "guardrails",
        "spelling_correction",
        "query_analysis",
        "retrieval",
        "ranking",
    ]


def test_brackets_of_the_document_are_no_citations(make_run: Callable[..., Run]) -> None:
    texts = {1: "Up to five days carry over into the next year [2]. See there.", 2: "Zebras have stripes."}
    run = make_run(texts, RANKS, RANKS)
    run.kit = replace(run.kit, llm=run.kit.extractive)
    result = ask(run, "How many days carry over into the next year?")
    assert [(citation.source, citation.matched_by) for citation in result.citations] == [(1, "code")]
    assert result.citations[0].quote in texts[1]
    assert "[2]" not in result.text


def test_a_model_is_never_asked_without_sources(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS, llm=ScriptedLLM(Options(fail="must not be called")), context__max_tokens=5)
    result = ask(run)
    assert (result.metadata.model, result.sources) == (None, ())
    assert "context.max_tokens" in result.degraded[0].reason


def test_min_score_cannot_be_applied_without_an_embedder_and_that_is_said(make_run: Callable[..., Run]) -> None:
    down = ScriptedEmbedder(Options(fail="down"))
    run = make_run(TEXTS, RANKS, RANKS, embedder=down)
    _, hits = asyncio.run(search(run, Question("leave", min_score=0.5)))
    assert hits
    assert [note.stage for note in run.degraded] == ["query_embedding", "ranking"]


@pytest.mark.parametrize(("strategy", "stage"), [("two_stage", "proximity_boost"), ("hierarchical", "parent_boost")])
def test_two_stage_reorders_by_proximity_before_ranking(
    make_run: Callable[..., Run], strategy: Any, stage: str
) -> None:
    run = make_run(TEXTS, RANKS, RANKS)
    plan, hits = asyncio.run(search(run, Question("days of leave", strategy=strategy)))
    assert (plan.strategy, hits[0].chunk.key) == (strategy, 1)
    assert stages(run)[-3:] == ["retrieval", stage, "ranking"]
    for hit in hits:
        assert hit.score == pytest.approx(sum(placing.share for placing in hit.placings))


def test_fusion_searches_each_part_and_its_scores_can_be_recomputed(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS)
    run.kit = replace(run.kit, llm=run.kit.extractive)
    asked = Question("When do days of leave expire, and when does the canteen open?", strategy="fusion")
    plan, hits = asyncio.run(search(run, asked))
    assert plan.extra == ("When do days of leave expire", "when does the canteen open")
    assert {note.stage for note in run.degraded} == {"step_back", "query_variations"}
    for hit in hits:
        assert hit.score == pytest.approx(sum(placing.share for placing in summands(hit.placings)))
        for text in (placing for placing in hit.placings if placing.via == "query"):
            engines = [one for one in hit.placings if one.query == text.query and one.via in ("dense", "lexical")]
            assert text.raw == pytest.approx(sum(one.share for one in engines))


def test_results_of_other_levels_pass_through_the_final_order(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS)
    _, hits = asyncio.run(search(run, Question("days of leave", levels=(0,), top_k=1)))
    assert [hit.chunk.level for hit in hits] == [0]
    assert stages(run)[-2:] == ["level_promotion", "ranking"]
    assert hits[0].relevance > 0


def test_dense_only_questions_are_not_reranked(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS, reranker=ScriptedReranker(Options()))
    asyncio.run(search(run, Question("leave", strategy="dense_only")))
    assert "reranking" not in {span.name for span in run.spans}
    asyncio.run(search(run, Question("leave", strategy="two_stage")))
    assert "reranking" in {span.name for span in run.spans}


def test_a_second_pass_searches_once_more_and_is_in_the_plan(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS, rag__second_look=True)
    result = ask(run, "When do unused days of leave expire in Sweden?")
    names = [span.name for span in run.spans]
    assert (names.count("second_look"), names.count("retrieval"), names.count("ranking")) == (1, 2, 2)
    told = next(span for span in run.spans if span.name == "second_look")
    assert told.attributes["looked"]
    assert [chunk for chunk, _ in told.attributes["hits"]] == [source.chunk_id for source in result.sources]
    assert any(line.startswith("second look: ") for line in result.metadata.plan)


def test_both_passes_together_respect_the_cap_per_owner(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS, rag__second_look=True, rag__max_per_owner=1, rag__similarity_threshold=0.0)
    index: Any = run.kit.index
    index.chunks = {key: replace(chunk, owner="somebody") for key, chunk in index.chunks.items()}
    result = ask(run, "When do unused days of leave expire in Sweden?")
    assert len(result.sources) == 1


def test_no_second_pass_where_everything_is_covered(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS, rag__second_look=True)
    result = ask(run, "When do unused days of leave expire?")
    assert [span.name for span in run.spans].count("retrieval") == 1
    assert not any(line.startswith("second look") for line in result.metadata.plan)


def test_a_failed_second_pass_keeps_the_first_result(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS, rag__second_look=True)
    first, calls = run.kit.index.lexical, 0

    async def fails_later(*arguments: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise Unavailable("the index is gone")
        return await first(*arguments, **more)

    run.kit.index.lexical = fails_later  # type: ignore[method-assign]
    result = ask(run, "When do unused days of leave expire in Sweden?")
    assert result.sources
    assert [note.stage for note in result.degraded] == ["second_look"]
