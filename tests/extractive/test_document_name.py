"""Values that only the title of a document or the name of its file gives."""

from pincite.core.query.hits import Hit
from pincite.core.query.reading import Reading, Window
from pincite.extractive.document_name import named_answer, names_to_read
from pincite.extractive.question import question_terms
from pincite.extractive.sentences import sentences_of
from tests.builders import hit

TEXT = "The roof of the boathouse is repaired in autumn. The gate stays open."


def reading(text: str, value: str, answerable: float) -> Reading:
    """What a reader says that finds the value in the text; its pieces are characters."""
    start, size = text.index(value), len(text)
    at = [float(n == start) for n in range(size)], [float(n == start + len(value) - 1) for n in range(size)]
    pieces = tuple(range(size)), tuple(range(1, size + 1))
    return Reading((Window(answerable, *pieces, tuple(at[0]), tuple(at[1]), 0.0, 0.0, 0.0, 0.0),))


def told(question: str, value: str, answerable: float = 0.9, *, title: str = "", name: str = "plan.txt") -> str | None:
    sources: list[Hit] = [hit(TEXT, title=title or name, document_name=name)]
    asked = question_terms(question, sentences_of(sources))
    names = names_to_read(asked, sources)
    part = named_answer(asked, names, [reading(one.text, value, answerable) for one in names], sources)
    if part is not None:
        assert TEXT[part.start : part.end] == "The roof of the boathouse is repaired in autumn."
    return part.text if part else None


def test_the_value_is_told_with_the_name_that_has_it() -> None:
    name = "board_meeting_2024-04-18.txt"
    assert told("When was the board meeting?", "2024-04-18", name=name) == (
        "2024-04-18. The name of the file says so: “board_meeting_2024-04-18.txt”."
    )


def test_a_reader_in_doubt_finds_nothing() -> None:
    assert told("When was the board meeting?", "2024-04-18", 0.5, name="board_meeting_2024-04-18.txt") is None


def test_a_value_of_another_kind_does_not_answer() -> None:
    assert told("When was the board meeting?", "board", name="board_meeting_2024-04-18.txt") is None


def test_only_names_with_a_word_of_the_question_are_read_and_none_for_what_is_to_come() -> None:
    sources = [hit(TEXT, title="Board meeting 2024-04-18", document_name="minutes.txt")]
    found = sentences_of(sources)
    [only] = names_to_read(question_terms("When was the board meeting?", found), sources)
    assert (only.source, only.name, only.is_file) == (1, "Board meeting 2024-04-18", False)
    assert not names_to_read(question_terms("When is the next board meeting?", found), sources)
    assert not names_to_read(question_terms("Is the board meeting in April?", found), sources)


def test_the_date_of_minutes_is_not_that_of_a_party_they_mention() -> None:
    sources = [hit(TEXT, title="Harlow board meeting 2024-03-12", document_name="minutes.txt")]
    found = sentences_of(sources)
    assert not names_to_read(question_terms("date of the harlow summer party", found), sources)
    assert names_to_read(question_terms("date of the harlow board meeting", found), sources)
