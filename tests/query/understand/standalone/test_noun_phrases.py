import pytest

from pincite.query.understand.standalone.noun_phrases import noun_phrases


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("When does the cable car open?", "en", ["the cable car"]),
        ("What is ground water contamination?", "en", ["ground water contamination"]),
        ("Is Red Hat Virtualization the same as OpenShift?", "en", ["Red Hat Virtualization", "OpenShift"]),
        ("How is the GLIMMER spectrograph cooled?", "en", ["the GLIMMER spectrograph"]),
        ("Who wrote the history of the station?", "en", ["the history of the station"]),
        ("Wann fährt die erste Seilbahn im Winter?", "de", ["die erste Seilbahn", "Winter"]),
        ("Wie hoch ist der Notvorrat der Station?", "de", ["der Notvorrat der Station"]),
        ("Fällt der Abend bei Regen aus?", "de", ["der Abend", "Regen"]),
        ("Who leads Helios?", "en", ["Helios"]),
        ("Which suppliers deliver steel?", "en", ["suppliers", "steel"]),
        ("Does the policy cover theft?", "en", ["the policy", "theft"]),
        ("How many vacation days carry over?", "en", ["vacation days"]),
        ("When does parental leave end?", "en", ["parental leave"]),
        ("What does the warranty for the X200 pump cover?", "en", ["the warranty for the X200 pump"]),
        ("Who signs Helios's contracts?", "en", ["Helios", "contracts"]),
        ("Was hat der Rat am 3. Juni beschlossen?", "de", ["der Rat", "3. Juni"]),
        ("Wie viele Kunden hatte Orca 2018?", "de", ["Kunden", "Orca", "2018"]),
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
