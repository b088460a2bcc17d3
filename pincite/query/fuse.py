"""Rankings become one: what each place is worth, and what that adds up to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.core.answers import Placing, Scale, Search
from pincite.core.protocols import Match
from pincite.settings import Rag


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one search brought, best first.

    `more` says that there may be further chunks below the last; `beyond` are those of them whose score is known.
    """

    search: Search
    matches: Sequence[Match]
    more: bool = False
    beyond: Sequence[Match] = ()

    def knowing(self, matches: Sequence[Match]) -> "Ranking":
        """The same, where the scores of these are known as well; only those by meaning can be told for any chunk."""
        if self.search.via != "dense":
            return self
        brought = {match.key for match in self.matches}
        return replace(self, beyond=[match for match in matches if match.key not in brought])


def place(rankings: Sequence[Ranking], alpha: float | None, rag: Rag) -> dict[int, list[Placing]]:
    """Each chunk's place in each ranking, and what that place adds to its score."""
    placings: dict[int, list[Placing]] = {}
    both = len({ranking.search.via for ranking in rankings}) > 1
    dense_weight = rag.alpha if alpha is None else alpha
    met = {match.key for ranking in rankings for match in (*ranking.matches, *ranking.beyond)}
    for ranking in rankings:
        weight = (dense_weight if ranking.search.via == "dense" else 1 - dense_weight) if both else 1.0
        placed = _by_rank(ranking, rag) if rag.fusion == "rrf" else _by_score(ranking, weight, met, rag)
        for key, placing in placed:
            placings.setdefault(key, []).append(placing)
    return placings


def fuse(placings: Mapping[int, Sequence[Placing]], rag: Rag, *, many: bool) -> dict[int, float]:
    """One score a chunk: the sum of its shares; between several queries of one call reciprocal rank."""
    if not many:
        return {key: sum(place.share for place in places) for key, places in placings.items()}
    by_query: dict[int, dict[int, float]] = {}
    for key, places in placings.items():
        for place in places:
            scores = by_query.setdefault(place.query, {})
            scores[key] = scores.get(key, 0.0) + place.share
    fused: dict[int, float] = {}
    for scores in by_query.values():
        order = sorted(scores, key=lambda key: (-scores[key], key))
        for rank, key in enumerate(order, start=1):
            fused[key] = fused.get(key, 0.0) + 1 / (rag.multi_query_rrf_k + rank)
    return fused


def _by_rank(ranking: Ranking, rag: Rag) -> Iterator[tuple[int, Placing]]:
    search = ranking.search
    for rank, match in enumerate(ranking.matches, start=1):
        share = search.weight / (rag.rrf_k + rank)
        yield match.key, Placing(search.via, search.query, rank, match.score, share)


def _by_score(ranking: Ranking, weight: float, met: set[int], rag: Rag) -> Iterator[tuple[int, Placing]]:
    """The share of each chunk met anywhere, as far as this search can tell.

    Relative to what is possible, a chunk that stands below the last one brought counts as that one: its own score,
    which is not known, is no higher.
    """
    if not ranking.matches:
        return
    search, scale = ranking.search, _scale(ranking, weight, rag)

    def placing(rank: int | None, raw: float) -> Placing:
        return Placing(search.via, search.query, rank, raw, scale.share(raw), scale)

    for rank, match in enumerate(ranking.matches, start=1):
        yield match.key, placing(rank, match.score)
    if rag.relative_to == "found":
        return
    for match in ranking.beyond:
        yield match.key, placing(None, match.score)
    if ranking.more:
        for key in sorted(met - {match.key for match in (*ranking.matches, *ranking.beyond)}):
            yield key, placing(None, ranking.matches[-1].score)


def _scale(ranking: Ranking, weight: float, rag: Rag) -> Scale:
    weight *= ranking.search.weight
    if rag.relative_to == "possible":
        return Scale(weight, 0.0, ranking.matches[0].most)
    scores = [match.score for match in ranking.matches]
    low, high = min(scores), max(scores)
    return Scale(weight, low, high - low) if high > low else Scale(weight, low - 1, 1.0)
