"""The built-in reader: finds answers, refuses, and judges claims, in English, German and across."""

import asyncio

import pytest

from pincite.core.query.reading import ReadableText, Reading
from pincite.providers import reader as module
from pincite.providers.reader import MAX_WINDOWS, Options, PassageReader

PETS = ReadableText(
    "Dogs are not allowed in the building, except guide dogs. The heating is switched off on 30 April. "
    "Complaints go to Ms. Petra Wolff.",
    "House rules\n",
)
HAUS = ReadableText("Die Heizung wird am 30. April abgestellt. Beschwerden gehen an Frau Petra Wolff.", "Hausordnung\n")


def read(question: str, *passages: ReadableText) -> list[Reading]:
    async def run() -> list[Reading]:
        reader = PassageReader(Options(threads=1))
        try:
            return await reader.read(question, passages)
        finally:
            await reader.close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("question", "passage", "answer"),
    [
        ("When is the heating switched off?", PETS, "30 April"),
        ("Wann wird die Heizung abgestellt?", HAUS, "30. April"),
        ("Wann wird die Heizung abgestellt?", PETS, "30 April"),
        ("Who receives complaints?", HAUS, "Petra Wolff"),
    ],
)
def test_the_answer_is_found_in_both_languages_and_across(question: str, passage: ReadableText, answer: str) -> None:
    [found] = read(question, passage)
    start = passage.text.index(answer)
    assert found.best.share(start, start + len(answer)) > 0.5
    assert found.answerable > 0.5


def test_a_passage_without_the_answer_is_not_called_answerable() -> None:
    with_answer, without = read("When is the heating switched off?", PETS, ReadableText("Dogs are not allowed."))
    assert without.answerable < 0.2 < with_answer.answerable


def test_the_probability_lies_in_the_sentence_that_answers() -> None:
    [found] = read("When is the heating switched off?", PETS)
    start = PETS.text.index("The heating")
    inside = found.probability(start, PETS.text.index("Complaints"))
    assert inside > 0.8 * found.answerable
    assert found.probability(0, start) < 0.1


def test_a_claim_is_supported_and_its_opposite_contradicted() -> None:
    [true] = read("The heating is switched off on 30 April.", PETS)
    [false] = read("Dogs are allowed in the building.", PETS)
    assert true.supported > 0.8
    assert false.contradicted > false.supported


def test_a_long_passage_is_read_in_windows_that_cover_it() -> None:
    filler = "The committee met again and talked about the garden at length. " * 60
    passage = ReadableText(filler + "The heating is switched off on 30 April.")
    [found] = read("When is the heating switched off?", passage)
    assert 2 <= len(found.windows) <= MAX_WINDOWS
    covered = {place for window in found.windows for place in window.starts}
    assert passage.text.index("30 April") in covered
    assert found.answerable > 0.5


def test_a_pair_is_read_the_same_alone_and_among_others() -> None:
    assert read("Who receives complaints?", PETS) == read("Who receives complaints?", HAUS, PETS)[1:]


def test_empty_and_broken_texts_are_read() -> None:
    for found in read("?", ReadableText(""), ReadableText("\ud800 [SEP] [CLS]")):
        assert 0 <= found.answerable <= 1


def test_the_model_is_loaded_only_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_load", lambda: pytest.fail("the model was loaded"))
    PassageReader(Options())


def test_as_a_reranker_it_scores_the_passage_that_answers_higher() -> None:
    async def run() -> list[float]:
        reader = PassageReader(Options())
        scores = await reader.score("When is the heating switched off?", [PETS.text, "Dogs are not allowed."])
        await reader.close()
        return scores

    right, wrong = asyncio.run(run())
    assert right > wrong
