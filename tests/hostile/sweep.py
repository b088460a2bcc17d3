"""Sends requests of every kind as users without permission, and searches the responses for secret words."""

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
    """An owner's documents, conversations, jobs and folders with unique words, and other users with their keys."""

    door: LiveServer
    words: Sequence[str]
    ids: Mapping[str, str]
    clients: Mapping[str, httpx2.Client]
    keys: Mapping[str, str]

    @property
    def secret(self) -> list[str]:
        """The words that no request contains; names in requests, such as folders, may be echoed."""
        return [word for word in self.words if not any(word in named for named in self.ids.values())]

    def close(self) -> None:
        """Close the clients."""
        for client in self.clients.values():
            client.close()


def world(door: LiveServer) -> World:
    """Create the users and documents through the HTTP API."""
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
    for role in ROLES[1:]:  # users with write permission get a document, so that searches find something
        mine = clients[f"canary {role}"]
        upload(mine, "leave.md", "# Leave\n\nFive vacation days carry over. The pump needs grease.\n", folder="own")
        completed(mine, "own")
    return World(door, words, ids, clients, keys)


def _filled(owner: httpx2.Client, words: Sequence[str]) -> dict[str, str]:
    folder = f"{words[0]}/{words[1]}"
    for n in range(2, 30, 3):
        tag, title, last = words[n : n + 3]
        body = f"The {tag} {title} vacation days carry over. {last} pump."
        text = f"---\ntags: [{tag}]\n---\n# {title}\n\n{body}\n"
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
        "document": documents[0]["id"],
        "folder": folder,
        "session": chat["session_id"],
        "job": str(job),
        "trace": chat["metadata"]["trace_id"],
        "answer": chat["id"],
        "uri": f"https://{words[2]}.example/x",
    }


def misspelled(word: str, dice: random.Random) -> str:
    """A word with one wrong letter; a spelling correction would reveal the word."""
    at = dice.randrange(1, len(word))
    return word[:at] + dice.choice([letter for letter in "aeiou" if letter != word[at]]) + word[at + 1 :]


def requests(world: World, number: int, seed: int = 7) -> Iterator[Request]:
    """A sample of `number` requests over all routes; whole secret words occur only in ids, folders and addresses."""
    dice = random.Random(seed)
    for n in range(number):
        near = misspelled(dice.choice(world.words), dice)
        text = dice.choice(
            (PLAIN, near, f"Where is the {near} pump?", f'"{near}"', f"{near}*", "pump", "summary of everything")
        )
        yield REQUEST_MAKERS[n % len(REQUEST_MAKERS)](world, text, dice)


RequestMaker = Callable[[World, str, random.Random], Request]


def _searching(strategy: str, **more: Any) -> RequestMaker:
    def door(world: World, text: str, dice: random.Random) -> Request:
        return Request(
            "POST",
            "/search",
            body={"query": text, "strategy": strategy, "explain": dice.random() < 0.5, "top_k": 50, **more},
        )

    return door


def _get(path: str, /, **params: str) -> RequestMaker:
    def door(world: World, text: str, dice: random.Random) -> Request:
        ids = {**world.ids, "near": text}
        return Request("GET", path.format(**ids), {name: value.format(**ids) for name, value in params.items()})

    return door


def _post(path: str, /, **body: Any) -> RequestMaker:
    def door(world: World, text: str, dice: random.Random) -> Request:
        ids = {**world.ids, "near": text}
        filled = json.loads(json.dumps(body), object_hook=lambda found: {k: _fill(v, ids) for k, v in found.items()})
        return Request("POST", path.format(**ids), body=filled)

    return door


def _fill(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return value.format(**ids)
    return [_fill(one, ids) for one in value] if isinstance(value, list) else value


REQUEST_MAKERS: tuple[RequestMaker, ...] = (
    *(_searching(strategy) for strategy in STRATEGIES),
    _searching("hybrid", levels=[0, 1, 2]),
    _searching("hybrid", as_of="2100-01-01T00:00:00Z"),
    _post("/search", query="{near}", folder="{folder}"),
    _post("/search", query="{near}", document_ids=["{document}"]),
    _post("/query-many", queries=["{near}", "pump"]),
    _post("/query", query="{near}"),
    _post("/query", query="{near}", document_ids=["{document}"]),
    _post("/query", query="{near}", stream=True),
    _post("/query", query="{near}", intelligence_level="maximum"),
    _post("/query", query="{near}", enable_document_expansion=True),
    _post("/chat", message="{near}"),
    _post("/chat", message="{near}", stream=True),
    _post("/chat", message="and there?", session_id="{session}"),
    _post("/documents/read", doc_id="{document}"),
    _post("/documents/read", source_uri="{uri}"),
    _post("/documents/start", document_ids=["{document}"]),
    _post("/documents/reindex", document_ids=["{document}"]),
    _post("/traces/{trace}/replay", changes={}),
    _post("/embedding", input="{near}"),
    _post("/feedback", answer_id="{answer}", rating="up"),
    _post("/shares", answer_id="{answer}"),
    _post("/folders", path="{near}"),
    _post("/evaluations", questions=3, renew=True),
    _get("/documents"),
    _get("/documents", q="{near}"),
    _get("/documents", folder="{folder}"),
    _get("/documents", tag="{near}"),
    *(_get(f"/documents/{{document}}{rest}") for rest in ("", "/versions", "/chunks", "/file", "/diff", "/pages/1")),
    _get("/documents/{document}/places", start="0", end="5"),
    *(_get(path) for path in ("/folders", "/jobs", "/sessions")),
    _get("/sessions", q="{near}"),
    *(_get(path) for path in ("/sessions/{session}", "/traces", "/traces/{trace}", "/evaluations", "/evaluation-sets")),
    *(_get(path) for path in ("/me", "/users", "/groups", "/keys", "/metrics", "/health/details", "/health/ready")),
    *(_get(path) for path in ("/settings", "/settings/history", "/profiles", "/index", "/audit", "/openapi.json")),
    *(_get(path) for path in ("/{near}", "/chat/streams/{answer}", "/shares/{answer}", "/cache")),
)
"""All requests. Some paths are no routes yet; their error responses must not reveal anything either."""


def leaks(world: World, who: str, request: Request) -> list[str]:
    """The secret words in the response to a request."""
    more: dict[str, Any] = {"json": request.body} if request.body is not None else {}
    response = world.clients[who].request(request.method, f"{API}{request.path}", params=dict(request.params), **more)
    assert response.status_code < 500, f"{request}: {response.text}"
    content = f"{response.text} {dict(response.headers)}".casefold()
    return [f"{word} for {who} by {request.method} {request.path}" for word in world.secret if word in content]


def over_websocket(world: World, who: str, text: str) -> list[str]:
    """The secret words in the answer to a question over a WebSocket."""
    address = world.door.url.replace("http://", "ws://") + f"{API}/chat/ws"
    headers = {"Authorization": f"Bearer {world.keys[who]}"}
    with connect(address, additional_headers=headers, proxy=None, open_timeout=20) as socket:
        socket.send(json.dumps({"message": text}))
        received = ""
        while '"done"' not in received and '"error"' not in received:
            received += str(socket.recv(timeout=30))
    return [f"{word} over the WebSocket" for word in world.secret if word in received]
