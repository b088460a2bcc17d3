"""Unreadable documents cannot be noticed: results are the same with and without them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from pincite.api.paths import API
from tests.api.live_server import LiveServer, assert_problem, completed, upload

OWN_WORDS = {"id", "request_id", "trace_id", "session_id", "durations_ms", "created_at", "updated_at"}
"""What differs from one request to the next, whoever asks."""
SHARED = {
    "leave": "# Leave\n\nFive vacation days carry over to the next year.\n",
    "travel": "# Travel\n\nTrain tickets are paid by the company, taxis are not.\n",
    "herons": "# Herons\n\nHerons stand in the reeds and wait for vacation guests.\n",
}
HIDDEN = {
    "leave-2": "# Leave\n\nFive vacation days carry over to the next year, says the kestrelmemo.\n",
    "more": "# Kestrelmemo\n\n"
    + "Vacation, vacation days, herons and trains; the kestrelmemo repeats vacations.\n" * 30,
    "travel": "# Travel\n\nTrain tickets are never paid, taxis are; see the kestrelmemo on herons.\n",
}
SEARCHES: tuple[dict[str, Any], ...] = (
    {"query": "vacation days", "explain": True},
    {"query": "train tickets herons", "explain": True, "levels": [0, 1, 2]},
    {"query": "vacaton dayz"},
    {"query": "kestrelmem"},
    {"query": "kestrelmemo", "explain": True},
    {"query": "Leave", "folder": "hidden-shard"},
    {"query": "Leave", "folder": "hidden-secret", "tags": ["kestrel"]},
    {"query": "herons", "strategy": "two_stage", "explain": True},
)


@dataclass(frozen=True)
class Pair:
    """Somebody with whom a folder is shared, and an owner who has more than that."""

    live_server: LiveServer
    owner: httpx2.Client
    reader: httpx2.Client


@pytest.fixture(scope="module")
def pair(live_server: LiveServer) -> Iterator[Pair]:
    with live_server.client() as boss:
        clients = []
        for name in ("hidden-owner", "hidden-reader"):
            boss.post(f"{API}/users", json={"name": name, "role": "editor"}).raise_for_status()
            key = boss.post(f"{API}/keys", json={"name": name, "user": name, "role": "editor"}).json()["key"]
            clients.append(
                httpx2.Client(base_url=live_server.url, headers={"Authorization": f"Bearer {key}"}, timeout=300)
            )
    owner, reader = clients
    access = {"users": ["hidden-reader"]}
    owner.post(f"{API}/folders", json={"path": "hidden-shared", "access": access}).raise_for_status()
    for stem, text in SHARED.items():
        upload(owner, f"{stem}.md", text, folder="hidden-shared", tags="plain").raise_for_status()
    completed(owner, "hidden-shared")
    yield Pair(live_server, owner, reader)
    for client in clients:
        client.close()


def told(client: httpx2.Client) -> list[Any]:
    """Everything a user sees on routes that count, score, correct or list."""
    asked = [client.post(f"{API}/search", json=body) for body in SEARCHES]
    asked.append(client.post(f"{API}/query-many", json={"queries": ["vacation", "herons"], "explain": True}))
    asked += [
        client.post(f"{API}/query", json={"query": one, "no_cache": True})
        for one in ("How many vacation days carry over?", "kestrelmemo?")
    ]
    asked += [client.get(f"{API}/documents", params={"q": word}) for word in ("", "leave", "kestrelmemo")]
    asked += [
        client.get(f"{API}/documents", params=params) for params in ({"tag": "kestrel"}, {"folder": "hidden-secret"})
    ]
    asked += [client.get(f"{API}/{noun}") for noun in ("folders", "jobs", "me", "evaluation-sets")]
    assert {response.status_code for response in asked} <= {200, 404}  # 404: the folder is unknown to this user
    return [(response.status_code, plain(response.json())) for response in asked]


def plain(value: Any) -> Any:
    """A value without what differs each time."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key not in OWN_WORDS}
    return [plain(one) for one in value] if isinstance(value, list) else value


def test_counts_scores_words_and_suggestions_are_the_same_with_and_without_hidden_documents(pair: Pair) -> None:
    before = told(pair.reader)
    assert before == told(pair.reader)  # what is compared does not change by itself
    pair.owner.post(f"{API}/folders", json={"path": "hidden-secret", "category_label": "Secret"}).raise_for_status()
    for stem, text in HIDDEN.items():
        upload(pair.owner, f"{stem}.md", text, folder="hidden-secret", tags="kestrel").raise_for_status()
    upload(pair.owner, "held.md", "# Held", folder="hidden-held", start="false").raise_for_status()
    completed(pair.owner, "hidden-secret")
    assert told(pair.owner) != before
    assert told(pair.reader) == before


def test_an_upload_does_not_reveal_equal_files_of_other_users(pair: Pair) -> None:
    upload(pair.owner, "twin.md", "# Twin\n\nThe same bytes.\n", folder="hidden-twins").raise_for_status()
    completed(pair.owner, "hidden-twins")
    twin = upload(pair.reader, "twin.md", "# Twin\n\nThe same bytes.\n", folder="hidden-twins", start="false")
    fresh = upload(pair.reader, "lone.md", "# Lone\n\nNobody's bytes.\n", folder="hidden-twins", start="false")
    assert (twin.status_code, set(twin.json())) == (fresh.status_code, set(fresh.json())) == (202, {"document"})
    assert twin.json()["document"]["access"]["owner"] == "hidden-reader"


@pytest.mark.parametrize("address", ["documents/start", "documents/reindex"])
def test_a_batch_with_one_foreign_document_is_refused_as_a_whole(pair: Pair, address: str) -> None:
    name = f"hidden-batch-{address.rpartition('/')[2]}"
    foreign = upload(pair.owner, "foreign.md", "# Foreign", folder=name, start="false").json()["document"]["id"]
    own = upload(pair.reader, "own.md", "# Own", folder=name, start="false").json()["document"]["id"]
    for others in (foreign, "nosuchdocument00"):
        refused = pair.reader.post(f"{API}/{address}", json={"document_ids": [own, others]})
        assert refused.json()["detail"] == f"there is no document '{others}'"
        assert_problem(refused, 404, "not_found")
    for client, document in ((pair.reader, own), (pair.owner, foreign)):
        assert client.get(f"{API}/documents/{document}").json()["status"] == "pending"


def test_a_search_treats_a_foreign_document_id_as_unknown(pair: Pair) -> None:
    [own, *_] = pair.reader.get(f"{API}/documents", params={"folder": "hidden-shared", "q": "leave"}).json()["items"]
    foreign = upload(pair.owner, "far.md", "# Vacation days", folder="hidden-far").json()["document"]["id"]
    completed(pair.owner, "hidden-far")
    answers = []
    for others in (foreign, "nosuchdocument00"):
        body = {"query": "vacation days", "document_ids": [own["id"], others]}
        found = pair.reader.post(f"{API}/search", json=body).json()
        assert {hit["metadata"]["document_id"] for hit in found["results"]} == {own["id"]}
        answers.append(plain(found) | {"degraded": str(found["degraded"]).replace(others, "it")})
    assert answers[0] == answers[1]
