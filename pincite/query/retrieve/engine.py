"""What an engine beside dense and lexical search is: it gets what these found, and returns scored chunks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pincite.config.branches.retrieval import Rag
from pincite.core.engines import BuiltEngine, EngineName
from pincite.core.protocols import Match, Vector
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.query.retrieve.fusion import Fusion, Ranking


@dataclass(frozen=True, slots=True)
class FirstPass:
    """What dense and lexical search found: the vectors of the queries, each ranking, and their fused scores."""

    vectors: Mapping[int, Vector]
    rankings: Sequence[Ranking]
    fusion: Fusion

    def best(self, most: int) -> list[int]:
        """The chunks with the best fused scores, best first."""
        scores = self.fusion.scores
        return sorted(scores, key=lambda key: (-scores[key], key))[:most]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine: its span, the data it needs, its weight in fusion, its setting, and when it helps without it."""

    name: EngineName
    stage: str
    needs: BuiltEngine
    weight: float
    enabled: Callable[[Rag], bool]
    helps: Callable[[Plan], bool]
    open: "Callable[[Run, Plan], EngineSearch]"


class EngineSearch(Protocol):
    """The search of an engine for one question."""

    async def search(self, first: FirstPass) -> Sequence[Match]: ...


def in_fusion(plan: Plan) -> bool:
    """Whether the strategy uses every engine that is built."""
    return plan.strategy == "fusion"
