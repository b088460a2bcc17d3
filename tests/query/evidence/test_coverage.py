"""Aspects of a question and their coverage."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace

import pytest

from pincite.core.query.plan import Entity
from pincite.core.run import Run
from pincite.query.evidence.coverage import MAX_EVIDENCE_PASSAGES, evidence_selection, find_aspects, measure_coverage
from pincite.text.terms import terms
from tests.builders import hit, plan


class KnownWords:
    """A vocabulary of these words."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = frozenset(known)

    async def known_words(self, words: Collection[str], **_: object) -> frozenset[str]:
        return self._known & frozenset(words)

    words_in_scope = known_words


def missing(question: str, told: str, *names: str, language: str = "en") -> tuple[str, ...]:
    aspects = find_aspects(question, [Entity(name, "name") for name in names], {language})
    return measure_coverage(aspects, frozenset(terms(told, language)))[1]


@pytest.mark.parametrize(
    ("question", "aspects"),
    [
        ("How many turns does the hand crank need?", ["turns", "hand crank need"]),
        ("In which year was the observatory founded?", ["observatory founded"]),
        ("What is the name of the station cat?", ["station cat"]),
        (
            "Wie viele Personen dürfen an einem Besucherabend teilnehmen?",
            ["Personen", "Besucherabend teilnehmen"],
        ),
        ("What is it?", []),
    ],
)
def test_aspects_are_runs_of_content_words(question: str, aspects: list[str]) -> None:
    assert [aspect.text for aspect in find_aspects(question, (), {"en", "de"})] == aspects


def test_uncovered_aspects_are_missing() -> None:
    assert missing("Which brand of solar panels do we use?", "We use panels.") == ("brand",)
    assert missing("What is the salary of the chief engineer?", "The chief engineer is on call.") == ("salary",)


def test_a_name_is_missing_where_one_of_its_words_is() -> None:
    assert missing("Who married Ada Lovelace?", "Ada married in 1835.", "Ada Lovelace") == ("Ada Lovelace",)
    assert missing("Who married Ada Lovelace?", "Ada Lovelace married in 1835.", "Ada Lovelace") == ()


def test_a_part_of_a_compound_counts() -> None:
    assert missing("Wann wird die Werkstatt geräumt?", "Das Werkstattdach wird geräumt.", language="de") == ()


def test_coverage_is_the_share_of_words_that_are_held() -> None:
    aspects = find_aspects("Do cats purr in Patagonia?", (), {"en"})
    coverage, _ = measure_coverage(aspects, frozenset(terms("Cats purr.", "en")))
    assert coverage == pytest.approx(2 / 3)
    assert measure_coverage([], frozenset()) == (0.0, ())


def test_evidence_says_which_words_it_lacks(make_run: Callable[..., Run]) -> None:
    evidence = asyncio.run(evidence_selection(make_run(), plan("Do cats purr in Patagonia?"), [hit("Cats purr.")]))
    assert evidence.missing == ("Patagonia",)
    assert 0.6 < evidence.coverage < 0.7


@pytest.mark.parametrize(
    ("question", "known", "named"),
    [
        ("Do cats purr in Patagonia?", {"cats", "patagonia"}, ()),
        ("Do cats purr in Patagonia?", {"cats"}, ("Patagonia",)),
        ("Who pays the harbour pilots?", {"pilots"}, ("harbour",)),
    ],
)
def test_a_refusal_names_only_what_the_documents_lack(
    make_run: Callable[..., Run], question: str, known: set[str], named: tuple[str, ...]
) -> None:
    run = make_run()
    run.kit = replace(run.kit, vocabulary=KnownWords(known))
    evidence = asyncio.run(evidence_selection(run, plan(question), [hit("Cats purr. Someone pays.")]))
    assert evidence.absent == named


def test_no_hits_are_no_evidence(make_run: Callable[..., Run]) -> None:
    evidence = asyncio.run(evidence_selection(make_run(), plan("cats"), []))
    assert evidence.hits == ()
    assert evidence.coverage == 0.0


def test_evidence_has_a_maximum_of_passages(make_run: Callable[..., Run]) -> None:
    hits = [hit(f"cat {key}", key=key) for key in range(MAX_EVIDENCE_PASSAGES + 5)]
    assert list(asyncio.run(evidence_selection(make_run(), plan("cats"), hits)).hits) == hits[:MAX_EVIDENCE_PASSAGES]
