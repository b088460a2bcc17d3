import pytest

from pincite.core.documents.document import NO_HEADINGS
from pincite.query.ground.question_templates import about, defined


@pytest.mark.parametrize(
    ("path", "language", "question"),
    [
        (("Handbook", "Quiet hours"), "en", "What is said about Quiet hours?"),
        (("Handbook", "2. Data"), "en", "What is said about Data in Handbook?"),
        (("Fragen", "Darf ich fotografieren?"), "de", "Was steht zu Darf ich fotografieren?"),
        (("Fragen", "Was kostet der Abend?"), "de", "Was kostet der Abend?"),
        ((NO_HEADINGS,), "en", None),
        (("Title",), "it", None),
        (("x " * 80,), "en", None),
    ],
)
def test_a_heading_becomes_a_question(path: tuple[str, ...], language: str, question: str | None) -> None:
    assert about(path, "Title", language) == question


@pytest.mark.parametrize(
    ("sentence", "language", "question"),
    [
        ("GLIMMER is the fibre-fed spectrograph.", "en", "What is GLIMMER?"),
        ("The green mark is the limit.", "en", "What is the green mark?"),
        ("Ein Bulletin ist ein Bericht.", "de", "Was ist ein Bulletin?"),
        ("This is a test.", "en", None),
        ("It rains.", "en", None),
    ],
)
def test_a_definition_becomes_a_question(sentence: str, language: str, question: str | None) -> None:
    found = defined(sentence, language)
    assert (found[0] if found else None) == question
