"""A server that works by one design's profile, with a model server behind it that says what it is told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from pincite.config.profiles import find_profile, for_library
from pincite.config.sources import load_settings
from pincite.stub.thread import StubLLM
from tests.api.live_server import LiveServer, events


@dataclass
class Walk:
    """What one walks through a design with."""

    door: LiveServer
    client: httpx2.Client
    stub: StubLLM

    def says(self, *answers: Any) -> None:
        """Let the model say these, one after the other."""
        self.stub.play(answers=list(answers))

    def ask(self, path: str, **body: Any) -> Any:
        """The answer to a request that works."""
        response = self.client.post(path, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def prompts(self) -> list[dict[str, Any]]:
        """What the model was asked to complete since it was told what to say."""
        return [call.body for call in self.stub.calls if call.path.endswith("/chat/completions")]

    def hear(self, path: str, **body: Any) -> dict[str, Any]:
        """The last event of each kind of a stream."""
        with self.client.stream("POST", path, json={**body, "stream": True}) as response:
            return dict(events(response.iter_lines()))

    def stage(self, told: Any, name: str) -> dict[str, Any]:
        """What a stage of an answer wrote into the trace."""
        trace = self.client.get(f"/api/v1/traces/{told['metadata']['trace_id']}").json()
        found: dict[str, Any] = next(span["attributes"] for span in trace["spans"] if span["name"] == name)
        return found

    def spans(self, trace_id: str) -> list[str]:
        """The stages of a request, in the order they were begun."""
        told = self.client.get(f"/api/v1/traces/{trace_id}").json()["spans"]
        return [span["name"] for span in told]


@contextmanager
def walking(profile: str, database_url: str, data: Path, **settings: Any) -> Iterator[Walk]:
    """A server under a profile's values, index and all, with the model that it is made for by name."""
    wanted = find_profile(profile).values
    with StubLLM() as stub:
        own = {
            "database.url": database_url, "llm.base_url": stub.url, "llm.window": 8000, "resilience.retries": 0,
            "embedding.dimensions": 1024,  # enough for words that differ to lie apart
            "llm.model": wanted.get("llm.model", "qwen2.5:7b"),
        }  # fmt: skip
        values = for_library(find_profile(profile), load_settings(env={})).values
        with LiveServer(data, **{**values, **own, **settings}) as door, door.client() as client:
            yield Walk(door, client, stub)
