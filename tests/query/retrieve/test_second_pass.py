"""The second pass: its query, and the fusion of both passes."""

from dataclasses import replace

import pytest

from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.query.question import Question
from pincite.query.retrieve.second_pass import merge, next_query, plan_for
from pincite.query.understand.analysis import with_searches
from pincite.query.understand.intent import analyse_question
from tests.builders import hit, plan

FILM = hit("Blue Hour is a film directed by Ines Calder and Otto Brandt.", key=1)


def asked(text: str) -> Plan:
    return with_searches(replace(plan(text), question=Question(text), analysis=analyse_question(text)))


def evidence(*hits: Hit, missing: tuple[str, ...] = ()) -> Evidence:
    return Evidence(hits, 0.5, missing)


def test_no_query_where_everything_is_covered_or_nothing_was_found() -> None:
    question = asked("Who directed Blue Hour?")
    assert not question.analysis.is_multi_hop
    assert next_query(question, evidence(FILM)) == ""
    assert next_query(question, evidence(missing=("directed",))) == ""


def test_missing_words_are_searched_with_new_names_of_the_best_passage() -> None:
    question = asked("In which town was the director of Blue Hour born?")
    assert (
        next_query(question, evidence(FILM, missing=("town", "born"))) == "town director born Ines Calder Otto Brandt"
    )


def test_the_next_hop_is_searched_even_where_its_words_are_covered() -> None:
    other = hit("In the town of Wick every director was born.", key=2)
    question = asked("In which town was the director of the film that Otto Brandt paid for born?")
    assert question.analysis.is_multi_hop
    assert next_query(question, evidence(FILM, other)) == "town director paid born Blue Hour Ines Calder"


def test_an_uncovered_part_of_the_question_is_searched_unchanged() -> None:
    question = asked("When does the museum open, and who restores the clocks?")
    museum = hit("The museum opens at ten and closes when it is dark.", key=2)
    assert next_query(question, evidence(museum, missing=("restores", "clocks"))) == "who restores the clocks"


def test_the_second_pass_has_its_own_query_and_the_relevance_of_the_question() -> None:
    question = asked("Who directed Blue Hour?")
    second = plan_for(question, "town born")
    assert {(search.text, search.query) for search in second.searches} == {("town born", 1)}
    assert {search.via for search in second.searches} == {"dense", "lexical"}
    assert (second.queries, second.searched) == (question.queries, (question.text, "town born"))


def test_both_passes_are_merged_by_rank_without_duplicates() -> None:
    first = [hit("a", key=1, score=0.9), hit("b", key=2, score=0.8)]
    second = [hit("c", key=3, score=0.7), hit("b", key=2, score=0.6)]
    joined = merge(first, second, 3)
    assert [one.chunk.key for one in joined] == [2, 1, 3]
    for one in joined:
        looks = [place for place in one.placings if place.via == "look"]
        assert one.score == pytest.approx(sum(place.share for place in looks))
    assert [one.chunk.key for one in merge(first, second, 2)] == [2, 1]
    assert joined[0].relevance == first[1].relevance
