"""The prompt for judging claims; the effect of the verdicts is in test_check_claims.py."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.citations.claims import Claim
from pincite.query.ground.check_claims import ClaimCheck
from pincite.query.ground.llm_judge import claim_verification
from pincite.query.ground.support import judge_claim
from tests.builders import Named, hit

CLAIM = Claim(0, 18, "Dogs stay outside.", 0, ())
SOURCE = hit("The canteen opens at noon. Dogs stay outside.", title="House rules")
CHECKED = ClaimCheck(CLAIM.text, (), ((0, 18),), (CLAIM,), {0: []}, {(0, 1): judge_claim(CLAIM.text, SOURCE.chunk)})


class Listening(Named):
    """Confirms the only claim and records its prompt."""

    asked = ""

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.asked = prompt.messages[0].content
        yield StreamPart("1: yes", finish_reason="stop")


def test_each_claim_is_in_the_prompt_with_its_passage_between_boundaries(make_run: Callable[..., Run]) -> None:
    model = Listening()
    asyncio.run(claim_verification(make_run(llm=model), [SOURCE], CHECKED))
    assert "Claim 1: Dogs stay outside." in model.asked
    assert "Passage 1: House rules\nThe canteen opens at noon. Dogs stay outside." in model.asked
    assert model.asked.count("=== ") >= 3


def test_without_a_model_or_with_one_too_small_the_rules_alone_judge(make_run: Callable[..., Run]) -> None:
    with pytest.raises(ProviderError, match="too long"):
        asyncio.run(claim_verification(make_run(llm=Listening(window=10)), [SOURCE], CHECKED))
    run = make_run()
    run.kit = replace(run.kit, llm=run.kit.extractive)
    with pytest.raises(ProviderError, match="no model"):
        asyncio.run(claim_verification(run, [SOURCE], CHECKED))
