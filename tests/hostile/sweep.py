"""Requests of every kind by people who may not read something, and a look for its words in all that comes back."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from websockets.sync.client import connect

from tests.api.live_server import LiveServer, completed, upload
from tests.hostile.attacks import canaries

API = "/api/v1"
STRATEGIES = ("hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical")
PLAIN = "How many vacation days carry over?"
OWNER = "canary owner"
ROLES = ("reader", "editor", "administrator")


@dataclass(frozen=True)
class Request:
    """One request."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True)
class World:
    """An owner's documents, conversation, jobs and folders, full of words that stand nowhere else; others, and their keys."""

    door: LiveServer
    words: Sequence[str]
    ids: Mapping[str, str]
    clients: Mapping[str, httpx2.Client]
    keys: Mapping[str, str]

    @property
    def secret(self) -> list[str]:
        """The words that no request says: what it asks for by name, such as a folder, may come back."""
        return [word for word in self.words if not any(word in named for named in self.ids.values())]

    def close(self) -> None:
        """Hang up."""
        for client in self.clients.values():
            client.close()


def world(door: LiveServer) -> World:
    """Made through HTTP, as its people would."""
    words = list(canaries("sweep", 60))
    clients, keys = dict[str, httpx2.Client](), dict[str, str]()
    with door.client() as boss:
        for name, role in ((OWNER, "editor"), *((f"canary {role}", role) for role in ROLES)):
            boss.post(f"{API}/users", json={"name": name, "role": role})
            keys[name] = boss.post(f"{API}/keys", json={"name": name, "user": name, "role": role}).json()["key"]
            headers = {"Authorization": f"Bearer {keys[name]}"}
            clients[name] = httpx2.Client(base_url=door.url, headers=headers, timeout=60)
    owner = clients[OWNER]
    ids = _filled(owner, words)
    for role in ROLES[1:]:  # who may write has something of their own, so that there is something to find
        mine = clients[f"canary {role}"]
        upload(mine, "leave.md", "# Leave\n\nFive vacation days carry over. The pump needs grease.\n", folder="own")
        completed(mine, "own")
    return World(door, words, ids, clients, keys)


def _filled(owner: httpx2.Client, words: Sequence[str]) -> dict[str, str]:
    folder = f"{words[0]}/{words[1]}"
    for n in range(2, 30, 3):
        text = f"---\ntags: [{words[n]}]\n---\n# {words[n + 1]}\n\nThe {words[n]} {words[n + 1]} vacation days carry over. {words[n + 2]} pump.\n"
        answer = upload(
            owner,
            f"{words[n]}.md",
            text,
            folder=folder,
            source_uri=f"https://{words[n]}.example/x",
            author=words[n + 1],
        )
        assert answer.status_code == 202, answer.text
    documents = completed(owner, folder)
    owner.post(
        f"{API}/folders", json={"path": folder, "system_prompt": f"Mention {words[30]}.", "category_label": words[31]}
    )
    upload(owner, f"{words[32]}.md", f"# {words[32]}", folder=folder, start="false")
    chat = owner.post(f"{API}/chat", json={"message": f"Where is the {words[33]} {words[2]} pump?"}).json()
    owner.patch(f"{API}/sessions/{chat['session_id']}", json={"title": words[34]})
    owner.post(f"{API}/search", json={"query": f"{words[35]} {words[3]}"})
    job = owner.get(f"{API}/jobs").json()["items"][0]["id"]
    return {
        "document": documents[0]["id"], "folder": folder, "session": chat["session_id"], "job": str(job),
        "trace": chat["metadata"]["trace_id"], "answer": chat["id"], "uri": f"https://{words[2]}.example/x",
    }  # fmt: skip


def slipped(word: str, dice: random.Random) -> str:
    """A word with one letter wrong: what a correction would betray."""
    at = dice.randrange(1, len(word))
    return word[:at] + dice.choice([letter for letter in "aeiou" if letter != word[at]]) + word[at + 1 :]


def requests(world: World, number: int, seed: int = 7) -> Iterator[Request]:
    """So many, drawn from every door; none says a whole secret word but in an id, a folder or an address."""
    dice = random.Random(seed)
    for n in range(number):
        near = slipped(dice.choice(world.words), dice)
        text = dice.choice(
            (PLAIN, near, f"Where is the {near} pump?", f'"{near}"', f"{near}*", "pump", "summary of everything")
        )
        yield DOORS[n % len(DOORS)](world, text, dice)


Door_ = Callable[[World, str, random.Random], Request]


