import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Exchange, Question, Sampling
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.providers.scripted import Options, ScriptedLLM
from pincite.query.prompt.structured import REWRITTEN_SCHEMA
from pincite.query.understand import rewrite as stage
from pincite.query.understand.analysis import query_analysis
from pincite.query.understand.rewrite import find_doubt, query_rewriting, resolve_follow_ups, transcript_lines
from pincite.text.tokens import Tokenizer

BEFORE = (
    Exchange(
        "When does the cable car run in winter?", "When does the cable car run in winter?", "At 08:10. [Source 1]"
    ),
)
FOLLOW_UP = "And in summer?"
WHOLE = "When does the cable car run in summer?"


class Model:
    """Returns one text and records its prompts."""

    window = 8192

    def __init__(self, says: str = WHOLE, name: str = "gpt-4o", delay_s: float = 0.0) -> None:
        self.name, self._says, self._delay_s = name, says, delay_s
        self.prompts: list[Prompt] = []

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.prompts.append(prompt)
        await asyncio.sleep(self._delay_s)
        yield StreamPart(self._says)


def rewritten(run: Run, text: str = FOLLOW_UP, conversation: tuple[Exchange, ...] = BEFORE) -> Question:
    return asyncio.run(query_rewriting(run, Question(text, conversation=conversation)))


def test_a_model_makes_the_question_whole(make_run: Callable[..., Run]) -> None:
    model = Model(f'Rewritten question: "{WHOLE}"\nBecause it was asked.')
    result = rewritten(make_run(llm=model))
    assert (result.text, result.standalone, result.guessed) == (FOLLOW_UP, WHOLE, False)
    [prompt] = model.prompts
    assert "User: When does the cable car run in winter?\nAssistant: At 08:10." in prompt.messages[0].content
    assert f"Last question: {FOLLOW_UP}" in prompt.messages[0].content
    assert (prompt.sampling.temperature, prompt.sampling.max_tokens) == (0.0, 120)


def test_a_non_greedy_model_gets_a_temperature(make_run: Callable[..., Run]) -> None:
    model = Model(name="qwen3:8b")
    rewritten(make_run(llm=model))
    assert model.prompts[0].sampling.temperature == 0.7


def test_the_first_question_and_one_that_stands_alone_ask_no_model(make_run: Callable[..., Run]) -> None:
    model = Model()
    assert rewritten(make_run(llm=model), conversation=()).standalone is None
    assert rewritten(make_run(llm=model), "How many dogs ride the cable car?").standalone is None
    assert rewritten(make_run(llm=model, conversation__query_rewriting_enabled=False)).standalone is None
    assert model.prompts == []


@pytest.mark.parametrize("name", ["llama3.2:1b", "extractive"])
def test_small_models_and_none_at_all_get_the_guess_by_words(make_run: Callable[..., Run], name: str) -> None:
    model = Model(name=name)
    run = make_run(llm=model)
    if name == "extractive":
        run.kit = replace(run.kit, llm=run.kit.extractive)
    result = rewritten(run)
    assert (result.standalone, result.guessed) == (WHOLE, True)
    assert model.prompts == []


