"""The claims of `benchmarks/support.py`, true and false, through the whole pipeline on the sample documents."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from benchmarks._claims import TRUE, Claim, Fact, claims_about
from benchmarks.support import Asker, Outcome, precision, run_samples, table, written_claims
from pincite import AsyncPincite
from pincite.ingest.accept.collect import collect
from pincite.stub import StubLLM

pytestmark = pytest.mark.usefixtures("built_in_reader")

ROOT = Path(__file__).parents[2]
FACT = Fact(
    "Who was the first director of the observatory?",
    "The observatory opened on 3 May 1931. Ada Lovelace was the first director of the house, and 12 people worked there.",
    "Ada Lovelace", "en", "a.md",
)  # fmt: skip
OTHER = Fact("Who cleaned the dome?", "Grace Hopper cleaned the dome.", "Grace Hopper", "en", "b.md")


@pytest.fixture(scope="module")
def outcomes(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    async def ask() -> list[Outcome]:
        with StubLLM() as stub:
            settings = {
                "data": tmp_path_factory.mktemp("claims"), "database.url": module_database_url, "cache.enabled": False,
                "llm.base_url": stub.url, "llm.model": "stub",
                "grounding.replace_unsupported": False,  # the claims themselves are judged
            }  # fmt: skip
            async with AsyncPincite(settings=settings) as pincite:
                await pincite.add_all(collect([ROOT / "examples" / "documents"]))
                return await run_samples(Asker(pincite, stub), every=3)

    return asyncio.run(ask())


@pytest.mark.slow
def test_citations_judged_supporting_do_support_and_most_true_ones_are(outcomes: list[Outcome]) -> None:
    supported, true = [one for one in outcomes if one.supported], [one for one in outcomes if one.true]
    assert len(outcomes) >= 100
    assert sum(one.true for one in supported) >= 0.95 * len(supported), table("samples", outcomes)
    assert sum(one.supported for one in true) >= 0.85 * len(true), table("samples", outcomes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "wrong number",
        "wrong date",
        "wrong unit",
        "swapped name",
        "wrong source",
        "invented source",
        "uncited and wrong",
    ],
)
def test_what_is_wrong_is_caught_and_shown_as_such(outcomes: list[Outcome], kind: str) -> None:
    own = [one for one in outcomes if one.kind == kind]
    assert own
    assert [one.claim.text for one in own if one.supported] == []
    assert all(one.reason for one in own if not kind.startswith("uncited"))


def test_claims_are_made_the_same_every_time_and_false_ones_differ() -> None:
    made = list(claims_about(FACT, [FACT, OTHER], Random(1)))
    assert made == list(claims_about(FACT, [FACT, OTHER], Random(1)))
    said = {claim.kind: claim.text for claim in made}
    assert said["literal"] in " ".join(FACT.passage.split())
    assert said["reworded"] == "Ada Lovelace was the first director of the observatory."
    assert "Grace Hopper" in said["swapped name"]
    assert "was not the first" in said["negated"]
    assert "twelve people" in said["rewritten number"]
    assert said["wrong number"] != said["literal"]
    assert {claim.true for claim in made if claim.kind in TRUE} == {True}


def test_claims_by_hand_are_both_true_and_false_in_both_languages() -> None:
    kinds = {(claim.fact.language, true) for claim, _, true in written_claims()}
    assert kinds == {("en", True), ("en", False), ("de", True), ("de", False)}


def test_precision_and_recall() -> None:
    claim = Claim(FACT, "literal", "x")
    made = [
        Outcome(claim, "a", true, supported, None) for true, supported in ((True, True), (True, False), (False, True))
    ]
    assert precision("all", made) == "all: precision 0.500, recall 0.500"
