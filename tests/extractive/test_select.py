import pytest

from pincite.extractive.score import ScoredSentence
from pincite.extractive.select import passages, probabilities, select_sentences
from pincite.extractive.sentences import sentences_of
from tests.builders import hit

TEXT = "Ada built it. It stood for years. Nobody knows why.\n\nA new one came. - It is red."


def scored(*scores: float, text: str = TEXT, **more: object) -> list[ScoredSentence]:
    found = sentences_of([hit(text, **more)])
    made = [ScoredSentence(one, 0.5, {}, score) for one, score in zip(found, scores, strict=False)]
    return sorted(made, key=lambda fit: -fit.score)


def test_a_sure_sentence_stands_alone_and_doubt_adds_others() -> None:
    assert [one.number for one in select_sentences(scored(9.0, 1.0, 1.0, 1.0))] == [0]
    assert [one.number for one in select_sentences(scored(3.0, 2.5, 2.0, 1.9))] == [0, 1, 2]
    assert sum(probabilities(scored(3.0, 2.5, 2.0))) == pytest.approx(1.0)


def test_what_is_unlikely_is_not_added() -> None:
    assert [one.number for one in select_sentences(scored(3.0, 2.9, -3.0, -3.0))] == [0, 1]


def test_a_salutation_is_never_quoted_beside_an_answer() -> None:
    letter = "Dear Ms Dubois,\n\nYou get a voucher."
    assert [one.text for one in select_sentences(scored(3.0, 2.9, text=letter))] == ["You get a voucher."]


def test_what_says_the_same_or_is_in_another_language_is_not_added() -> None:
    assert len(select_sentences(scored(3.0, 3.0, text="Ada built it well. Ada built it well!"))) == 1
    both = [scored(3.0, text="Ada built it.")[0], scored(2.9, text="Ada baute es.", language="de")[0]]
    assert len(select_sentences(both)) == 1


def test_sentences_that_follow_each_other_are_quoted_as_one() -> None:
    sources = [hit(TEXT)]
    joined = passages(select_sentences(scored(2.5, 3.0, 2.0)), sources)
    assert [TEXT[one.start : one.end] for one in joined] == ["Ada built it. It stood for years. Nobody knows why."]


def test_a_new_paragraph_is_quoted_apart() -> None:
    chosen = [fit.sentence for fit in scored(1.0, 0.0, 2.0, 3.0)][:2]
    assert [TEXT[one.start : one.end] for one in passages(chosen, [hit(TEXT)])] == [
        "A new one came.",
        "Nobody knows why.",
    ]
