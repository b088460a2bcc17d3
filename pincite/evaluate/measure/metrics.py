"""Ranking metrics: nDCG, recall and reciprocal rank, computed as in trec_eval."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

Relevant = Mapping[str, int]
"""Relevance grade of each document; 0 is not relevant."""


def ndcg(ranked: Sequence[str], relevant: Relevant, k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first k results."""
    gains = (max(0, relevant.get(one, 0)) / math.log2(place + 2) for place, one in enumerate(ranked[:k]))
    ideal = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[:k]
    best = sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))
    return sum(gains) / best if best else 0.0


def recall(ranked: Sequence[str], relevant: Relevant, k: int) -> float:
    """Share of the relevant documents among the first k results."""
    wanted = {one for one, grade in relevant.items() if grade > 0}
    return len(wanted.intersection(ranked[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranked: Sequence[str], relevant: Relevant, k: int = 10) -> float:
    """Reciprocal rank of the first relevant result among the first k."""
    return next((1 / place for place, one in enumerate(ranked[:k], start=1) if relevant.get(one, 0) > 0), 0.0)


MEASURES: Mapping[str, Callable[[Sequence[str], Relevant], float]] = {
    "nDCG@10": partial(ndcg, k=10),
    "recall@5": partial(recall, k=5),
    "recall@10": partial(recall, k=10),
    "recall@100": partial(recall, k=100),
    "MRR@10": partial(reciprocal_rank, k=10),
}
DEPTH = 100
"""Number of ranks that the metrics need."""


def judge(ranked: Sequence[str], relevant: Relevant) -> dict[str, float]:
    """Compute all metrics of one ranking without duplicates."""
    return {name: measure(ranked, relevant) for name, measure in MEASURES.items()}


def judge_rank(rank: int | None) -> dict[str, float]:
    """Compute all metrics for a single relevant result at this rank, or not found."""
    ranked = [] if rank is None else [*(str(place) for place in range(1, rank)), "right"]
    return judge(ranked, {"right": 1})
