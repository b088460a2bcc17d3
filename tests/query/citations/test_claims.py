"""Claims of an answer and their citation marks."""

import re

import pytest

from pincite.query.citations.claims import claims_of


def split(text: str) -> list[tuple[str, tuple[int, ...]]]:
    marks = [match.span() for match in re.finditer(r"\[Source \d\]", text)]
    return [(claim.text, claim.marks) for claim in claims_of(text, marks)[1]]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "It opens at 9 [Source 1]. It closes at 5. [Source 2][Source 3]",
            [("It opens at 9", (0,)), ("It closes at 5.", (1, 2))],
        ),
        ("According to [Source 1], it opens at 9.", [("According to , it opens at 9.", (0,))]),
        ("[Source 1] says that it opens at 9.", [("says that it opens at 9.", (0,))]),
        (
            "It opens at 9 [Source 1], and dogs stay outside [Source 2].",
            [("It opens at 9", (0,)), ("and dogs stay outside", (1,))],
        ),
        (
            "It opens at 9 [Source 1], which pleases local people.",
            [("It opens at 9", (0,)), ("which pleases local people.", ())],
        ),
        (
            "The points are:\n\n- Dogs stay outside [Source 1]\n- [Source 2] It opens at 9",
            [("Dogs stay outside", (0,)), ("It opens at 9", (1,))],
        ),
        ("I don't know that from the documents. Shall I go on?", []),
        ("Dazu finde ich keine Angaben in den Dokumenten.", []),
        ("Yes. [Source 1]", [("Yes.", (0,))]),
        ("Yes. It opens at 9.", [("It opens at 9.", ())]),
        ("", []),
    ],
)
def test_an_answer_is_split_at_its_marks(text: str, claims: list[tuple[str, tuple[int, ...]]]) -> None:
    assert split(text) == claims


def test_the_offsets_of_a_claim_match_its_text() -> None:
    text = "It opens at 9 [Source 1]. Dogs stay outside."
    _, claims = claims_of(text, [(14, 24)])
    assert [text[claim.start : claim.end] for claim in claims] == ["It opens at 9", "Dogs stay outside."]