def _searching(strategy: str, **more: Any) -> Door_:
    def door(world: World, text: str, dice: random.Random) -> Request:
        return Request(
            "POST",
            "/search",
            body={"query": text, "strategy": strategy, "explain": dice.random() < 0.5, "top_k": 50, **more},
        )

    return door


def _get(path: str, /, **params: str) -> Door_:
    def door(world: World, text: str, dice: random.Random) -> Request:
        ids = {**world.ids, "near": text}
        return Request("GET", path.format(**ids), {name: value.format(**ids) for name, value in params.items()})

    return door


def _post(path: str, /, **body: Any) -> Door_:
    def door(world: World, text: str, dice: random.Random) -> Request:
        ids = {**world.ids, "near": text}
        filled = json.loads(json.dumps(body), object_hook=lambda found: {k: _fill(v, ids) for k, v in found.items()})
        return Request("POST", path.format(**ids), body=filled)

    return door


def _fill(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return value.format(**ids)
    return [_fill(one, ids) for one in value] if isinstance(value, list) else value


DOORS: tuple[Door_, ...] = (
    *(_searching(strategy) for strategy in STRATEGIES),
    _searching("hybrid", levels=[0, 1, 2]), _searching("hybrid", as_of="2100-01-01T00:00:00Z"),
    _post("/search", query="{near}", folder="{folder}"), _post("/search", query="{near}", document_ids=["{document}"]),
    _post("/query-many", queries=["{near}", "pump"]),
    _post("/query", query="{near}"), _post("/query", query="{near}", document_ids=["{document}"]), _post("/query", query="{near}", stream=True),
    _post("/query", query="{near}", intelligence_level="maximum"), _post("/query", query="{near}", enable_document_expansion=True),
    _post("/chat", message="{near}"), _post("/chat", message="{near}", stream=True), _post("/chat", message="and there?", session_id="{session}"),
    _post("/documents/read", doc_id="{document}"), _post("/documents/read", source_uri="{uri}"), _post("/documents/start", document_ids=["{document}"]),
    _post("/documents/reindex", document_ids=["{document}"]), _post("/traces/{trace}/replay", changes={}), _post("/embedding", input="{near}"),
    _post("/feedback", answer_id="{answer}", rating="up"), _post("/shares", answer_id="{answer}"),
    _post("/folders", path="{near}"), _post("/evaluations", questions=3, renew=True),
    _get("/documents"), _get("/documents", q="{near}"), _get("/documents", folder="{folder}"), _get("/documents", tag="{near}"),
    *(_get(f"/documents/{{document}}{rest}") for rest in ("", "/versions", "/chunks", "/file", "/diff", "/pages/1")),
    _get("/documents/{document}/places", start="0", end="5"),
    _get("/folders"), _get("/jobs"), _get("/sessions"), _get("/sessions", q="{near}"), _get("/sessions/{session}"), _get("/traces"), _get("/traces/{trace}"),
    _get("/evaluations"), _get("/evaluation-sets"), _get("/me"), _get("/users"), _get("/groups"), _get("/keys"), _get("/metrics"), _get("/health/details"),
    _get("/health/ready"), _get("/settings"), _get("/settings/history"), _get("/profiles"), _get("/index"), _get("/audit"), _get("/openapi.json"), _get("/{near}"),
    _get("/chat/streams/{answer}"), _get("/shares/{answer}"), _get("/cache"),
)  # fmt: skip
"""Every way in. Some are no routes yet: what answers there must not tell either."""


def leaks(world: World, who: str, request: Request) -> list[str]:
    """The secret words in what comes back, that were not in what was asked."""
    more: dict[str, Any] = {"json": request.body} if request.body is not None else {}
    response = world.clients[who].request(request.method, f"{API}{request.path}", params=dict(request.params), **more)
    assert response.status_code < 500, f"{request}: {response.text}"
    told = f"{response.text} {dict(response.headers)}".casefold()
    return [f"{word} for {who} by {request.method} {request.path}" for word in world.secret if word in told]


def over_websocket(world: World, who: str, text: str) -> list[str]:
    """The same for a question over a WebSocket."""
    address = world.door.url.replace("http://", "ws://") + f"{API}/chat/ws"
    headers = {"Authorization": f"Bearer {world.keys[who]}"}
    with connect(address, additional_headers=headers, proxy=None, open_timeout=20) as socket:
        socket.send(json.dumps({"message": text}))
        told = ""
        while '"done"' not in told and '"error"' not in told:
            told += str(socket.recv(timeout=30))
    return [f"{word} over the socket" for word in world.secret if word in told]
