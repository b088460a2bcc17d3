import time

import pytest

from pincite.query.preamble import without_preamble


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Sure! Based on the provided context, five days carry over.", "Five days carry over."),
        ("Certainly. Here is the answer to your question: Five days.", "Five days."),
        ("Of course, according to the documents provided: yes.", "Yes."),
        ("I'd be happy to help you with that! Five days.", "Five days."),
        ("According to the given sources and documents, no.", "According to the given sources and documents, no."),
        ("Great question! From the available documentation: it is blue.", "It is blue."),
        ("Gerne! Basierend auf dem bereitgestellten Kontext: fünf Tage.", "Fünf Tage."),
        ("Natürlich! Hier ist die Antwort auf deine Frage: Fünf Tage.", "Fünf Tage."),
        ("Laut den vorliegenden Dokumenten, die Frist beträgt zehn Tage.", "Die Frist beträgt zehn Tage."),
        ("Auf Grundlage der bereitgestellten Informationen: Ja.", "Ja."),
        ("Selbstverständlich.", ""),
        ("Sure, I'll help:\nFive days.", "Five days."),
        ("I can help you with that. Five days.", "Five days."),
    ],
)
def test_what_only_introduces_is_gone(text: str, left: str) -> None:
    assert without_preamble(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "According to the travel policy, trains come first.",
        "Based on the 2024 contract, the notice period is ten days.",
        "Sure-footed animals live there.",
        "Natürlich gewachsene Hölzer sind teurer.",
        "Basierend auf dem bereitgestellten Kontext verfallen die Tage im März.",
        "Laut den vorliegenden Dokumenten, beträgt die Frist zehn Tage.",
        "Here are the three conditions: a, b and c.",
        "According to [Source 1], five days carry over.",
        "Klare Regeln helfen.",
        "I'll help those who ask, says the handbook.",
        "From the kitchen: soup.",
    ],
)
def test_what_says_something_stays(text: str) -> None:
    assert without_preamble(text) == text


@pytest.mark.parametrize("text", ["based on the " + "provided " * 9000, "here is the " + "a " * 9000, "sure! " * 9000])
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.monotonic()
    without_preamble(text)
    assert time.monotonic() - started < 1
