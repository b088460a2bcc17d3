import pytest

from pincite.query.understand.entities import MAX_ENTITIES, entities_in, is_multi_hop


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Who directed the film that won the Oscar in 1994?", {"Oscar": "name", "1994": "date"}),
        ("When did Ada Byron meet Charles Babbage?", {"Ada Byron": "name", "Charles Babbage": "name"}),
        ("What does error E-1042 in pincite.toml mean?", {"E-1042": "code", "pincite.toml": "code"}),
        ("What is rag.top_k and --strategy?", {"rag.top_k": "code", "--strategy": "code"}),
        ('Where is "the long corridor" mentioned?', {"the long corridor": "quoted"}),
        ("Wo steht „der lange Gang“?", {"der lange Gang": "quoted"}),
        ("Was geschah am 24. Dezember 2023?", {"24. Dezember 2023": "date"}),
        ("What happened on 2024-03-01 and on March 3, 2024?", {"2024-03-01": "date", "March 3, 2024": "date"}),
        ("Is 12.5 % more than 300?", {"12.5 %": "number", "300": "number"}),
        ("Wie viele Tage Urlaub haben wir?", {}),
        ("Wer ist Frau Lindner von der Logistik?", {"Frau Lindner": "name"}),
        ("how many vacation days carry over", {}),
        ("The University of Oxford", {"University of Oxford": "name"}),
    ],
)  # fmt: skip
def test_what_a_question_names(text: str, entities: dict[str, str]) -> None:
    assert {entity.text: entity.kind for entity in entities_in(text)} == entities


def test_entities_are_unique_and_limited() -> None:
    assert [entity.text for entity in entities_in("Is Ada related to Ada?")] == ["Ada"]
    assert len(entities_in(" ".join(f"and {n} " for n in range(100)))) == MAX_ENTITIES


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("Who is the mother of the director of Sundial?", True),
        ("Were both Ada Byron and Karl Lindner engineers?", True),
        ("Who leads the department?", False),
        ("Where is the company based that Ines Falk works at?", True),
        ("Which company does the leader of the Hydra Project work for?", True),
        ("When was the bridge opened?", False),
        ("Is the door locked at night?", False),
        ("Welche Farbe hat der Hut, den die Frau des Bürgermeisters getragen hat?", True),
        ("Wie heißt der Bürgermeister?", False),
    ],
)
def test_a_question_of_several_steps(text: str, several: bool) -> None:
    assert is_multi_hop(text) is several
