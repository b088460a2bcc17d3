"""When quoted sentences replace what a model wrote."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from pincite.core.query.pictures import Picture
from pincite.core.query.prompt import NO_ANSWER, Draft, Message, Quote
from pincite.core.run import Run
from pincite.query.ground.better_draft import is_better, is_unsupported, replaced, replacement_warning
from pincite.query.ground.check_claims import ClaimCheck, claim_check
from tests.builders import hit, prompt

TABLE = hit("| Code | What to do |\n|---|---|\n| E-11 | Close and open once |\n| E-14 | Charge the battery |\n")
ASKED = prompt("What should I do when error E-14 appears?", TABLE)
WRONG = Draft("Close and open once. [Source 1]", "small-1", "stop")
RIGHT = Draft("Charge the battery. [Source 1]", "small-1", "stop")
QUOTED = Draft("Charge the battery [Source 1]", "extractive", "stop", quotes=(Quote(1, 58, 80, 19, 29),))
REFUSED = Draft("I don't have specific information about this.", "extractive", NO_ANSWER)


def checked(run: Run, draft: Draft) -> ClaimCheck:
    return asyncio.run(claim_check(run, ASKED.sources, draft, ASKED.question))


def test_a_draft_from_the_wrong_row_is_unsupported_and_one_from_the_right_row_is_not(
    make_run: Callable[..., Run],
) -> None:
    run = make_run()
    assert is_unsupported(ASKED, WRONG, checked(run, WRONG))
    assert not is_unsupported(ASKED, RIGHT, checked(run, RIGHT))
    assert not is_unsupported(ASKED, QUOTED, checked(run, QUOTED))


def test_a_refusal_makes_no_claims_and_pictures_may_support(make_run: Callable[..., Run]) -> None:
    run = make_run()
    unsure = Draft("The sources do not say what to do.", "small-1", "stop")
    assert not is_unsupported(ASKED, unsure, checked(run, unsure))
    seen = replace(ASKED, messages=(Message("user", "?", pictures=(Picture("image/png", b"x"),)),))
    assert not is_unsupported(seen, WRONG, checked(run, WRONG))


def test_quotes_and_a_refusal_are_better_than_a_refuted_draft(make_run: Callable[..., Run]) -> None:
    run = make_run()
    wrong, right = checked(run, WRONG), checked(run, RIGHT)
    assert is_better(QUOTED, checked(run, QUOTED), wrong)
    assert is_better(REFUSED, checked(run, REFUSED), wrong)
    assert not is_better(REFUSED, checked(run, REFUSED), right)


def test_the_replacement_names_the_model_and_the_reason(make_run: Callable[..., Run]) -> None:
    wrong = checked(make_run(), WRONG)
    assert replaced(WRONG, QUOTED).replaces == "small-1"
    assert replacement_warning(WRONG, QUOTED, wrong) == (
        "the sources do not support the answer of small-1 (it is about E-11, the question is about E-14);"
        " this is sentences quoted from the documents instead"
    )
