"""Examples made of hand-written records."""

import random

import pytest

from pincite.models.shipped import shipped_model
from training.read_records import CONTRADICTED, NOT_STATED, SUPPORTED, Maker, place, sections

TEXT = "The pool opens at 9 on weekdays. On Sunday it opens at 10. Dogs may not enter the garden."
RECORD = {
    "language": "en",
    "kind": "notice",
    "title": "Pool",
    "text": TEXT,
    "questions": [{"en": "When does the pool open on Sunday?", "de": "Wann öffnet das Bad am Sonntag?", "answer": "10"}],
    "unanswerable": [{"en": "What does the pool cost?", "de": "Was kostet das Bad?"}],
    "yesno": [
        {"en": "May dogs come in?", "de": "Dürfen Hunde hinein?", "answer": "no", "evidence": "Dogs may not enter the garden."}
    ],
    "claims": [
        {"how": "modality", "true_en": "Dogs stay outside.", "false_en": "Dogs may enter.", "true_de": "Hunde bleiben draußen.", "false_de": "Hunde dürfen hinein."}
    ],
    "not_stated": [{"en": "Cats may enter.", "de": "Katzen dürfen hinein."}],
    "held": False,
}  # fmt: skip
OTHER = RECORD | {"title": "Sauna", "text": "The sauna is warm. It has two rooms."}


@pytest.fixture
def made() -> list[dict]:
    random.seed(4)
    maker = Maker([RECORD, OTHER], str(shipped_model("pincite-embed").file("tokenizer.json")))
    for _ in range(12):
        maker.take(RECORD)
    return maker.made


def test_the_answer_is_where_its_sentence_shares_most_words_with_the_question() -> None:
    text = "Nolte wrote the plan in May. The keys of the archive are with Nolte."
    start, end = place(text, "Nolte", "Who has the keys of the archive?")
    assert (start, text[start:end]) == (62, "Nolte")
    assert place("Room 110 has 10 seats.", "10", "How many seats?") == (13, 15)


def test_spans_hold_the_answer_in_every_surrounding(made: list[dict]) -> None:
    spans = {one["p"][slice(*one["span"])] for one in made if one["span"]}
    assert spans == {"10", "Dogs may not enter the garden."}
    passages = {one["p"] for one in made}
    assert any(passage.startswith("Pool\n") for passage in passages)
    assert any("sauna" in passage or "two rooms" in passage for passage in passages)


def test_labels_are_those_of_the_record(made: list[dict]) -> None:
    def told(text: str) -> set[tuple[int, int, int]]:
        same = [one for one in made if one["q"].rstrip("?").lower() == text.rstrip("?").lower()]
        return {(one["answerable"], one["polarity"], one["claim"]) for one in same}

    assert told("May dogs come in?") == told("Dürfen Hunde hinein?") == {(1, 1, -1)}
    assert told("What does the pool cost?") == {(0, 2, -1)}
    assert told("Dogs stay outside.") == {(-1, -1, SUPPORTED)}
    assert told("Hunde dürfen hinein.") == {(-1, -1, CONTRADICTED)}
    assert told("Cats may enter.") == {(-1, -1, NOT_STATED)}
    assert told("When does the pool open on Sunday?") <= {(1, 2, -1), (0, 2, -1)}


def test_a_passage_without_its_answer_is_not_answerable(made: list[dict]) -> None:
    for one in made:
        if one["q"].lower().startswith("when does the pool") and not one["answerable"]:
            assert "On Sunday it opens at 10." not in one["p"]


def test_short_examples_have_one_language_each_and_the_deciding_sentence() -> None:
    random.seed(4)
    long = RECORD | {"text": TEXT + " The water is warm in summer and cold in winter." * 12}
    maker = Maker([long, OTHER], str(shipped_model("pincite-embed").file("tokenizer.json")), short=True)
    for _ in range(30):
        maker.take(long)
    yesno = [one for one in maker.made if one["task"] == "yesno"]
    assert len(yesno) == 30
    assert {one["q"].rstrip("?").lower() for one in yesno} == {"may dogs come in", "dürfen hunde hinein"}
    assert all(one["p"][slice(*one["span"])] == "Dogs may not enter the garden." for one in yesno)
    assert min(len(one["p"]) for one in yesno) < len(long["text"]) <= max(len(one["p"]) for one in yesno)


def test_a_question_is_asked_of_the_section_that_answers_and_of_one_that_does_not() -> None:
    text = "Notice for guests.\n## Opening\nThe pool opens at 9 on weekdays and closes at 20.\n## Dogs\nDogs stay outside; for them there is a shady place with water behind the fence."
    found = sections(text)
    assert [(head, text[a:b].strip()[:8]) for head, a, b in found] == [
        ("", "Notice f"),
        ("Opening", "The pool"),
        ("Dogs", "Dogs sta"),
    ]
    question = {"en": "When does the pool open?", "de": "Wann öffnet das Bad?", "answer": "9"}
    record = RECORD | {"text": text, "questions": [question], "yesno": [], "claims": []}
    random.seed(1)
    maker = Maker([record, OTHER], str(shipped_model("pincite-embed").file("tokenizer.json")))
    for _ in range(30):
        maker.take(record)
    asked = [one for one in maker.made if "open" in one["q"].lower() and one["task"] == "span"]
    assert {one["p"][slice(*one["span"])] for one in asked if one["answerable"]} == {"9"}
    assert any(one["p"].startswith("Pool\nOpening\nThe pool") for one in asked if one["answerable"])
    assert any("Dogs\nDogs stay" in one["p"] and "opens" not in one["p"] for one in asked if not one["answerable"])


def test_a_text_without_headings_has_no_sections() -> None:
    assert sections(TEXT) == []
