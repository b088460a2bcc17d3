import pytest

from pincite.query.understand.standalone.inflection import agrees, edit, genders
from pincite.query.understand.standalone.noun_phrases import Phrase, noun_phrases


def phrase(text: str) -> Phrase:
    return noun_phrases(text, "de")[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Wo steht der Kran?", ["masculine"]),
        ("Wer fährt mit der Bahn?", ["feminine"]),
        ("Was steht im Vertrag?", ["masculine", "neuter"]),
        ("Was steht über den Weg da?", ["masculine", "feminine"]),
        ("Wer hat die Bahn?", ["feminine"]),
    ],
)
def test_the_gender_of_a_phrase_follows_from_its_article(text: str, found: list[str]) -> None:
    assert genders(phrase(text), "de") == found


def test_a_bare_plural_agrees_with_no_singular_pronoun() -> None:
    assert not agrees(phrase("Wer bucht Hotelbetten?"), "er", "de")
    assert agrees(phrase("Wer bucht Hotelbetten?"), "sie", "de")
    assert agrees(phrase("Wer leitet Helios?"), "sein", "de")


@pytest.mark.parametrize(
    ("before", "asked", "word", "whole"),
    [
        ("Wer leitet Helios?", "Wer prüft seine Verträge?", "seine", "Wer prüft die Verträge von Helios?"),
        ("Wer leitet Nordwind?", "Was macht sein Xyz?", "sein", "Was macht Nordwinds Xyz?"),
        ("Was tut die Stiftung?", "Wer ist ihr Leiter?", "ihr", "Wer ist der Leiter der Stiftung?"),
        ("Was tut die Stiftung?", "Wo ist ihr Xyz?", "ihr", None),  # the gender of the noun is not known
        ("Wo steht der Kran?", "Wer bedient ihn?", "ihn", "Wer bedient den Kran?"),
        ("Wer berät den Kunden?", "Wo wohnt er?", "er", None),
        ("Wo ist mein Ausweis?", "Wer prüft ihn?", "ihn", "Wer prüft meinen Ausweis?"),
        ("Wo ist mein neuer Ausweis?", "Wer prüft ihn?", "ihn", None),
        ("Was kostet ein neues Büro?", "Wer mietet es?", "es", "Wer mietet das neue Büro?"),
        ("Wo steht das Teleskop?", "Wer arbeitet damit?", "damit", "Wer arbeitet mit dem Teleskop?"),
        ("Wo steht das Teleskop?", "Wer entscheidet darüber?", "darüber", None),  # two cases are possible
    ],
)
def test_a_pronoun_is_replaced_in_its_case(before: str, asked: str, word: str, whole: str | None) -> None:
    start = asked.index(word)
    found = edit(asked, word, start, start + len(word), [phrase(before)], "de")
    assert (found and f"{asked[: found[0]]}{found[2]}{asked[found[1] :]}") == whole
