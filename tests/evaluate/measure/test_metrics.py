"""Measures, held against those of the TREC programme."""

import random

import ir_measures
import pytest
from ir_measures import RR, R, nDCG

from pincite.evaluate.measure.metrics import DEPTH, MEASURES, judge, judge_rank, ndcg, recall, reciprocal_rank

THEIRS = {"nDCG@10": nDCG @ 10, "recall@5": R @ 5, "recall@10": R @ 10, "recall@100": R @ 100, "MRR@10": RR @ 10}


def rankings(seed: int, *, ties: bool) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgements with grades and equal ones, and runs that find much, little, nothing, or leave a question out."""
    chance = random.Random(seed)
    documents = [f"d{number}" for number in range(150)]
    judged, found = {}, {}
    for number in range(25):
        judged[f"q{number}"] = {one: chance.choice([0, 1, 1, 2, 3]) for one in chance.sample(documents, 12)}
        judged[f"q{number}"][documents[number]] = 1  # at least one is relevant
        ranked = chance.sample(documents, chance.choice([0, 3, 40, 150]))
        found[f"q{number}"] = {one: round(chance.random(), 1) if ties else chance.random() for one in ranked}
    del found["q7"]
    return judged, found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_every_measure_is_what_ir_measures_computes(seed: int, ties: bool) -> None:
    judged, found = rankings(seed, ties=ties)
    theirs = {
        (one.query_id, one.measure): one.value for one in ir_measures.iter_calc([*THEIRS.values(), RR], judged, found)
    }
    for question, relevant in judged.items():
        scores = found.get(question, {})
        ranked = sorted(
            scores, key=lambda one: (scores[one], one), reverse=True
        )  # of equal ones TREC takes the later id
        ours = {THEIRS[name]: value for name, value in judge(ranked, relevant).items()}
        if ties:  # who computes this one there breaks ties in another way
            ours = {measure: value for measure, value in ours.items() if measure != RR @ 10}
        ours[RR] = reciprocal_rank(ranked, relevant, len(ranked))
        # one that found nothing has no line there
        assert ours == pytest.approx({measure: theirs.get((question, measure), 0.0) for measure in ours}, abs=1e-9)


def test_all_documented_metrics_are_computed() -> None:
    assert set(MEASURES) == set(THEIRS)
    assert max(int(name.partition("@")[2]) for name in MEASURES) == DEPTH


def test_nothing_relevant_is_worth_nothing() -> None:
    assert judge(["a"], {}) == dict.fromkeys(MEASURES, 0.0)
    assert judge(["a"], {"a": 0, "b": -1}) == dict.fromkeys(MEASURES, 0.0)


def test_a_rank_alone_says_the_same_as_its_ranking() -> None:
    assert judge_rank(1) == dict.fromkeys(MEASURES, 1.0)
    assert judge_rank(None) == dict.fromkeys(MEASURES, 0.0)
    third = judge_rank(3)
    assert (third["nDCG@10"], third["MRR@10"], third["recall@5"]) == (0.5, pytest.approx(1 / 3), 1.0)
    assert judge_rank(11)["recall@10"] == 0.0
    assert judge_rank(11)["recall@100"] == 1.0


def test_places_beyond_the_cut_do_not_count() -> None:
    ranked = [*(f"x{n}" for n in range(10)), "right"]
    relevant = {"right": 2}
    assert (ndcg(ranked, relevant), recall(ranked, relevant, 10), reciprocal_rank(ranked, relevant)) == (0.0, 0.0, 0.0)
