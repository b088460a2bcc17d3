"""Questions made without a model."""

from dataclasses import replace

import pytest

from pincite.core.evaluations import SampledPassage, SetQuestion
from pincite.evaluate.questions.rule_questions import GAP, make_questions, sample_of

ENGLISH = (
    "The refractometer is a device that measures how far light is bent by a liquid. "
    "It is a thing nobody should touch. Grandmother Ilse Brandt repaired the copper boiler in 1931 with a borrowed wrench."
)
GERMAN = (
    "Das Sudhaus ist ein Gebäude, in dem die Würze gekocht und abgekühlt wird. "
    "Darin ist eine Lampe, die im Winter den ganzen Tag über brennt."
)


def passage(text: str = ENGLISH, number: int = 0, **more: object) -> SampledPassage:
    """A passage of a document of its own."""
    start = 100
    whole = SampledPassage(
        f"doc{number}",
        "v1",
        "Brewery Handbook",
        3,
        text,
        start,
        start + len(text),
        ("Brewery Handbook", "Copper work"),
        "en",
        "prose",
    )
    return replace(whole, **more)  # type: ignore[arg-type]


def made(*passages: SampledPassage, count: int = 50, seed: int = 0) -> dict[str, list[SetQuestion]]:
    found: dict[str, list[SetQuestion]] = {}
    for question in make_questions(sample_of(passages), count, seed):
        found.setdefault(question.kind, []).append(question)
    return found


def words_of(question: SetQuestion, source: SampledPassage) -> str:
    """What stands at the place a question points at."""
    return source.text[question.place.start - source.start : question.place.end - source.start]


def test_a_definition_is_asked_for_and_points_at_its_sentence() -> None:
    [question] = made(passage())["definition"]
    assert question.text == "What is the refractometer?"
    assert words_of(question, passage()).startswith("The refractometer is a device")
    assert words_of(question, passage()).endswith("by a liquid.")
    assert (question.place.document_id, question.version, question.chunk) == ("doc0", "v1", 3)


def test_a_german_definition_is_asked_for_in_german_and_a_pointer_defines_nothing() -> None:
    source = passage(GERMAN, language="de", heading_path=())
    [question] = made(source)["definition"]
    assert question.text == "Was ist das Sudhaus?"
    assert question.language == "de"


@pytest.mark.parametrize(
    ("path", "language", "text"),
    [
        (("Handbook", "Copper work"), "en", "What is said about Copper work?"),
        (("Handbook", "4. Boilers"), "en", "What is said about Boilers in Handbook?"),
        (("Handbook", "How is wort cooled down?"), "en", "How is wort cooled down?"),
        (("Handbuch", "Kessel und Pfannen"), "de", "Was steht zu Kessel und Pfannen?"),
        (("Handbuch", "2.1 Kessel"), "de", "Was steht zu Kessel unter Handbuch?"),
    ],
)
def test_a_heading_becomes_a_question(path: tuple[str, ...], language: str, text: str) -> None:
    [question] = made(passage(heading_path=path, language=language))["heading"]
    assert question.text == text


def test_a_headings_question_is_answered_by_the_whole_section() -> None:
    parts = [passage(start=0, end=300), passage(start=280, end=700, ordinal=4)]
    [question] = made(*parts)["heading"]
    assert (question.place.start, question.place.end) == (0, 700)


def test_a_heading_that_two_documents_share_says_nothing() -> None:
    assert "heading" not in made(passage(number=1), passage(GERMAN, number=2))
    assert "heading" not in made(passage(heading_path=("Document",)))


def test_rare_words_stand_in_their_order() -> None:
    [question] = made(passage(heading_path=()))["phrase"]
    words = question.text.split()
    assert len(words) == 4
    sentence = words_of(question, passage())
    assert [sentence.index(word) for word in words] == sorted(sentence.index(word) for word in words)


def test_a_sentence_is_asked_without_the_word_one_would_ask_for() -> None:
    [question] = made(passage(heading_path=()))["cloze"]
    assert GAP in question.text
    before, _, after = question.text.partition(GAP)
    sentence = words_of(question, passage())
    assert sentence.startswith(before)
    assert sentence.endswith(after)
    assert len(sentence) > len(question.text)


def test_a_number_is_taken_out_whole() -> None:
    source = passage(
        "Two offers came in and the cheaper boiler from the south would cost 2.450 francs.", heading_path=()
    )
    texts = {made(source, seed=seed)["cloze"][0].text for seed in range(3)}
    assert not any(f"2.{GAP}" in text or f"{GAP}.450" in text for text in texts)


def test_tables_and_code_are_not_asked_about() -> None:
    assert set(made(passage(content_type="code"))) == {"heading"}
    assert set(made(passage(content_type="table"))) == {"heading"}


def test_the_same_seed_makes_the_same_questions_and_another_does_not() -> None:
    library = [
        passage(f"{ENGLISH} Vessel number {n} holds {n * 37} litres of fresh cold spring water.", n) for n in range(40)
    ]
    first = make_questions(sample_of(library), 30, 7)
    assert first == make_questions(sample_of(library), 30, 7)
    assert first != make_questions(sample_of(library), 30, 8)
    assert len(first) == 30
    assert len({question.text for question in first}) == 30


def test_a_language_without_grammar_here_still_has_rare_words_and_gaps() -> None:
    text = "Il birraio Anselmo Ferraris versa venti litri di mosto caldo nel tino di rame ogni mattina presto."
    assert set(made(passage(text, language="it"))) == {"phrase", "cloze"}


def test_nothing_to_ask_about_makes_no_questions() -> None:
    assert make_questions(sample_of([]), 10, 0) == []
    assert made(passage("Too short.", heading_path=())) == {}
