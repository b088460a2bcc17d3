"""A reranker that is down or returns nonsense: the search order stays, and the answer reports it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import SearchResult
from pincite.core.query.question import Question
from pincite.errors import Invalid, SettingsError
from pincite.stub.faults import FAULTS
from tests.cross_encoder_maker import make_cross_encoder

from .bench import LEAVE, Bench

WHOLE = {"notools", "noschema", "empty", "tools", "bytes", "split", "crlf", "comments", "bom"}
"""Faults of streams, which do not apply to a reply in one piece."""
RETRIED = {"429", "500", "503", "reset", "cut", "eof"}
QUERY = "vacation days in France"


@pytest.fixture(scope="module", autouse=True)
def second(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A second document, so that there is an order to change."""
    file = tmp_path_factory.mktemp("more") / "france.md"
    file.write_text(f"# France\n\n{LEAVE.splitlines()[-1]} They lapse in May.\n", encoding="utf-8")
    bench.play()
    bench.run(bench.pincite.add(file))


def search(bench: Bench, *faults: str, **settings: object) -> SearchResult:
    """One search; the first call is the embedding, the following ones are reranking."""
    reranker = {"rag__reranker": "rerank_api", "rerank__base_url": bench.stub.url}
    bench.play(*faults, **{**reranker, **settings})
    return bench.run(bench.pincite.search(Question(QUERY)))


def ids(result: SearchResult) -> list[str]:
    return [hit.chunk.id for hit in result.hits]


@pytest.fixture(scope="module")
def usual(bench: Bench, second: None) -> list[str]:
    return ids(search(bench, rag__reranker="none"))


@pytest.mark.parametrize("shape", ["tei", "cohere", "jina"])
def test_a_reranker_over_http_changes_the_order(bench: Bench, usual: list[str], shape: str) -> None:
    found = search(bench, rerank__shape=shape, rerank__model="m", rerank__batch=1)
    assert found.degraded == ()
    assert sorted(ids(found)) == sorted(usual)
    scores = [hit.score for hit in found.hits]
    assert scores == [hit.rerank_score for hit in found.hits] == sorted(scores, reverse=True)
    assert [call.path for call in bench.stub.calls][1:] == ["/v1/rerank"] * len(usual)


@pytest.mark.parametrize("fault", [*FAULTS, "400", "401", "404", "429", "500", "503"])
def test_the_search_answers_under_every_fault_of_the_reranker(bench: Bench, usual: list[str], fault: str) -> None:
    found = search(bench, f"{fault}@2-", rerank__timeout_s=0.8 if fault in ("silent", "hang", "endless") else 30)
    calls = [call.path for call in bench.stub.calls].count("/v1/rerank")
    if fault in WHOLE:
        assert found.degraded == ()
        return
    assert [note.stage for note in found.degraded] == ["reranking"]
    assert ids(found) == usual
    assert all(hit.score == hit.hybrid_score and hit.rerank_score is None for hit in found.hits)
    assert calls == (4 if fault in RETRIED else 1)


def test_a_temporary_failure_is_retried(bench: Bench) -> None:
    found = search(bench, "503@2-3")
    assert found.degraded == ()
    assert [call.fault for call in bench.stub.calls] == ["", "503", "503", ""]


def test_the_breaker_opens_for_a_reranker_that_keeps_failing(bench: Bench, usual: list[str]) -> None:
    search(bench, "500@2-", resilience__breaker_failures=2)
    again = bench.run(bench.pincite.search(Question(QUERY)))
    assert ids(again) == usual
    assert "times in a row" in again.degraded[0].reason
    assert [call.path for call in bench.stub.calls].count("/v1/rerank") == 2


def test_a_cross_encoder_ranks_for_a_profile_and_a_missing_model_folder_is_reported(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "cats.md").write_text("# Cats\n\ncats purr\n\n# Stock\n\nthe stock market fell\n", encoding="utf-8")
    path = make_cross_encoder(tmp_path / "model")

    async def go() -> None:
        async with open_pincite(rerank__path=path) as pincite:
            await pincite.add(tmp_path / "cats.md")
            found = await pincite.search(Question("why cats purr", profile="vexora"))
            assert found.hits
            assert [hit.rerank_score for hit in found.hits] == [hit.score for hit in found.hits]
            assert "reranking" not in {note.stage for note in found.degraded}
            assert not [note for note in found.degraded if "to rerank" in note.reason]
            plain = await pincite.search(Question("why cats purr"))
            assert {hit.rerank_score for hit in plain.hits} == {None}
        async with open_pincite(rerank__path=str(tmp_path / "gone")) as pincite:
            with pytest.raises(Invalid, match=r"rerank\.path: there is no model\.onnx in"):
                await pincite.search(Question("why cats purr", profile="vexora"))
        with pytest.raises(SettingsError, match=r"rerank\.path: there is no model\.onnx in"):
            async with open_pincite(rerank__path=str(tmp_path / "gone"), rag__reranker="cross_encoder"):
                pass

    asyncio.run(go())
