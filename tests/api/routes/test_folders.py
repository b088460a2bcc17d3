"""Folders over HTTP."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2

from pincite.core.documents.document import Folder, Upload
from pincite.core.query.question import Filters, Question
from pincite.stub.thread import StubLLM
from tests.api.live_server import LiveServer, assert_problem

FOLDERS, DOCUMENTS = "/api/v1/folders", "/api/v1/documents"


def test_a_folder_is_made_listed_changed_and_removed(client: httpx2.Client, folder: str) -> None:
    made = client.post(FOLDERS, json={"path": f"/{folder}/a/", "system_prompt": "Be brief.", "category_label": "A"})
    assert made.status_code == 201
    assert made.json() == {
        "path": f"{folder}/a",
        "system_prompt": "Be brief.",
        "category_label": "A",
        "documents": 0,
        "access": None,
    }
    assert_problem(client.post(FOLDERS, json={"path": f"{folder}/a"}), 409, "conflict")
    listed = client.get(FOLDERS).json()["items"]
    assert made.json() in listed
    assert client.get(FOLDERS, params={"limit": 1, "cursor": folder}).json()["items"] == [made.json()]
    changed = client.patch(FOLDERS, json={"path": f"{folder}/a", "category_label": None})
    assert (changed.json()["system_prompt"], changed.json()["category_label"]) == ("Be brief.", None)
    gone = client.delete(FOLDERS, params={"path": f"{folder}/a"})
    assert gone.json() == {"path": f"{folder}/a", "receipts": []}
    assert_problem(client.delete(FOLDERS, params={"path": f"{folder}/a"}), 404, "not_found")


def test_a_moved_folder_takes_its_documents_along_and_a_removed_one_gives_receipts(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    added = live_server.add(f"{folder}/old", **{"a.md": "Cats purr.", "b.md": "Dogs bark."})
    moved = client.patch(FOLDERS, json={"path": f"{folder}/old", "new_path": f"{folder}/new"})
    assert (moved.json()["path"], moved.json()["documents"]) == (f"{folder}/new", 2)
    assert client.get(f"{DOCUMENTS}/{added['a.md']['id']}").json()["folder"] == f"{folder}/new"
    found = client.post("/api/v1/search", json={"query": "cats", "folder": f"{folder}/new"}).json()
    assert found["results"][0]["metadata"]["folder"] == f"{folder}/new"
    assert_problem(client.delete(FOLDERS, params={"path": folder}), 409, "conflict")
    gone = client.delete(FOLDERS, params={"path": folder, "recursive": True}).json()
    assert {receipt["document_id"] for receipt in gone["receipts"]} == {one["id"] for one in added.values()}
    assert all(receipt["verified"] for receipt in gone["receipts"])


def test_a_document_is_given_another_title_folder_and_tags(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    document = live_server.add(folder, **{"a.md": "Cats purr."})["a.md"]
    path = f"{DOCUMENTS}/{document['id']}"
    changed = client.patch(path, json={"title": "Cats", "folder": f"{folder}/x", "tags": ["t", "t", "u"]})
    assert changed.status_code == 200
    told = changed.json()
    assert (told["id"], told["title"], told["folder"], told["tags"]) == (
        document["id"],
        "Cats",
        f"{folder}/x",
        ["t", "u"],
    )
    assert [one["id"] for one in client.get(DOCUMENTS, params={"folder": folder, "tag": "u"}).json()["items"]] == [
        document["id"]
    ]
    assert client.patch(path, json={}).json()["title"] == "Cats"
    assert_problem(client.patch(path, json={"title": ""}), 422, "invalid")
    assert client.patch(path, json={"access": {"everyone": True}}).json()["access"]["everyone"] is True
    assert client.patch(path, json={"title": "Cats", "access": None}).json()["access"]["everyone"] is False
    assert_problem(client.patch(f"{DOCUMENTS}/nonesuch", json={"title": "x"}), 404, "not_found")


def test_readers_change_nothing_and_the_top_is_no_folder(reader: httpx2.Client, client: httpx2.Client) -> None:
    assert reader.get(FOLDERS).status_code == 200
    assert_problem(reader.post(FOLDERS, json={"path": "x"}), 403, "not_allowed")
    assert_problem(reader.patch(FOLDERS, json={"path": "x"}), 403, "not_allowed")
    assert_problem(reader.delete(FOLDERS, params={"path": "x"}), 403, "not_allowed")
    assert_problem(client.post(FOLDERS, json={"path": "/"}), 422, "bad_folder")
    assert_problem(client.post(FOLDERS, json={"path": "a/../b"}), 422, "bad_folder")


def test_questions_about_a_folder_are_answered_under_its_prompt_and_label(open_pincite: Callable[..., Any]) -> None:
    async def go(stub: StubLLM) -> None:
        async with open_pincite(llm__base_url=stub.url, llm__model="stub-1") as pincite:
            pincite.services.workers.start()
            for folder in ("hr/rules", "it"):
                added = await pincite.documents.upload(Upload("a.md", b"Cats purr when they sleep.", folder))
                await pincite.documents.wait([added.document.id])
            scope = await pincite.scope()
            await pincite.services.folders.make(scope, Folder("hr", "Answer like a lawyer.", "Human resources"))

            async def system(folder: str | None, **sampling: Any) -> tuple[str, list[str | None]]:
                question = Question("When do cats purr?", filters=Filters(folder=folder))
                answer = await pincite.ask(question)
                message = stub.calls[-1].body["messages"][0]
                return message["content"], [one.category for one in answer.related_documents]

            told, categories = await system("hr/rules")
            assert told.startswith("Answer like a lawyer.\n\n")
            assert categories == ["Human resources"]
            told, categories = await system("it")
            assert "lawyer" not in told
            assert categories == ["it"]
            told, _ = await system(None)
            assert "lawyer" not in told

    with StubLLM() as stub:
        asyncio.run(go(stub))
