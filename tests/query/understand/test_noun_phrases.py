import pytest

from pincite.query.understand.noun_phrases import noun_phrases


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("When does the cable car open?", "en", ["the cable car"]),
        ("What is ground water contamination?", "en", ["ground water contamination"]),
        ("Is Red Hat Virtualization the same as OpenShift?", "en", ["Red Hat Virtualization", "OpenShift"]),
        ("How is the GLIMMER spectrograph cooled?", "en", ["the GLIMMER spectrograph"]),
        ("Who wrote the history of the station?", "en", ["wrote", "the history of the station"]),
        ("Wann fährt die erste Seilbahn im Winter?", "de", ["die erste Seilbahn", "Winter"]),
        ("Wie hoch ist der Notvorrat der Station?", "de", ["der Notvorrat der Station"]),
        ("Fällt der Abend bei Regen aus?", "de", ["der Abend", "Regen"]),
        ("Why?", "en", []),
        ("", "de", []),
    ],
)
def test_noun_phrases_of_a_question(text: str, language: str, found: list[str]) -> None:
    phrases = noun_phrases(text, language)
    assert [phrase.definite for phrase in phrases] == found
    assert all(text[phrase.start : phrase.end] == phrase.text for phrase in phrases)


def test_an_indefinite_phrase_becomes_definite() -> None:
    assert [phrase.definite for phrase in noun_phrases("Is there a pressure bag?", "en")] == ["the pressure bag"]
