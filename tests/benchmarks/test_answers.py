from dataclasses import replace

from benchmarks.answers import held_out, outcome, report
from pincite.core.query.answer import Answer, Citation
from tests.builders import answer, source

QUESTION = {"lang": "en", "kind": "covered", "document": "en:7", "answers": ["1931"], "text": "When?"}


def cited(*quotes: str) -> Answer:
    told = answer("x", (source(1, "d7", "x"),))
    marks = [Citation("[Source 1]", 0, 0, True, "code", 1, quote, 0, 9, 1, 1, None, 1.0) for quote in quotes]
    return replace(told, citations=tuple(marks))


def test_it_is_told_where_a_gold_answer_was_lost() -> None:
    assert outcome(QUESTION, cited("It opened.", "In 1931."), "d7").lost == ""
    assert outcome(QUESTION, cited("It opened."), "d7").lost == "choosing"
    assert outcome(QUESTION, cited(), "d7").lost == "refusal"
    assert outcome(QUESTION, cited("It opened."), "d8").lost == "retrieval"


def test_the_first_quote_and_all_sentences_are_counted() -> None:
    one = outcome(QUESTION, cited("It opened. That was in 1931.", "It rained."), "d7")
    assert (one.first, one.sentences, one.refused) == (True, 3, False)
    assert not outcome(QUESTION, cited("It rained.", "In 1931."), "d7").first


def test_translations_of_an_article_are_held_out_together() -> None:
    assert held_out(QUESTION) == held_out({**QUESTION, "document": "de:9"}) is True
    assert not held_out({**QUESTION, "document": "en:11"})


def test_the_report_has_a_line_for_each_language_and_kind() -> None:
    outcomes = [
        outcome(QUESTION, cited("In 1931."), "d7"),
        outcome({**QUESTION, "lang": "de"}, cited(), "d7"),
        outcome({**QUESTION, "kind": "far"}, cited(), None),
    ]
    lines = report(outcomes)
    assert "| all | en | 1.000 | 1.000 | 1.00 | 0.000 | 0.000 | 0.000 | 1 |" in lines
    assert "| all | de | 0.000 | 0.000 | 0.00 | 0.000 | 0.000 | 1.000 | 1 |" in lines
    assert "| far | 1.000 | 1.000 |" in lines
