from pincite.extractive.question import content_words, question_terms
from pincite.extractive.sentences import sentences_of
from tests.builders import hit

FOUND = sentences_of([hit("Der Rhein fließt. Der Rhein ist lang. Die Verteidigungsspieler des Rheins.", language="de")])


def test_rare_words_count_more_and_small_words_not_at_all() -> None:
    asked = question_terms("Wie lang ist der Rhein?", FOUND)
    weights = {word.text: word.weight for word in asked.terms}
    assert set(weights) == {"lang", "rhein"}
    assert weights["lang"] > weights["rhein"]


def test_a_part_of_a_compound_is_like_it() -> None:
    [word] = question_terms("Verteidigung?", FOUND).terms
    assert 0.4 < word.similarity(FOUND[2].terms) < 1
    assert word.similarity(FOUND[0].terms) == 0
    [same] = question_terms("Rhein?", FOUND).terms
    assert same.similarity(FOUND[0].terms) == 1.0


def test_figures_are_known_as_such() -> None:
    assert [word.text for word in question_terms("What does error E-14 mean?", FOUND).numbers] == ["14"]


def test_a_question_of_small_words_is_all_of_them() -> None:
    assert content_words("To be or not to be", "en") == ["to", "be", "or", "not"]
    assert question_terms("", []).terms == ()
