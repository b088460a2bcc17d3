"""Rankings become one: what each place is worth, and what that adds up to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pincite.config.branches.retrieval import Rag
from pincite.core.protocols import Match
from pincite.core.query.hits import Scale, ScoreContribution
from pincite.core.query.plan import Search


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one search brought, best first.

    `more` says that there may be further chunks below the last.
    """

    search: Search
    matches: Sequence[Match]
    more: bool = False


class Fusion:
    """Several rankings as one: every chunk's score at once, what led to it only for those one asks about.

    Where several texts were searched, so many of the best for each count: beyond that, standing somewhere for all of
    them would beat being the answer to one.
    """

    def __init__(
        self, rankings: Sequence[Ranking], alpha: float | None, rag: Rag, *, many: bool, depth: int = 100
    ) -> None:
        both = len({ranking.search.via for ranking in rankings}) > 1
        dense = rag.alpha if alpha is None else alpha
        weights = {"dense": dense, "lexical": 1 - dense} if both else {"dense": 1.0, "lexical": 1.0}
        self._judges = [_Ranker(ranking, weights[ranking.search.via], rag) for ranking in rankings if ranking.matches]
        met = {match.key for ranking in rankings for match in ranking.matches}
        self.joined = many
        self._queries = _by_query(self._judges, met, rag.multi_query_rrf_k, depth) if many else {}
        self.scores = _joined(self._queries.values()) if many else _added(self._judges, met)
        """The score of every chunk that any ranking brought."""

    def placings(self, key: int, cosine: float | None = None) -> tuple[ScoreContribution, ...]:
        """What each ranking has to say about a chunk; one by meaning can use its cosine where it did not bring it.

        Where several texts were searched, the chunk's place for each of them comes last.
        """
        found = (judge.placing(key, cosine) for judge in self._judges)
        by_query = (places[key] for places in self._queries.values() if key in places)
        return (*(placing for placing in found if placing is not None), *by_query)


class _Ranker:
    """What one ranking says of a chunk: its place, the raw score, and what that adds.

    Relative to what is possible, a chunk that stands below the last one brought counts as that one: its own score,
    which is not known, is no higher.
    """

    def __init__(self, ranking: Ranking, weight: float, rag: Rag) -> None:
        self.search = ranking.search
        self.raws = {match.key: match.score for match in ranking.matches}
        self.ranks = {key: rank for rank, key in enumerate(self.raws, start=1)}
        self._by_rank = rag.fusion == "rrf"
        self._rrf_k = rag.rrf_k
        self._scale = _scale(ranking, weight, rag)
        possible = not self._by_rank and rag.relative_to == "possible"
        self._tells_beyond = possible and ranking.search.via == "dense"
        self._last = ranking.matches[-1].score if possible and ranking.more else None

    def shares(self, met: set[int]) -> dict[int, float]:
        """What it adds to each chunk that was met anywhere."""
        if self._by_rank:
            return {key: self._by_place(rank) for key, rank in self.ranks.items()}
        weight, low, span = self._scale.weight, self._scale.low, self._scale.span
        found = {key: weight * (raw - low) / span for key, raw in self.raws.items()}
        if self._last is not None:
            found.update(dict.fromkeys(met - self.raws.keys(), self._scale.share(self._last)))
        return found

    def placing(self, key: int, cosine: float | None) -> ScoreContribution | None:
        """Its word on one chunk; None where it knows nothing of it."""
        rank = self.ranks.get(key)
        beyond = cosine if self._tells_beyond and cosine is not None else self._last
        raw = self.raws.get(key, beyond)
        if raw is None:
            return None
        if self._by_rank:
            assert rank is not None
            share = self._by_place(rank)
            return ScoreContribution(self.search.via, self.search.query, rank, raw, share, weight=self.search.weight)
        return ScoreContribution(self.search.via, self.search.query, rank, raw, self._scale.share(raw), self._scale)

    def _by_place(self, rank: int) -> float:
        return self.search.weight / (self._rrf_k + rank)


def _added(judges: Sequence[_Ranker], met: set[int]) -> dict[int, float]:
    """The sum of a chunk's shares."""
    scores = dict.fromkeys(met, 0.0)
    for judge in judges:
        for key, share in judge.shares(met).items():
            scores[key] += share
    return scores


def _by_query(judges: Sequence[_Ranker], met: set[int], k: int, depth: int) -> dict[int, dict[int, ScoreContribution]]:
    """Several queries of one call: each has its own order, and what a place in it is worth is reciprocal."""
    found: dict[int, dict[int, ScoreContribution]] = {}
    for query in sorted({judge.search.query for judge in judges}):
        scores: dict[int, float] = {}
        for judge in judges:
            if judge.search.query == query:
                for key, share in judge.shares(met).items():
                    scores[key] = scores.get(key, 0.0) + share
        order = sorted(scores, key=lambda key: (-scores[key], key))[:depth]
        weight = max(judge.search.weight for judge in judges if judge.search.query == query)
        found[query] = {
            key: ScoreContribution("query", query, rank, scores[key], weight / (k + rank), weight=weight)
            for rank, key in enumerate(order, start=1)
        }
    return found


def _joined(queries: Iterable[Mapping[int, ScoreContribution]]) -> dict[int, float]:
    """The sum of what a chunk's places are worth."""
    fused: dict[int, float] = {}
    for places in queries:
        for key, placing in places.items():
            fused[key] = fused.get(key, 0.0) + placing.share
    return fused


def _scale(ranking: Ranking, weight: float, rag: Rag) -> Scale:
    weight *= ranking.search.weight
    if rag.relative_to == "possible":
        return Scale(weight, 0.0, ranking.matches[0].most)
    scores = [match.score for match in ranking.matches]
    low, high = min(scores), max(scores)
    return Scale(weight, low, high - low) if high > low else Scale(weight, low - 1, 1.0)
