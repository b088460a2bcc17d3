from dataclasses import replace

import pytest

from pincite.extractive.abstain import (
    MIN_PROBABILITY,
    MIN_PROBABILITY_WITHOUT_VALUE,
    answer_features,
    answer_probability,
    is_unfounded,
    missing_words,
    needed_probability,
    refusal,
    without_missing,
)
from pincite.extractive.question import names_in, question_terms
from pincite.extractive.score import ScoredSentence, score_sentences
from pincite.extractive.sentences import sentences_of, with_initials
from pincite.text.terms import question_language
from tests.builders import hit

TEXT = "The main mirror was recoated in May. It cost 41,300 francs."


def judged(question: str, cosine: float, *, text: str = TEXT) -> tuple[list[ScoredSentence], float]:
    found = sentences_of([hit(text)])
    made = score_sentences(question_terms(question, found), found, [cosine] * len(found))
    return made, answer_probability(question_terms(question, found), made)


def test_covered_questions_are_answered_and_others_refused() -> None:
    assert judged("How much did the mirror cost?", 0.6)[1] > MIN_PROBABILITY
    assert judged("Who painted the Mona Lisa?", 0.05)[1] < MIN_PROBABILITY
    assert answer_probability(question_terms("What?", []), []) == 0.0


def test_without_meaning_words_decide() -> None:
    found = sentences_of([hit(TEXT)])
    sides = []
    for question in ("When was the main mirror recoated?", "Who painted the Mona Lisa?"):
        asked = question_terms(question, found)
        sides.append(
            answer_probability(asked, score_sentences(asked, found, [0.0, 0.0]), with_meaning=False) > MIN_PROBABILITY
        )
    assert sides == [True, False]


def test_a_name_or_figure_that_stands_nowhere_near_speaks_against_an_answer() -> None:
    found = sentences_of([hit(TEXT)])
    for question, share in (("Did Tesla recoat the mirror?", 1.0), ("Was the mirror recoated in May?", 0.0)):
        asked = question_terms(question, found)
        assert answer_features(asked, score_sentences(asked, found, [0.5, 0.5]))["names"] == share


@pytest.mark.parametrize(
    ("question", "language", "names"),
    [
        ("Did Tesla meet Edison in 1884?", "en", {"tesla", "edison", "1884"}),
        ("What does error E-14 mean?", "en", {"e", "14"}),
        ("Hat Marconi im Sommer das Haus verlassen?", "de", {"marconi"}),
    ],
)
def test_names_are_told_from_nouns(question: str, language: str, names: set[str]) -> None:
    assert names_in(question, language) == names


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who sold the Zeppelin to Marconi?", "Nothing that fits was found about “Zeppelin”, “Marconi”."),
        ("Wie hoch ist die Miete der Werkstatt?", "Zu „Werkstatt“, „Miete“ wurde nichts Passendes gefunden."),
        ("What is the salary?", "Nothing that fits was found about “salary”."),
    ],
)
def test_a_refusal_says_what_nothing_was_found_about(question: str, told: str) -> None:
    found = sentences_of([hit(TEXT)])
    asked = question_terms(question, found)
    said = refusal(asked, score_sentences(asked, found, [0.1, 0.1]))
    assert said.endswith(told)
    assert said.startswith(("I don't have specific information", "Dazu habe ich"))


def test_nothing_is_said_to_be_missing_that_stands_in_a_passage() -> None:
    found = sentences_of([hit(TEXT)])
    asked = question_terms("Who recoated the mirror?", found)
    assert missing_words(asked, score_sentences(asked, found, [0.1, 0.1])) == []


def test_a_word_of_another_passage_is_not_called_missing() -> None:
    found = sentences_of([hit(TEXT)])
    asked = question_terms("Who sold the Zeppelin to Marconi?", found)
    scored = score_sentences(asked, found, [0.1, 0.1])
    assert missing_words(asked, scored, elsewhere={"marconi"}) == ["Zeppelin"]


def test_an_earlier_word_that_no_passage_has_is_left_out_of_a_follow_up() -> None:
    found = sentences_of([hit("Kassel follows later.")])
    asked = question_terms("When does Wayfarer start in Kassel?", found)
    scored = score_sentences(asked, found, [0.5])
    assert [term.text for term in without_missing(asked, scored, "and Kassel?").terms] == ["kassel"]
    assert without_missing(asked, scored, "") == asked


