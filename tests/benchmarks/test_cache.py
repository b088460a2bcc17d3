import asyncio
from typing import Any

import pytest

from benchmarks._twins import OTHERS, SAME, twins
from benchmarks.cache import Pair, hit, pairs_of, table, timed
from pincite.config.branches.retrieval import Cache
from pincite.query.cache.same_question import difference

QUESTIONS = [
    "When did Nikola Tesla move to Budapest in 1881?",
    "How many of the 28 days are paid more than usual?",
    "What is the largest city that Edison visited before Tesla?",
    "Wie viele Tage sind seit Januar vergangen, die der Verein mehr bezahlt?",
    "Who did not pay the 12 weeks which Bern and Chur owe?",
]


def test_every_kind_of_twin_is_made_and_the_same_ones_every_time() -> None:
    for kinds in (OTHERS, SAME):
        made = list(twins(QUESTIONS, kinds))
        assert {kind for kind, *_ in made} == set(kinds)
        assert made == list(twins(QUESTIONS, kinds))
        assert all(question != twin for _, question, twin in made)


def test_no_other_question_passes_and_most_of_the_same_do() -> None:
    assert [twin for kind, question, twin in twins(QUESTIONS, OTHERS) if difference(twin, question) is None] == []
    same = [difference(twin, question) is None for _, question, twin in twins(QUESTIONS, SAME)]
    assert sum(same) > 0.8 * len(same)


def test_a_hit_takes_similar_vectors_and_the_same_words() -> None:
    pair = Pair("case", "When does it open?", "when does it open", 0.9)
    assert hit(pair, Cache())
    assert not hit(pair, Cache(threshold_mode="precision"))
    assert not hit(Pair("a negation", "When does it open?", "When does it not open?", 0.99), Cache())


@pytest.mark.parametrize("kinds", [OTHERS, SAME])
def test_the_tables_have_a_row_for_each_kind_and_one_for_all(open_pincite: Any, kinds: Any) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            lines = table(await pairs_of(pincite, QUESTIONS, kinds)).splitlines()
            assert len(lines) == 2 + len(kinds) + 1
            assert lines[-1].startswith("| all |")
            assert await timed(pincite, QUESTIONS[:1]) == "no question was answered twice"

    asyncio.run(main())
