import pytest

from pincite.core.query.reading import Reading, Window
from pincite.extractive.question import question_terms
from pincite.extractive.score import ScoredSentence, rank_candidates, score_sentences, term_shares
from pincite.extractive.sentences import sentences_of
from tests.builders import hit


def best(question: str, text: str, **more: object) -> ScoredSentence:
    found = sentences_of([hit(text, **more)])
    return score_sentences(question_terms(question, found), found, [0.5] * len(found))[0]


@pytest.mark.parametrize(
    ("question", "text", "start"),
    [
        ("When did the bridge open?", "The bridge opened to great applause. The bridge opened in 1931.", "The bridge opened in"),
        ("Who built the bridge?", "The bridge was built of stone. The bridge was built by Ada Ruf.", "The bridge was built by"),
        ("Why did the pump stop?", "The pump stopped in May. The pump stopped because of ice.", "The pump stopped because"),
        ("What is Dohle?", "Dohle closes early. The small telescope is called Dohle.", "The small"),
        ("Wer spielte in der Verteidigung?", "Es regnete. Die Verteidigungsspieler waren jung.", "Die Verteidigungsspieler"),
    ],
)  # fmt: skip
def test_the_sentence_that_answers_fits_best(question: str, text: str, start: str) -> None:
    language = "de" if "Wer" in question else "en"
    assert best(question, text, language=language).sentence.text.startswith(start)


def test_what_was_said_before_counts_where_a_sentence_refers_to_it() -> None:
    text = "The mayor praised the harbour festival. It drew nine thousand people. Nine thousand fish were sold."
    found = sentences_of([hit(text)])
    made = {
        fit.sentence.number: fit
        for fit in score_sentences(question_terms("How many came to the harbour festival?", found), found, [0.4] * 3)
    }
    assert made[1].features["referred"] > 0
    assert made[1].score > made[2].score


def test_a_sentence_in_the_language_of_the_question_is_preferred() -> None:
    hits = [hit("Tesla 1943.", key=1, language="de"), hit("Tesla 1943.", key=2, language="en")]
    found = sentences_of(hits)
    assert score_sentences(question_terms("When did Tesla die?", found), found, [0.5, 0.5])[0].sentence.source == 2


def test_a_passage_without_the_figure_asked_about_counts_less() -> None:
    [wrong, right] = [best("What is E-14?", f"E-{n} is ice.").features["lacks_number"] for n in (11, 14)]
    assert (wrong, right) == (1.0, 0.0)


def test_sentences_are_ordered_by_the_words_they_share() -> None:
    found = sentences_of([hit("Nothing here. The cat sleeps. The cat eats fish.")])
    asked = question_terms("Does the cat eat fish?", found)
    assert rank_candidates(asked, found)[0].text == "The cat eats fish."
    assert term_shares(asked, found)[0] == 0.0


def test_words_above_a_sentence_count_half() -> None:
    low = best("fish prices", "They rose.")
    high = best("fish prices", "They rose.", heading_path=("Fish prices",))
    assert high.features["like"] > low.features["like"] == 0


def test_the_reader_raises_the_sentence_in_which_it_sees_the_answer() -> None:
    text = "The club has a lake. It closes in May."
    found = sentences_of([hit(text)])
    asked = question_terms("When does it shut?", found)
    window = Window(0.9, (0, 21), (20, 38), (0.02, 0.98), (0.02, 0.98), 0, 0, 0, 0)
    with_reader = score_sentences(asked, found, [0.3, 0.3], {1: Reading((window,))})
    assert with_reader[0].sentence.text == "It closes in May."
    assert with_reader[0].features["read"] == pytest.approx(0.9 * 0.98)
    assert with_reader[1].features["read"] == pytest.approx(0.9 * 0.02)
    assert rank_candidates(asked, found, {1: Reading((window,))})[0].text == "It closes in May."
    assert "read" not in score_sentences(asked, found, [0.3, 0.3])[0].features


@pytest.mark.parametrize(("own", "foreign", "across"), [(0.05, 0.95, 0.9), (0.95, 0.95, 0.0)])
def test_a_sentence_in_another_language_gains_what_the_reader_sees_in_it_alone(
    own: float, foreign: float, across: float
) -> None:
    hits = [hit("The harbour has a crane.", key=1), hit("Der Kran hebt 12 Tonnen.", key=2, language="de")]
    found = sentences_of(hits)
    asked = question_terms("How much can the crane lift in the harbour?", found)
    readings = {n: Reading((Window(p, (0,), (24,), (1.0,), (1.0,), 0, 0, 0, 0),)) for n, p in ((1, own), (2, foreign))}
    by_language = {one.sentence.language: one for one in score_sentences(asked, found, [0.4, 0.4], readings)}
    assert by_language["de"].features["read_across"] == pytest.approx(across)
    assert by_language["en"].features["read_across"] == 0.0


def test_a_price_needs_no_currency() -> None:
    asked = "What do we pay for a lost key?"
    assert best(asked, "A new key costs 15.").features["lacks_kind"] == 0.0
    assert best(asked, "We have 15 keys.").features["lacks_kind"] == 1.0