def test_a_question_with_no_word_to_search_for_is_not_searched_beside_its_guess(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit = replace(run.kit, llm=run.kit.extractive)
    result = rewritten(run, "Why?")
    assert (result.standalone, result.guessed) == ("When does the cable car run in winter? Why?", False)


def test_what_is_not_clear_is_searched_as_asked_beside_the_last_question(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit = replace(run.kit, llm=run.kit.extractive)
    result = rewritten(run, "Does that hold for guests?")
    both = "When does the cable car run in winter? Does that hold for guests?"
    assert (result.standalone, result.guessed, result.search_text) == (both, True, "Does that hold for guests?")
    plan = asyncio.run(query_analysis(run, result))
    assert plan.text == "Does that hold for guests?"  # this is to be answered, not the last question once more
    assert plan.searched == ("Does that hold for guests?", both)
    assert {(search.text, search.weight) for search in plan.searches} == {(plan.text, 1.0), (both, 0.3)}
    part = rewritten(run, "and kassel, sunday?")  # a fragment alone would find anything about Kassel
    assert (part.guessed, part.search_text) == (False, "When does the cable car run in winter? and kassel, sunday?")
    more = rewritten(run, "More details please")
    assert (more.guessed, more.search_text) == (False, "When does the cable car run in winter? More details please")


@pytest.mark.parametrize(
    ("says", "doubt"),
    [
        ("", "empty"),
        ("When does the cable car run in summer, " + "and so on " * 40 + "?", "too long"),
        ("The cable car runs in summer.", "not a question"),
        ("I'm sorry, what do you mean by summer?", "talks about the task"),
        ("Wann fährt die Seilbahn im Sommer?", "another language"),
        ("When does the cable car run?", "lost the question"),
        ("When does the cable car run in summer 2019?", "invented"),
        ("When does the cable car to Zermatt run in summer?", "invented"),
        ("And in summer (When does the cable car run in winter)?", "repeats a question in brackets"),
        ("When does it run in summer (the cable car)?", "repeats a question in brackets"),
        ("When does the cable car run in summer (at 08:10)?", None),
        (WHOLE, None),
    ],
)
def test_on_any_doubt_the_question_stays_as_asked(make_run: Callable[..., Run], says: str, doubt: str | None) -> None:
    assert find_doubt(says, FOLLOW_UP, BEFORE) == doubt
    assert rewritten(make_run(llm=Model(says))).standalone == (says if doubt is None else None)


@pytest.mark.parametrize(
    ("asked", "written", "doubt"),
    [
        ("Fasse dieses Dokument zusammen", "Fasse AMA.pdf zusammen", None),
        ("Was steht in diesem Dokument?", "Was steht in AMA.pdf?", None),
        ("Who wrote this?", "Who wrote AMA.pdf?", None),
        ("How does one fill it?", "How does one fill the crane Kranich?", None),
        ("Erzähle mehr darüber", "Tell me more about AMA.pdf", "another language"),
    ],
)
def test_the_language_may_change_with_the_question_and_a_name_is_of_any(
    asked: str, written: str, doubt: str | None
) -> None:
    first = "Welches Öl braucht der Kran Kranich?"
    assert find_doubt(written, asked, (Exchange(first, first, "HLP 46, siehe AMA.pdf."),)) == doubt


def test_german_compounds_of_what_was_said_are_not_invented() -> None:
    before = (Exchange("Wann fährt die Seilbahn?", "Wann fährt die Seilbahn?", "Im Winter um acht."),)
    assert find_doubt("Was kostet eine Seilbahnfahrt im Winter?", "Was kostet sie im Winter?", before) is None


def test_a_model_that_fails_or_takes_too_long_leaves_the_question_as_asked_and_it_is_said(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "REWRITE_TIMEOUT_S", 0.05)
    run = make_run(llm=Model(delay_s=30))
    with pytest.raises(ProviderError, match="longer than"):
        rewritten(run)
    question = Question(FOLLOW_UP, conversation=BEFORE)
    assert asyncio.run(run.attempt(question, query_rewriting, question)) == question
    assert [note.stage for note in run.degraded] == ["query_rewriting"]


@pytest.mark.parametrize("window", [200, 2_000, 8_000, 128_000])
@pytest.mark.parametrize("word", ["word ", "Überraschungsmoment ", "猫が鳴く", "🙂", "\n"])
@pytest.mark.parametrize("asked", [1, 400, 4000])
def test_the_prompt_fits_the_models_window(make_run: Callable[..., Run], window: int, word: str, asked: int) -> None:
    said = tuple(Exchange(f"q{n} {word * 1000}", "", f"a{n} {word * 1000}") for n in range(5))
    model = Model()
    model.window = window
    rewritten(make_run(llm=model), f"And {(word * asked)[:asked]}?", said)
    for prompt in model.prompts:
        [message] = prompt.messages
        assert Tokenizer().count(message.content) <= prompt.tokens <= window - (prompt.sampling.max_tokens or 0)
        assert "a4" in message.content  # the oldest lines went first
    assert bool(model.prompts) or window <= 8_000  # a question that leaves no room is completed by words
    assert bool(model.prompts) or window == 200 or asked > 1


def test_the_model_a_question_asks_for_decides_who_rewrites_it(make_run: Callable[..., Run]) -> None:
    model, question = Model(), Question(FOLLOW_UP, conversation=BEFORE, sampling=Sampling("llama3.2:1b"))
    assert asyncio.run(query_rewriting(make_run(llm=model), question)).guessed
    assert model.prompts == []


def test_the_usage_is_counted(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=ScriptedLLM(Options(answers=(WHOLE,))))
    question = Question(FOLLOW_UP, conversation=BEFORE)
    assert asyncio.run(run.step(query_rewriting, question)).standalone == WHOLE
    told = run.spans[0].attributes
    assert told["gen_ai.usage.input_tokens"] == told["prompt_tokens"] > 100
    assert told["gen_ai.usage.output_tokens"] == 8


def test_a_long_conversation_is_truncated(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit = replace(run.kit, llm=run.kit.extractive)
    long = (Exchange("Who? " * 20_000, "Who? " * 20_000, "x" * 10_000 + " Ada Byron"), Exchange("", "", "A-" * 50_000))
    started = time.process_time()
    result = rewritten(run, "What did he do?", long)
    assert time.process_time() - started < 5
    assert "Byron" not in (result.standalone or "")
    assert [turn.answer for turn in result.conversation] == [turn.answer for turn in long]  # nothing was cut off


def test_a_model_sees_the_last_six_messages_and_500_characters_of_each() -> None:
    turns = [Exchange(f"q{n}\nx" + " and so on" * 99, f"q{n}", "" if n == 3 else "long " * 200) for n in range(5)]
    lines = transcript_lines(turns)
    assert [line.split()[:2] for line in lines] == [
        ["Assistant:", "long"], ["User:", "q2"], ["Assistant:", "long"], ["User:", "q3"], ["User:", "q4"],
        ["Assistant:", "long"],
    ]  # fmt: skip
    assert all(len(line) <= len("Assistant: ") + 500 for line in lines)


def test_a_conversation_sent_along_is_understood_turn_by_turn() -> None:
    asked = ["When does the cable car run?", "What does it cost?", "Who runs it?"]
    whole = resolve_follow_ups([Exchange(text, text, "") for text in asked], 4000)
    assert [turn.standalone for turn in whole] == [
        "When does the cable car run?", "What does the cable car cost?", "Who runs the cable car?",
    ]  # fmt: skip
    assert [turn.question for turn in whole] == asked


def test_ones_own_prompt_is_used(make_run: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("data")
    (data / "prompts").mkdir()
    (data / "prompts" / "rewrite.txt").write_text("Mine. {conversation} {question}", encoding="utf-8")
    model = Model()
    rewritten(make_run(llm=model, data=data))
    assert model.prompts[0].messages[0].content.startswith("Mine. User:")


def test_a_rewritten_question_in_json_is_read(make_run: Callable[..., Run]) -> None:
    model = Model(json.dumps({"question": WHOLE}))
    assert rewritten(make_run(llm=model)).standalone == WHOLE
    assert model.prompts[0].schema == REWRITTEN_SCHEMA
