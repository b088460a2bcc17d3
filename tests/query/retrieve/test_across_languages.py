"""Passages in another language than the question have the usual lexical score."""

from dataclasses import replace

import pytest

from pincite.core.query.hits import Hit, Scale, ScoreContribution
from pincite.query.retrieve.across_languages import USUAL_SHARE, with_usual_lexical_score
from tests.builders import found

QUESTION = "How much does the canoe cost?"


def make_hit(key: int, language: str, dense: float, lexical: float) -> Hit:
    chunk = replace(found("text"), key=key, language=language)
    scale = Scale(0.5, 0.0, 1.0)
    shares = [ScoreContribution("dense", 0, key, 2 * dense, dense, scale)]
    shares += [ScoreContribution("lexical", 0, key, 2 * lexical, lexical, scale)] if lexical else []
    return Hit(chunk, dense + lexical, dense, 0.0, dense + lexical, tuple(shares))


OWN = [make_hit(1, "en", 0.40, 0.20), make_hit(2, "en", 0.38, 0.05), make_hit(3, "en", 0.36, 0.05)]


def test_a_foreign_passage_gets_the_usual_lexical_share() -> None:
    ordered = with_usual_lexical_score(QUESTION, [*OWN, make_hit(4, "de", 0.42, 0.0)], [])
    assert [hit.chunk.key for hit in ordered] == [1, 4, 2, 3]
    raised = ordered[1]
    assert raised.score == pytest.approx(0.42 + USUAL_SHARE * 0.1)  # the mean of .2, .05 and .05
    assert raised.placings[-1].via == "language"
    assert raised.score == raised.hybrid_score == pytest.approx(sum(one.share for one in raised.placings))


def test_a_foreign_passage_that_words_did_find_keeps_its_share() -> None:
    named = make_hit(4, "de", 0.42, 0.3)
    assert with_usual_lexical_score(QUESTION, [*OWN, named], [])[0] == named


def test_the_nearest_foreign_passages_join_and_the_number_stays() -> None:
    nearest = [make_hit(5, "de", 0.45, 0.0), make_hit(6, "en", 0.45, 0.0), make_hit(7, "xx", 0.45, 0.0)]
    ordered = with_usual_lexical_score(QUESTION, OWN, nearest)
    assert [hit.chunk.key for hit in ordered] == [1, 5, 2]


def test_without_a_passage_in_the_questions_language_nothing_changes() -> None:
    foreign = [make_hit(1, "de", 0.4, 0.0), make_hit(2, "de", 0.3, 0.1)]
    assert with_usual_lexical_score(QUESTION, foreign, [make_hit(3, "de", 0.5, 0.0)]) == foreign
