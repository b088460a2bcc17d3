"""Yes and no of the same."""

import pytest

from pincite.text.negation import opposed


@pytest.mark.parametrize(
    ("claim", "told", "language"),
    [
        ("Laser pointers are not allowed.", "Green laser pointers were allowed for outreach.", "en"),
        ("Laser pointers are allowed.", "No laser pointers of any colour.", "en"),
        ("The dome is never heated.", "The dome is heated.", "en"),
        ("The dome isn't heated.", "The dome is heated.", "en"),
        ("It takes at most four days.", "It takes at least four days.", "en"),
        ("The gate closes at noon.", "The gate opens at noon.", "en"),
        ("The data are unusable.", "The data are usable.", "en"),
        ("Prices rose last year.", "Prices fell last year.", "en"),
        ("All guests pay the fee.", "Some guests pay the fee.", "en"),
        ("Die Fräse läuft zwischen acht und drei.", "Die Fräse läuft nicht zwischen acht und drei.", "de"),
        ("Ab Stufe 4 verlässt jeder das Gebäude.", "Ab Stufe 4 verlässt niemand das Gebäude.", "de"),
        ("Mindestens 18 Personen werden zugelassen.", "Höchstens 18 Personen werden zugelassen.", "de"),
        ("Hunde sind in der Kuppel erlaubt.", "Hunde sind in der Kuppel verboten.", "de"),
        ("The law it has not enacted, they don't like.", "The law it has enacted, they don't like.", "en"),
    ],
)
def test_the_opposite_is_noticed_both_ways(claim: str, told: str, language: str) -> None:
    assert opposed(claim, told, language)
    assert opposed(told, claim, language)


@pytest.mark.parametrize(
    ("claim", "told", "language"),
    [
        ("Laser pointers are forbidden.", "Laser pointers are not allowed.", "en"),
        ("Proposals may not be longer than three pages.", "A proposal has at most three pages.", "en"),
        ("No one was injured.", "Nobody was hurt.", "en"),
        ("The mirror could not be used.", "The mirror was out of use.", "en"),
        ("Observers kept 30 degrees.", "Observers kept 30 degrees. The lamps could not stay on.", "en"),
        ("It is not only warm but also dry.", "It is warm and dry.", "en"),
        ("Die Fräse ist von acht bis drei nicht in Betrieb.", "Die Fräse läuft nicht zwischen acht und drei.", "de"),
        ("Nur Nowgorod wurde nicht zerstört.", "Alle Städte mit Ausnahme von Nowgorod wurden zerstört.", "de"),
        ("Der Begriff steht für ein System.", "Er entsteht aus einem System.", "de"),
    ],
)
def test_the_same_in_other_words_is_not_the_opposite(claim: str, told: str, language: str) -> None:
    assert opposed(claim, told, language) is None
