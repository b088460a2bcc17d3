"""Two documents that give different values for what is asked are both told."""

from pincite.core.query.hits import Hit
from pincite.extractive.compose import compose_answer
from pincite.extractive.question import question_terms
from pincite.extractive.rival import rival_sentence
from pincite.extractive.score import ScoredSentence, score_sentences
from pincite.extractive.sentences import sentences_of
from tests.builders import hit

ASKED = "How many hours before may I cancel an appointment?"
GUIDE = "Clients may cancel an appointment no later than 48 hours before."
FAQ = "You may cancel an appointment up to 24 hours before."


def sources(*texts: str) -> list[Hit]:
    return [hit(text, document_id=f"d{n}", id=f"c{n}", document_name=f"{n}.txt") for n, text in enumerate(texts)]


def scored(asked: str, hits: list[Hit], *cosines: float) -> list[ScoredSentence]:
    found = sentences_of(hits)
    return score_sentences(question_terms(asked, found), found, cosines or [0.6] * len(found))


def rival(asked: str, *texts: str) -> str | None:
    hits = sources(*texts)
    found = scored(asked, hits)
    other = rival_sentence(question_terms(asked, sentences_of(hits)), found, hits)
    return other.text if other else None


def test_another_value_of_another_document_is_found_and_told() -> None:
    assert rival(ASKED, GUIDE, FAQ) in (GUIDE, FAQ)
    hits = sources(GUIDE, FAQ)
    parts = compose_answer(question_terms(ASKED, sentences_of(hits)), scored(ASKED, hits), hits)
    told = " ".join(part.text for part in parts)
    assert "48 hours" in told
    assert "24 hours" in told
    assert {part.source for part in parts} == {1, 2}


def test_the_same_value_or_another_subject_is_no_rival() -> None:
    assert rival(ASKED, GUIDE, "An appointment may be cancelled until 48 hours before.") is None
    assert rival(ASKED, GUIDE, "The surgery is open for 24 hours on holidays.") is None


def test_a_second_value_of_the_same_document_is_no_rival() -> None:
    assert rival(ASKED, f"{GUIDE} {FAQ}") is None


def test_a_question_without_a_value_has_no_rival() -> None:
    assert rival("Who may cancel an appointment?", GUIDE, FAQ) is None


def test_a_document_about_another_thing_of_the_same_kind_is_no_rival() -> None:
    hits = [
        hit("The lease runs for three years.", document_id="a", heading_path=("Lease of Quay 3",)),
        hit("The lease runs for five years.", document_id="b", heading_path=("Lease of Quay 9",)),
    ]
    asked = "How long does the lease of Quay 3 run?"
    terms = question_terms(asked, sentences_of(hits))
    found = scored(asked, hits)
    assert found[0].sentence.source == 1
    assert rival_sentence(terms, found, hits) is None
