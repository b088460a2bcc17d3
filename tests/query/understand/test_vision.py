import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.pictures import Picture
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Question
from pincite.core.query.tools import Abilities
from pincite.core.run import Run
from pincite.errors import Invalid, Unreadable
from pincite.query.pipeline import answer
from pincite.query.understand.vision import PictureContext, with_pictures
from tests.builders import Calling
from tests.picture_maker import draw, saved

TEXTS = {1: "Error E42 means that the door is open.", 2: "The canteen opens at noon."}
RANKS = {1: 0.9, 2: 0.1}
ASKED = "What does the error mean?"
SEEN = "It says E42: the door is open [Source 1]."


class Eyes:
    def __init__(self, text: str = "ERROR E42 door") -> None:
        self.text = text

    async def text_in(self, picture: Picture) -> str:
        if not self.text:
            raise Unreadable("it is an image; install the extra 'ocr' to read it")
        return self.text


class Seeing(Calling):
    abilities = Abilities(vision=True)


def ask(
    make_run: Callable[..., Run], llm: Any, eyes: Any = None, texts: Any = TEXTS, **settings: Any
) -> tuple[Answer, Run]:
    run = make_run(texts, RANKS if texts else {}, RANKS if texts else {}, llm=llm, **settings)
    if llm is None:
        run.kit = replace(run.kit, llm=run.kit.extractive)
    run.kit = replace(run.kit, picture_reader=eyes)
    question = Question(ASKED, mode="vision", pictures=(Picture("image/png", saved(draw(["E42"])), 2, 2),))
    return asyncio.run(answer(run, question)), run


def test_a_model_that_sees_is_shown_the_picture_beside_the_sources(make_run: Callable[..., Run]) -> None:
    llm = Seeing(SEEN)
    result, _ = ask(make_run, llm)
    [prompt] = llm.prompts
    assert prompt.messages[-1].pictures[0].mime == "image/png"
    assert "may be told without a source" in prompt.messages[-1].content
    assert "E42 means" in prompt.messages[0].content
    assert (result.mode, result.degraded, result.citations[0].source) == ("vision", (), 1)


def test_where_no_document_fits_it_answers_from_the_picture_and_says_so(make_run: Callable[..., Run]) -> None:
    llm = Seeing("A door that stands open.")
    result, _ = ask(make_run, llm, texts={})
    assert result.text == "A door that stands open."
    assert llm.prompts[0].messages[-1].pictures
    assert "this answer is not from your documents" in result.warnings


@pytest.mark.parametrize("setting", [True, False])
def test_the_setting_overrides_the_detected_vision(make_run: Callable[..., Run], setting: bool) -> None:
    llm = Seeing(SEEN)
    ask(make_run, llm, Eyes(), llm__vision=setting)
    assert bool(llm.prompts[0].messages[-1].pictures) is setting


def test_without_vision_the_ocr_text_is_in_the_prompt_and_reported(
    make_run: Callable[..., Run],
) -> None:
    llm = Calling(SEEN)
    result, _ = ask(make_run, llm, Eyes())
    said = llm.prompts[0].messages[-1].content
    assert "Picture 1:\n=== " in said
    assert "ERROR E42 door" in said
    assert llm.prompts[0].messages[-1].pictures == ()
    [note] = [note for note in result.degraded if note.stage == "picture_reading"]
    assert "calling does not see pictures (llm.vision); the text in the pictures was read instead" in note.reason


def test_without_a_model_the_text_in_it_is_searched_for_and_sentences_are_chosen(make_run: Callable[..., Run]) -> None:
    result, _ = ask(make_run, None, Eyes())
    assert "E42 means that the door is open" in result.text
    assert "no model is configured" in result.degraded[0].reason


@pytest.mark.parametrize("eyes", [None, Eyes("")])
def test_unreadable_pictures_are_reported(make_run: Callable[..., Run], eyes: Any) -> None:
    result, _ = ask(make_run, Calling(SEEN), eyes)
    assert {note.stage for note in result.degraded} == {"picture_reading"}
    assert any("does not use them" in note.reason for note in result.degraded)


@pytest.mark.parametrize(
    ("mode", "pictures"),
    [("vision", ()), ("chat", (Picture("image/png", b""),)), ("agent", (Picture("image/png", b""),))],
)
def test_pictures_and_their_mode_belong_together(make_run: Callable[..., Run], mode: Any, pictures: Any) -> None:
    with pytest.raises(Invalid, match="pictures"):
        asyncio.run(answer(make_run(), Question("q", mode=mode, pictures=pictures)))


def test_what_is_read_in_pictures_goes_with_every_order_of_the_passages() -> None:
    orders = tuple((Message("system", name), Message("user", "q")) for name in ("one", "two", "three"))
    prompt = Prompt("q", orders[0], (), 10, reordered=orders[1:])
    full = with_pictures(prompt, PictureContext(words=("ERROR E42",)), "cl100k_base")
    assert [messages[0].content for messages in (full.messages, *full.reordered)] == ["one", "two", "three"]
    assert all("ERROR E42" in messages[-1].content for messages in (full.messages, *full.reordered))