def test_an_answer_without_the_value_asked_for_must_be_likelier() -> None:
    percent, cost = "What percentage of the main mirror was recoated?", "How much did the mirror cost?"
    found = sentences_of([hit("The mirror cost 900 euros.")])
    asked, other = question_terms(percent, found), question_terms(cost, found)
    lacking, having = score_sentences(asked, found, [0.6]), score_sentences(other, found, [0.6])
    assert needed_probability(asked, lacking) > needed_probability(other, having) == MIN_PROBABILITY
    assert needed_probability(asked, []) == MIN_PROBABILITY


@pytest.mark.parametrize(("column", "needed"), [("Price", MIN_PROBABILITY), ("Seats", MIN_PROBABILITY_WITHOUT_VALUE)])
def test_a_row_tells_a_price_only_in_a_column_of_prices(column: str, needed: float) -> None:
    found = sentences_of([hit(f"| Boat | {column} |\n|---|---|\n| Heron | 40 |")])
    asked = question_terms("What did the Heron cost?", found)
    assert needed_probability(asked, score_sentences(asked, found, [0.6])) == needed


def test_a_missing_identifier_is_named_whole() -> None:
    found = sentences_of([hit("Room E.119 has a laser.")])
    asked = question_terms("Which laser is in E.114?", found)
    assert missing_words(asked, []) == ["E.114"]
    assert missing_words(asked, score_sentences(asked, found, [0.5])) == ["E.114"]


def read(question: str, probability: float | None, *, language: str = "en") -> float:
    """The probability of an answer where the reader gives each sentence this one; None without a reader."""
    found = sentences_of([hit(TEXT, language=language)])
    asked = question_terms(question, found)
    features = {} if probability is None else {"read": probability, "read_log": probability}
    made = [
        ScoredSentence.of(one.sentence, one.cosine, {**one.features, **features}) if features else one
        for one in score_sentences(asked, found, [0.5] * len(found))
    ]
    return answer_probability(asked, made)


def test_the_readers_probability_counts_where_one_sentence_is_asked_for() -> None:
    assert read("How much did the mirror cost?", 0.99) > read("How much did the mirror cost?", 0.01)


def test_a_source_in_another_language_is_weighed_without_its_words_with_and_without_a_reader() -> None:
    question = "Was kostete der Spiegel?"
    assert read(question, 0.01) < read(question, 0.99)
    assert read(question, None) > 0


def scored_at(question: str, text: str, relevance: float, *, read: float | None = None) -> bool:
    found = sentences_of([hit(text, relevance=relevance, language=question_language(text))])
    made = score_sentences(question_terms(question, found), found, [0.5] * len(found))
    if read is not None:
        made = [replace(one, features={**one.features, "read": read}) for one in made]
    return is_unfounded(question_terms(question, found), made)


RENTAL = "Ein Kanu kostet 14 Euro am Tag. Der Verleih ist am Steg."


def test_sources_about_something_else_are_no_ground_for_an_answer() -> None:
    assert scored_at("was kostet eine brille", RENTAL, 0.02)
    assert scored_at("was kostet eine brille", RENTAL, 0.25)
    assert not scored_at("was kostet ein kanu", RENTAL, 0.02)
    assert not scored_at("How much did the mirror cost?", TEXT, 0.01)
    assert scored_at("How much did the kitchen cost?", TEXT, 0.05)


def test_a_relevant_source_in_other_words_is_kept() -> None:
    assert not scored_at("was kostet ein paddelboot", RENTAL, 0.6)


def test_a_source_in_other_words_is_kept_where_the_reader_finds_the_answer() -> None:
    assert scored_at("was kostet ein paddelboot", RENTAL, 0.02, read=0.5)
    assert not scored_at("was kostet ein paddelboot", RENTAL, 0.02, read=0.9)


def test_a_source_in_another_language_is_relevant_or_the_reader_is_sure() -> None:
    text = "The canoe hire is at the jetty. A canoe costs 14 euros a day."
    assert scored_at("was kostet ein kanu am tag", text, 0.03, read=0.9)
    assert not scored_at("was kostet ein kanu am tag", text, 0.03, read=0.99)
    assert not scored_at("was kostet ein kanu am tag", text, 0.2, read=0.9)
    assert not scored_at("was kostet 14 euro am tag", text, 0.03, read=0.9)


def test_an_abbreviation_of_the_question_is_found_by_its_initials() -> None:
    found = sentences_of([hit("The hall is closed. The quarterly safety review is on 4 May.")])
    assert [("qsr" in one.terms) for one in with_initials(found, "qsr date?")] == [False, True]
    assert with_initials(found, "hall date?") == found


def test_the_verb_of_a_question_is_found_in_a_compound() -> None:
    found = sentences_of([hit("Kursbeginn ist der 4. Mai.", language="de")])
    [beginnt, _] = question_terms("wann beginnt der malkurs", found).terms
    assert beginnt.similarity(found[0].terms) >= 0.5
