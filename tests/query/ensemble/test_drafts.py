"""Ensemble voting between drafts."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pincite.core.query.prompt import Draft, Message, Prompt, Usage
from pincite.core.query.question import Sampling
from pincite.core.run import Event, Run, Token
from pincite.errors import ProviderError
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.query.ensemble import drafts as ensemble
from pincite.query.ensemble.drafts import gather_drafts, variations, voting
from tests.builders import hit, prompt

SOURCES = (hit("Unused days expire on 31 March."), hit("Five days carry over."))
RIGHT = "Unused days expire on 31 March [Source 1]. Five days carry over [Source 2]."
ALIKE = "The unused days expire on 31 March [Source 1]. Five days carry over to the next year [Source 2]."
WRONG = "Unused days expire on 30 April [Source 1]. Nobody knows more."


def draft(text: str, cost: int = 10) -> Draft:
    return Draft(text, "m", "stop", Usage(cost, 1))


def voted(run: Run, *texts: str) -> Draft:
    return asyncio.run(voting(run, prompt("q", *SOURCES), [draft(text) for text in texts]))


def test_the_draft_with_most_agreed_and_supported_statements_wins(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    chosen = voted(make_run(events=events), WRONG, RIGHT, ALIKE)
    assert (chosen.text, chosen.agreement, chosen.warnings) == (RIGHT, 1.0, ())
    assert chosen.usage == Usage(30, 3)
    assert "".join(event.text for event in events if isinstance(event, Token)) == RIGHT


def test_statements_of_one_draft_only_are_in_a_warning(make_run: Callable[..., Run]) -> None:
    more = f"{RIGHT} Zebras have stripes."
    assert voted(make_run(), more, WRONG, RIGHT).text == RIGHT  # as many statements hold, and none stands alone
    others = "Unused days expire on 31 March.", "Five days carry over."
    chosen = voted(make_run(), more, *others)
    assert (chosen.text, chosen.agreement) == (more, pytest.approx(2 / 3))
    assert chosen.warnings == ("1 of 3 statements is not what most of 3 drafts say: “Zebras have stripes.”",)


def test_without_agreement_the_first_draft_wins_with_a_warning(make_run: Callable[..., Run]) -> None:
    chosen = voted(make_run(), "It is red.", "It is blue and 5 m long.", "Nobody saw it.")
    assert (chosen.text, chosen.agreement) == ("It is red.", 0.0)
    assert "1 of 1 statements is not what most of 3 drafts say" in chosen.warnings[0]


def test_a_single_draft_has_no_agreement(make_run: Callable[..., Run]) -> None:
    chosen = voted(make_run(), RIGHT)
    assert (chosen.text, chosen.agreement, chosen.warnings) == (RIGHT, None, ())


def test_where_most_drafts_state_nothing_one_of_them_wins(make_run: Callable[..., Run]) -> None:
    unknown = "The sources do not contain any information about this."
    chosen = voted(make_run(), RIGHT, unknown, unknown)
    assert (chosen.text, chosen.agreement, chosen.warnings) == (unknown, None, ())
    assert voted(make_run(), unknown, RIGHT, ALIKE).text == RIGHT


def test_without_an_embedder_words_decide(make_run: Callable[..., Run]) -> None:
    run = make_run(embedder=ScriptedEmbedder(Options(fail="down")))
    assert voted(run, WRONG, RIGHT, ALIKE).text == RIGHT


def test_drafts_differ_in_order_and_temperature_except_the_first() -> None:
    orders = tuple((Message("user", name),) for name in ("one", "two", "three"))
    asked = Prompt("q", orders[0], SOURCES, 1, Sampling(max_tokens=9), reordered=orders[1:])
    first, second, third = variations(asked, "llama3.1", 3)
    assert [one.messages for one in (first, second, third)] == list(orders)
    assert (first.sampling, first.reordered) == (Sampling(max_tokens=9), ())
    assert [one.sampling.temperature for one in (second, third)] == pytest.approx([0.7, 0.9])
    warm = variations(Prompt("q", (), (), 1, Sampling(temperature=1.5)), "m", 4)
    assert [one.sampling.temperature for one in warm] == [1.5] * 4


async def _soon(text: str) -> Draft:
    return draft(text)


async def _fails() -> Draft:
    raise ProviderError("the server said 500")


async def _hangs() -> Draft:
    await asyncio.Event().wait()
    raise AssertionError


def gathered(*drafts: Coroutine[Any, Any, Draft]) -> tuple[list[str], str]:
    found, why = asyncio.run(gather_drafts(drafts))
    return [one.text for one in found], why


def test_one_that_fails_is_left_out_with_the_reason() -> None:
    texts, why = gathered(_soon("a"), _fails(), _soon("c"))
    assert (texts, why) == (["a", "c"], "2 of 3 drafts were written: the server said 500")


def test_one_that_hangs_is_not_waited_for_and_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble, "MIN_WAIT_S", 0.05)
    texts, why = gathered(_soon("a"), _soon("b"), _hangs())
    assert (texts, why) == (["a", "b"], "2 of 3 drafts were written: the others took much longer")


def test_where_all_fail_so_does_the_answer() -> None:
    with pytest.raises(ProviderError, match="500"):
        gathered(_fails(), _fails())


def test_cancellation_ends_all_drafts() -> None:
    async def go() -> int:
        ended = 0

        async def hangs() -> Draft:
            nonlocal ended
            try:
                return await _hangs()
            finally:
                ended += 1

        task = asyncio.create_task(gather_drafts([hangs(), hangs(), hangs()]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return ended

    assert asyncio.run(go()) == 3


def test_a_programming_error_is_raised_and_not_a_missing_draft() -> None:
    async def broken() -> Draft:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        gathered(_soon("a"), _soon("b"), broken())
