"""Eight users for twenty seconds on a real server: nothing is lost, doubled or crossed."""

import asyncio
import json
from pathlib import Path

import pytest

from benchmarks._served import FIRST_TOKEN_MS, TOKEN_MS, fill, serving
from benchmarks._users import Crowd, Done, Person, _judged, faults
from benchmarks.adding import pincite
from benchmarks.load import Figures, Load, first_words, percentile

CHUNKS, USERS, SECONDS = 500, 8, 20.0  # in six seconds of a busy machine nobody may upload


@pytest.mark.slow
def test_eight_users_lose_nothing_and_get_nothing_of_each_other(tmp_path: Path) -> None:
    questions = asyncio.run(fill(tmp_path, CHUNKS))
    key = json.loads(pincite(tmp_path, "key", "create", "--name", "load", "--json"))["key"]
    with serving(tmp_path) as address:
        load = Load(address, key, questions, USERS)
        crowd = load.crowd(SECONDS, USERS, think_s=(0.2, 1.0))
        assert load.missing() == (0, 0)
    assert {one.kind for one in crowd.done} == {"search", "question", "upload"}
    assert {one.status for one in crowd.done} == {200, 202}
    assert [one.wrong for one in crowd.done if one.wrong] == []
    streams = [one for one in crowd.done if one.kind == "question"]
    assert all(one.first_ms >= FIRST_TOKEN_MS and one.first_words for one in streams)
    assert 0 < crowd.share < 1


def test_an_answer_that_names_somebody_elses_nonce_or_not_its_own_is_found() -> None:
    anna = Person("anna", "", "zq0123456789")
    assert _judged("about zq0123456789", anna, needed=True) == ""
    assert _judged("nothing", anna) == ""
    assert _judged("nothing", anna, needed=True).startswith("crossed")
    assert _judged("about zq0123456789 and zqaaaaaaaaaa", anna).startswith("crossed")


def test_what_went_wrong_is_counted_by_kind_and_refusals_are_no_times() -> None:
    done = [
        Done("search", 200, 0.0, 10.0),
        Done("search", 503, 0.0, 1.0),
        Done("lost", 0, 0.0, 5.0, wrong="lost: ReadTimeout"),
        Done("question", 200, 0.0, 2500.0, FIRST_TOKEN_MS + 3 * TOKEN_MS + 7, 3, "crossed: somebody else's nonce"),
    ]
    crowd = Crowd(done)
    assert crowd.ms("search") == [10.0]
    assert [len(faults(done, kind)) for kind in ("lost", "duplicated", "crossed")] == [1, 0, 1]
    assert first_words(done) == [7.0]
    assert percentile([1.0, 2.0, 3.0], 50) == 2.0


def test_the_table_says_what_is_met() -> None:
    figures = Figures()
    figures.add("slow", 3, 2)
    figures.add("good", 0.9, 0.8, least=True)
    figures.note("so", "it is")
    assert str(figures).splitlines()[2:] == [
        "| slow | 3.00 | ≤ 2.00 | not met |",
        "| good | 0.90 | ≥ 0.80 | met |",
        "| so | it is |  |  |",
    ]
