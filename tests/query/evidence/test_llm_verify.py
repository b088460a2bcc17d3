"""The model's verdicts on passages."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Literal

import pytest

from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.providers.scripted import Options, ScriptedLLM
from pincite.query.evidence.llm_verify import model_verification, read_verdicts
from tests.builders import hit, plan

HITS = [hit("cats purr", key=1), hit("dogs bark", key=2), hit("cats sleep", key=3)]


class Judge(ScriptedLLM):
    """Returns a preset text and records its prompts."""

    def __init__(self, says: str, window: int = 8192) -> None:
        super().__init__(Options(window=window))
        self.says, self.asked = says, list[Prompt]()

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.asked.append(prompt)
        yield StreamPart(self.says, finish_reason="stop", model="judge")


def kept(run: Run, hits: Sequence[Hit] = HITS) -> list[int]:
    return [found.chunk.key for found in asyncio.run(model_verification(run, plan("why do cats purr"), hits))]


def test_one_call_judges_all_and_low_ones_are_removed(make_run: Callable[..., Run]) -> None:
    judge = Judge("1: yes\n2: no\n3: yes")
    assert kept(make_run(llm=judge)) == [1, 3]
    [prompt] = judge.asked
    assert all(one.chunk.text in prompt.messages[0].content for one in HITS)
    assert "why do cats purr" in prompt.messages[0].content


@pytest.mark.parametrize(
    "said", ["1: yes\n2: no", "yes, no, yes", "", "1: perhaps\n2: no\n3: yes", "1: yes\n1: no\n2: no\n3: no"]
)
def test_verdicts_that_cannot_be_read_are_an_error_and_the_rules_hold(make_run: Callable[..., Run], said: str) -> None:
    run = make_run(llm=Judge(said))
    assert asyncio.run(run.attempt(HITS, model_verification, plan("cats"), HITS)) == HITS
    [note] = run.degraded
    assert note.stage == "model_verification"
    assert "only rules verified" in note.reason


def test_models_may_write_their_verdicts_in_their_own_way() -> None:
    assert read_verdicts("Here you are:\n- Passage 1: **Yes**\n2) no\n**3** – JA.", 3) == {1: True, 2: False, 3: True}


def test_where_no_passage_helps_that_is_said(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=Judge("1: no\n2: no\n3: no"))
    assert kept(run) == []
    assert run.warnings == ["the model found none of 3 passages helpful for the question"]


def test_model_verification_needs_a_model(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit = type(run.kit)(run.kit.index, run.kit.embedder, run.kit.extractive, run.kit.extractive)
    with pytest.raises(ProviderError, match=r"no model is configured.*rag\.verification_by"):
        kept(run)


def test_passages_the_model_has_no_room_for_stay_unjudged(make_run: Callable[..., Run]) -> None:
    judge, long = Judge("1: no", window=1000), hit("dogs bark " * 1000, key=2)
    assert kept(make_run(llm=judge), [HITS[0], long]) == [2]
    assert "dogs bark" not in judge.asked[0].messages[0].content


@pytest.mark.parametrize(
    "said", ['{"1": "yes", "2": "no", "3": "yes"}', '```json\n{"1": true, "2": false, "3": "Ja"}\n```']
)
def test_verdicts_in_json_are_read(make_run: Callable[..., Run], said: str) -> None:
    judge = Judge(said)
    assert kept(make_run(llm=judge)) == [1, 3]
    schema = judge.asked[0].schema
    assert schema is not None
    assert schema["required"] == ["1", "2", "3"]
    assert schema["properties"]["2"] == {"type": "string", "enum": ["yes", "no"]}


@pytest.mark.parametrize(
    ("judged", "count", "words"),
    [
        ("passage", 2, "the model's verdicts on 2 passages could not be read; only rules verified them"),
        ("claim", 1, "the model's verdicts on 1 claim could not be read; only rules judged it"),
    ],
)
def test_what_was_judged_is_named(judged: Literal["passage", "claim"], count: int, words: str) -> None:
    with pytest.raises(ProviderError) as raised:
        read_verdicts("I cannot say.", count, judged)
    assert str(raised.value) == words
