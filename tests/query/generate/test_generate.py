import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.run import Event, Run, Token
from pincite.core.traces import span
from pincite.errors import ProviderError
from pincite.providers.scripted import Options, ScriptedLLM
from pincite.query.generate.generate import INCOMPLETE, extractive_generation, llm_draft, llm_generation
from tests.builders import hit, prompt


def test_pieces_are_streamed_and_joined(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    run = make_run(llm=ScriptedLLM(Options(answers=("Cats purr. [Source 1]",))), events=events)
    made = asyncio.run(llm_generation(run, prompt("q", hit("x"))))
    assert made.text == "Cats purr. [Source 1]"
    assert "".join(event.text for event in events if isinstance(event, Token)) == made.text
    assert (made.finish_reason, made.model) == ("stop", "scripted")
    assert made.usage


def test_the_text_is_streamed_word_by_word_and_the_first_word_at_the_second_token(
    make_run: Callable[..., Run],
) -> None:
    events: list[Event] = []
    seen: list[int] = []
    said = "The office keeps its spare parts in the small store behind the workshop, since the cellar was damp"

    class Model:
        name, window = "m", 8192

        async def write(self, _: Prompt) -> AsyncIterator[StreamPart]:
            for word in said.split():
                yield StreamPart(f"{' ' if seen else ''}{word}")
                seen.append(sum(isinstance(event, Token) for event in events))
            yield StreamPart(finish_reason="stop")

    made = asyncio.run(llm_generation(make_run(llm=Model(), events=events), prompt("q", hit("x"))))
    assert seen == [*range(18)]  # after each token, all words but the one that may go on
    assert made.text == said


def test_a_model_that_fails_at_once_is_unavailable(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=ScriptedLLM(Options(fail="down")))
    with pytest.raises(ProviderError, match="down"):
        asyncio.run(llm_generation(run, prompt("q", hit("x"))))


def test_a_model_that_stops_in_the_middle_is_never_taken_for_whole(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=ScriptedLLM(Options(answers=("one two three",), fail_after=2)))
    made = asyncio.run(llm_generation(run, prompt("q", hit("x"))))
    assert (made.text, made.finish_reason) == ("one two", INCOMPLETE)
    assert run.degraded[0].stage == "llm_generation"


def test_the_model_is_closed_when_emitting_fails(make_run: Callable[..., Run]) -> None:
    closed: list[bool] = []

    class Model:
        name, window = "m", 8192

        async def write(self, _: Prompt) -> AsyncIterator[StreamPart]:
            try:
                while True:
                    yield StreamPart("A sentence.\n")
            finally:
                closed.append(True)

    def fail(_: Event) -> None:
        raise RuntimeError("gone")

    async def go() -> None:
        run = make_run(llm=Model())
        run.emit = fail
        with pytest.raises(RuntimeError):
            await llm_generation(run, prompt("q", hit("x")))
        assert closed == [True]

    asyncio.run(go())


def test_what_a_model_thinks_is_kept_apart_for_the_trace(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    run = make_run(llm=ScriptedLLM(Options(answers=("<think>1 < 2, so yes.</think>\nYes. [Source 1]",))), events=events)
    with span("llm_generation", run.recording):
        made = asyncio.run(llm_generation(run, prompt("q", hit("x"))))
    assert (made.text, run.thoughts) == ("Yes. [Source 1]", ["1 < 2, so yes."])
    assert run.spans[0].attributes["thought_characters"] == 14
    assert "so yes" not in "".join(event.text for event in events if isinstance(event, Token))


def test_one_of_several_drafts_is_not_streamed_and_must_be_complete(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    run = make_run(llm=ScriptedLLM(Options(answers=("one two three",))), events=events)
    assert asyncio.run(llm_draft(run, prompt("q", hit("x")))).text == "one two three"
    assert events == []
    broken = make_run(llm=ScriptedLLM(Options(answers=("one two three",), fail_after=2, fail="gone")))
    with pytest.raises(ProviderError, match="gone"):
        asyncio.run(llm_draft(broken, prompt("q", hit("x"))))
    assert broken.degraded == []


def test_code_answers_where_no_model_does(make_run: Callable[..., Run]) -> None:
    made = asyncio.run(
        extractive_generation(make_run(), prompt("Why do cats purr?", hit("Cats purr when they are content.")))
    )
    assert made.text == "Cats purr when they are content. [Source 1]"
    assert made.quotes[0].source == 1


def test_what_a_model_says_around_its_answer_is_neither_streamed_nor_kept(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    said = (
        "<think>hm</think>Sure! Based on the provided context, cats purr [1]. ![x](http://e)\n\n"
        "SUGGESTED_QUESTIONS: Why?|When?"
    )
    run = make_run(llm=ScriptedLLM(Options(answers=(said,))), events=events)
    made = asyncio.run(llm_generation(run, prompt("q", hit("x"))))
    assert made.text == "Cats purr [Source 1]."
    assert "".join(event.text for event in events if isinstance(event, Token)) == made.text
    assert made.suggested_questions == ("Why?", "When?")


@pytest.mark.parametrize("said", ["<think>I never come to an end", " \n ", "![x](http://e)"])
def test_a_model_that_says_nothing_to_be_shown_is_unavailable(make_run: Callable[..., Run], said: str) -> None:
    run = make_run(llm=ScriptedLLM(Options(answers=(said,))))
    with pytest.raises(ProviderError, match="nothing that can be shown"):
        asyncio.run(llm_generation(run, prompt("q", hit("x"))))


def test_what_was_held_back_when_a_model_broke_off_is_told(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    run = make_run(llm=ScriptedLLM(Options(answers=("Cats purr when they",), fail_after=3)), events=events)
    made = asyncio.run(llm_generation(run, prompt("q", hit("x"))))
    assert (made.text, made.finish_reason) == ("Cats purr when", INCOMPLETE)
    assert "".join(event.text for event in events if isinstance(event, Token)) == made.text


def test_a_quoted_sentence_stands_as_it_is_and_its_mark_is_found(make_run: Callable[..., Run]) -> None:
    text = "Sure! Cats purr <img src=http://e> when they are content."
    made = asyncio.run(extractive_generation(make_run(), prompt("Why do cats purr when content?", hit(text))))
    assert "Cats purr < img src=http://e> when they are content. [Source 1]" in made.text
    assert next(made.text[quote.mark_start : quote.mark_end] for quote in made.quotes) == "[Source 1]"


def test_what_a_model_is_shown_is_noted_and_code_is_shown_nothing(make_run: Callable[..., Run]) -> None:
    shown = prompt("q", hit("x"))
    run = make_run(llm=ScriptedLLM(Options(answers=("Yes. [Source 1]",))))
    asyncio.run(llm_generation(run, shown))
    assert run.prompt is shown
    run = make_run()
    run.kit = replace(run.kit, llm=run.kit.extractive)
    asyncio.run(llm_generation(run, shown))
    assert run.prompt is None
