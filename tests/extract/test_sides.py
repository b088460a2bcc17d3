import pytest

from pincite.extract.asking import ask
from pincite.extract.sides import sides_of


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between the limits of 2021 and 2024?", [["2021"], ["2024"]]),
        ("Compare Murmel and Dohle.", [["murmel"], ["dohle"]]),
        ("Wie unterscheiden sich Sommer und Winter?", [["sommer"], ["winter"]]),
        ("Compare the mirrors.", []),
        ("Compare and explain.", []),
    ],
)
def test_the_things_compared_are_found(question: str, sides: list[list[str]]) -> None:
    assert [[word.text for word in side] for side in sides_of(ask(question, []))] == sides
