import asyncio
import inspect
from pathlib import Path

import pytest

from pincite import AsyncPincite, Pincite
from pincite.errors import NotFound, StoreDown


def test_the_synchronous_api_matches_the_asynchronous_one(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "cats.md").write_text("# Cats\n\nCats purr when they are content.\n", encoding="utf-8")
    settings = {"database.url": database_url, "embedding.provider": "scripted"}
    with Pincite(tmp_path / "data", settings=settings) as pincite:
        cats = pincite.add(tmp_path / "cats.md")
        answer = pincite.ask("Why do cats purr?")
        assert "content" in answer.text
        assert answer.citations[0].quote == "Cats purr when they are content."
        assert [document.id for document in pincite.documents()] == [cats.id]
        assert pincite.search("purr").hits[0].chunk.document_id == cats.id
        assert pincite.get(cats.id).chunks == 1
        assert [one.outcome for one in pincite.add_all(tmp_path / "cats.md").added] == ["unchanged"]
        [(_, error)] = pincite.add_from_web("https://cats.example/").refused
        assert error.code == "web_off"
        flow = {
            "nodes": [{"id": "docs", "type": "rag"}, {"id": "answer", "type": "completion"}],
            "edges": [{"from": "docs", "to": "answer"}],
        }
        assert "content" in pincite.run_flow(flow, "Why do cats purr?").text
        assert pincite.save_flow("cats", flow).version == 1
        assert pincite.save_flow("cats", {**flow, "input": "Why do cats purr?"}).version == 2
        assert "content" in pincite.run_flow("cats").text
        assert "content" in pincite.run_flow("cats", "Why do cats purr?", version=1).text
        assert [(one.name, one.version) for one in pincite.flows()] == [("cats", 2)]
        assert [one.version for one in pincite.flow_versions("cats")] == [2, 1]
        assert pincite.remove_flow("cats") == 2
        assert pincite.flows() == []
        assert pincite.remove(cats.id).verified
        with pytest.raises(NotFound):
            pincite.get(cats.id)
    with pytest.raises(RuntimeError, match="open the library first"):
        pincite.documents()


def test_every_method_takes_the_same_arguments_in_both_apis() -> None:
    for name, method in inspect.getmembers(Pincite, inspect.isfunction):
        if name.startswith("_") or name == "documents":  # an object in the asynchronous API, called the same way
            continue
        own = list(inspect.signature(method).parameters.values())
        others = inspect.signature(getattr(AsyncPincite, name)).parameters
        assert [one.name for one in own] == [key for key in others if key in {one.name for one in own}], name
        assert all((one.kind, one.default) == (others[one.name].kind, others[one.name].default) for one in own), name


def test_the_asynchronous_api_adds_folders_and_lists_them(database_url: str, tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "team").mkdir()
        (tmp_path / "team" / "cats.md").write_text("# Cats\n\nCats purr.\n", encoding="utf-8")
        settings = {"database.url": database_url, "embedding.provider": "scripted"}
        async with AsyncPincite(tmp_path / "data", settings=settings) as pincite:
            [added] = (await pincite.add_all(str(tmp_path / "team"), folder="x")).added
            assert added.document.folder == "x/team"
            assert [one.name for one in await pincite.documents("x")] == ["cats.md"]
            assert [one.name for one in await pincite.documents(folder="x/team")] == ["cats.md"]
            assert await pincite.documents("y") == []
            [(_, error)] = (await pincite.add_from_web("https://cats.example/", folder="x")).refused
            assert error.code == "web_off"

    asyncio.run(main())


def test_a_failed_start_leaves_no_thread(tmp_path: Path) -> None:
    import threading

    before = threading.active_count()
    settings = {"database.url": "postgresql:///x?host=/nonexistent", "embedding.provider": "scripted"}
    with pytest.raises(StoreDown), Pincite(tmp_path, settings=settings):
        pytest.fail("it must not start")
    for thread in threading.enumerate():
        if thread.name == "pincite":
            thread.join(timeout=5)
    assert threading.active_count() <= before
