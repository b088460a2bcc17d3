import asyncio
from collections.abc import Callable

from pincite.core.run import Run
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.query.rank.score_opened import passage_scoring
from tests.builders import found, plan

TEXTS = {1: "The mill was built in 1902.", 2: "The canteen opens at noon."}


def test_opened_passages_are_scored_in_their_order(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, {1: 0.9, 2: 0.1}, {})
    passages = [found(TEXTS[2], key=2), found(TEXTS[1], key=1)]
    canteen, mill = asyncio.run(passage_scoring(run, plan("When was the mill built?"), passages))
    assert (canteen.chunk.key, mill.chunk.key) == (2, 1)
    assert mill.relevance > canteen.relevance
    assert mill.similarity == 0.9


def test_without_the_embedder_it_goes_by_words_and_says_so(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, {}, {}, embedder=ScriptedEmbedder(Options(fail="away")))
    [mill, canteen] = asyncio.run(
        passage_scoring(run, plan("When was the mill built?"), [found(TEXTS[1]), found(TEXTS[2], key=2)])
    )
    assert mill.relevance > canteen.relevance
    assert [note.stage for note in run.degraded] == ["query_embedding"]
