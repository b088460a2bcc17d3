from pincite.extractive.question import FOLLOW_UP_WEIGHT, content_words, question_terms, with_follow_up
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


def test_the_words_of_a_follow_up_weigh_more_where_sentences_have_them() -> None:
    found = sentences_of([hit("Kassel follows later. Bremen starts in May.")])
    plain = question_terms("When does the system start in Kassel?", found)
    told = with_follow_up(plain, "and why Kassel?", found)
    weights = {term.text: term.weight / before.weight for term, before in zip(told.terms, plain.terms, strict=True)}
    assert weights == {"system": 1.0, "start": 1.0, "kassel": FOLLOW_UP_WEIGHT}
    assert with_follow_up(plain, "", found) == plain


def test_the_plural_of_an_acronym_is_found() -> None:
    found = sentences_of([hit("The CD register is kept for two years.")])
    [order, cds] = question_terms("order CDs", found).terms
    assert (order.is_in(found[0].terms), cds.is_in(found[0].terms)) == (False, True)
