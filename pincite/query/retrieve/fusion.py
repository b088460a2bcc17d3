"""Fusion: several rankings become one, by relative scores or by reciprocal ranks (RRF)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pincite.config.branches.retrieval import Rag
from pincite.core.protocols import Match
from pincite.core.query.hits import Cause, Scale, ScoreContribution
from pincite.core.query.plan import Search


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of one search, best first; `more` says that there may be further chunks below the last."""

    search: Search
    matches: Sequence[Match]
    more: bool = False


def reciprocal_rank(rank: int, k: int, weight: float = 1.0) -> float:
    """The score of a rank in reciprocal rank fusion."""
    return weight / (k + rank)


def rrf_contributions(
    via: Cause, query: int, ordered: Mapping[int, float], *, k: int, weight: float = 1.0
) -> dict[int, ScoreContribution]:
    """What each chunk of a ranking gains by its rank; `ordered` are chunk keys with their raw scores, best first."""
    return {
        key: ScoreContribution(via, query, rank, raw, reciprocal_rank(rank, k, weight), weight=weight)
        for rank, (key, raw) in enumerate(ordered.items(), start=1)
    }


class Fusion:
    """The fused score of every chunk that any ranking holds; contributions are computed only for the chunks asked about.

    With several queries, only the best `depth` chunks of each count: otherwise a chunk that stands somewhere in all of
    them would beat the best answer to one.
    """

    def __init__(
        self, rankings: Sequence[Ranking], alpha: float | None, rag: Rag, *, many: bool, depth: int = 100
    ) -> None:
        both = {"dense", "lexical"} <= {ranking.search.via for ranking in rankings}
        dense = rag.alpha if alpha is None else alpha
        weights = {"dense": dense, "lexical": 1 - dense} if both else {}
        self._rankers = [
            _Ranker(ranking, weights.get(ranking.search.via, 1.0), rag) for ranking in rankings if ranking.matches
        ]
        keys = {match.key for ranking in rankings for match in ranking.matches}
        self.joined = many
        self._queries = _by_query(self._rankers, rag.multi_query_rrf_k, depth) if many else {}
        self.scores = _sum_of(self._queries.values()) if many else _added(self._rankers, keys)
        """The score of every chunk that any ranking holds."""

    def placings(self, key: int, cosine: float | None = None) -> tuple[ScoreContribution, ...]:
        """The contributions of all rankings to a chunk's score.

        A dense ranking that does not hold the chunk can use its cosine. With several queries, the chunk's rank for each
        of them comes last.
        """
        found = [one for ranker in self._rankers if (one := ranker.contribution(key, cosine)) is not None]
        if self._queries:
            found += [ranks[key] for ranks in self._queries.values() if key in ranks]
        return tuple(found)


class _Ranker:
    """What one ranking contributes to a chunk: rank, raw score, share of the fused score.

    With `relative_to = "possible"`, a chunk below the last one of the ranking gets the last one's share: its own score
    is unknown but no higher.
    """

    def __init__(self, ranking: Ranking, weight: float, rag: Rag) -> None:
        self.search = ranking.search
        self.raws = {match.key: match.score for match in ranking.matches}
        self.ranks = {key: rank for rank, key in enumerate(self.raws, start=1)}
        self._by_rank = rag.fusion == "rrf"
        self._rrf_k = rag.rrf_k
        self._scale = _scale(ranking, weight, rag)
        possible = not self._by_rank and rag.relative_to == "possible"
        self._scores_beyond = possible and ranking.search.via == "dense"
        self._last = ranking.matches[-1].score if possible and ranking.more else None

    def shares(self, keys: set[int]) -> dict[int, float]:
        """Its contribution to each of these chunks, where it has one."""
        if self._by_rank:
            return {key: self._by_reciprocal_rank(rank) for key, rank in self.ranks.items()}
        weight, low, span = self._scale.weight, self._scale.low, self._scale.span
        found = {key: weight * (raw - low) / span for key, raw in self.raws.items()}
        if self._last is not None:
            found.update(dict.fromkeys(keys - self.raws.keys(), self._scale.share(self._last)))
        return found

    def contribution(self, key: int, cosine: float | None) -> ScoreContribution | None:
        """Its contribution to one chunk in detail; None where it has none."""
        raw, rank, search = self.raws.get(key), self.ranks.get(key), self.search
        if raw is None:
            raw = cosine if self._scores_beyond and cosine is not None else self._last
        if raw is None:
            return None
        if self._by_rank:
            assert rank is not None
            share = self._by_reciprocal_rank(rank)
            return ScoreContribution(search.via, search.query, rank, raw, share, weight=search.weight)
        return ScoreContribution(search.via, search.query, rank, raw, self._scale.share(raw), self._scale)

    def _by_reciprocal_rank(self, rank: int) -> float:
        return reciprocal_rank(rank, self._rrf_k, self.search.weight)


def _added(rankers: Sequence[_Ranker], keys: set[int]) -> dict[int, float]:
    """The sum of each chunk's shares."""
    scores = dict.fromkeys(keys, 0.0)
    for ranker in rankers:
        for key, share in ranker.shares(keys).items():
            scores[key] += share
    return scores


def _by_query(rankers: Sequence[_Ranker], k: int, depth: int) -> dict[int, dict[int, ScoreContribution]]:
    """For each of several queries, the reciprocal-rank contributions of the chunks that its own searches returned."""
    found: dict[int, dict[int, ScoreContribution]] = {}
    for query in sorted({ranker.search.query for ranker in rankers}):
        own = [ranker for ranker in rankers if ranker.search.query == query]
        scores = _added(own, {key for ranker in own for key in ranker.raws})
        order = sorted(scores, key=lambda key: (-scores[key], key))[:depth]
        weight = max(ranker.search.weight for ranker in own)
        found[query] = rrf_contributions("query", query, {key: scores[key] for key in order}, k=k, weight=weight)
    return found


def _sum_of(queries: Iterable[Mapping[int, ScoreContribution]]) -> dict[int, float]:
    """The sum of each chunk's contributions."""
    fused: dict[int, float] = {}
    for ranks in queries:
        for key, contribution in ranks.items():
            fused[key] = fused.get(key, 0.0) + contribution.share
    return fused


def _scale(ranking: Ranking, weight: float, rag: Rag) -> Scale:
    weight *= ranking.search.weight
    if rag.relative_to == "possible":
        return Scale(weight, 0.0, ranking.matches[0].most)
    scores = [match.score for match in ranking.matches]
    low, high = min(scores), max(scores)
    return Scale(weight, low, high - low) if high > low else Scale(weight, low - 1, 1.0)
