"""Grounding a draft in its sources."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.core.query.answer import Answer
from pincite.core.query.hits import Evidence
from pincite.core.query.prompt import Draft
from pincite.core.run import Run
from pincite.query.ground.check_claims import claim_check
from pincite.query.ground.ground import grounding
from tests.builders import hit, plan, prompt

HITS = (
    hit("Every employee has 30 days of leave. Unused days expire on 31 March.", key=1, relevance=0.99),
    hit("The canteen opens at noon.", key=2, relevance=0.5),
)


def grounded(run: Run, text: str) -> Answer:
    asked = "When do unused days expire?"
    draft = Draft(text, "m", "stop")

    async def check_and_ground() -> Answer:
        claims = await claim_check(run, HITS, draft)
        return await grounding(run, plan(asked), Evidence(HITS, 1.0), prompt(asked, *HITS), draft, claims)

    return asyncio.run(check_and_ground())


def test_an_unsupported_citation_has_a_reason_and_a_warning(make_run: Callable[..., Run]) -> None:
    made = grounded(make_run(), "Every employee has 25 days of leave. [Source 1]")
    [citation] = made.citations
    assert (citation.matched, citation.source, citation.reason) == (True, 1, "says 25 days, the source says 30 days")
    assert citation.quote == "Every employee has 30 days of leave."
    assert any("says 25 days, the source says 30 days" in warning for warning in made.warnings)
    assert made.confidence.level == "low"


def test_a_sentence_without_a_mark_is_cited_by_code_at_its_end(make_run: Callable[..., Run]) -> None:
    made = grounded(make_run(), "Unused days expire on 31 March. Pigs fly over Rome.")
    [citation] = made.citations
    assert (citation.text, citation.start, citation.end, citation.matched_by) == ("", 31, 31, "code")
    assert citation.quote == "Unused days expire on 31 March."
    assert [sentence.source for sentence in made.groundedness.sentences] == [1, None]
    assert made.sources[0].cited
    assert made.warnings == (
        "the answer cites no source; code matched its claims to sources",
        "1 of 2 sentences have no source",
    )


def test_a_citation_of_an_unknown_source_has_a_reason(make_run: Callable[..., Run]) -> None:
    [citation] = grounded(make_run(), "Unused days expire on 31 March [Source 7].").citations
    assert (citation.matched, citation.support, citation.reason) == (False, 0.0, "names no source of this answer")


@pytest.mark.parametrize(
    ("rule", "reason"), [("calibrated", "1 cited source, relevance 99%"), ("counted", "2 sources found")]
)
def test_the_rule_of_confidence_is_a_setting(make_run: Callable[..., Run], rule: str, reason: str) -> None:
    made = grounded(make_run(confidence__rule=rule), "Unused days expire on 31 March [Source 1].")
    assert made.confidence.reason.startswith(reason)


def test_many_bad_citations_are_counted(make_run: Callable[..., Run]) -> None:
    made = grounded(make_run(), " ".join(f"There are {n} dogs outside [Source 2]." for n in range(20, 28)))
    assert "3 more citations do not support their claims" in made.warnings


WORDS = st.sampled_from(
    [
        "[Source 1]",
        "[source 2]",
        "[1, 2]",
        "[9]",
        "[1-2]",
        "【2】",
        "(Source 1)",
        "[^1]",
        "[Handbook]",
        "[x]",
        "`[1]`",
        "[a](http://e)",
        "Every employee has 30 days of leave",
        "Unused days expire",
        "25 days",
        "not",
        "the canteen",
        "Mars",
        ".",
        ". ",
        "\n",
        "\n\n- ",
        ":",
        "?",
        " ",
        "\n```\n",
        "# ",
        "| a | b |",
        "ü",
        "🏖",
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, max_size=25).map("".join))
def test_no_draft_leads_to_a_citation_that_does_not_resolve(make_run: Callable[..., Run], text: str) -> None:
    made = grounded(make_run(), text)
    for citation in made.citations:
        assert made.text[citation.start : citation.end] == citation.text
        assert 0.0 <= citation.support <= 1.0
        assert citation.matched == (citation.source is not None) == bool(citation.quote)
        if citation.source:
            chunk = HITS[citation.source - 1].chunk
            assert citation.quote_start_char is not None
            assert chunk.text[citation.quote_start_char - chunk.start_char :].startswith(citation.quote)
    spans = [(sentence.start, sentence.end) for sentence in made.groundedness.sentences]
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(made.text) for start, end in spans)
    assert 0.0 <= made.confidence.score <= 1.0
