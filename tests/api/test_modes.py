"""The modes agent, general and vision over HTTP."""

import base64
from typing import Any

import httpx2
import pytest

from pincite.core.query.tools import Abilities
from tests.api.live_server import LiveServer, assert_problem, events
from tests.api.models import Talker, speaking
from tests.builders import Calling
from tests.picture_maker import draw, saved
from tests.steady_clock import now

TEXT = "# Leave\n\nFive vacation days carry over to the next year. They lapse at the end of March.\n"
ASKED = "How many vacation days carry over?"
SEARCH = ("rag_search", {"queries": [ASKED]})
DONE = "Five vacation days carry over [Source 1]."


@pytest.fixture(scope="module")
def leave(live_server: LiveServer) -> str:
    return str(live_server.add("modes", leave=TEXT)["leave"]["id"])


def picture() -> str:
    return f"data:image/png;base64,{base64.b64encode(saved(draw(['E42']))).decode()}"


def test_an_agent_tells_its_steps_and_its_sources_as_it_finds_them(
    live_server: LiveServer, client: httpx2.Client, leave: str
) -> None:
    llm = Calling(("I look.", [SEARCH]), ("", [("read_document", {"doc_id": leave, "start_line": 1})]), DONE)
    body = {"message": ASKED, "mode": "agent", "folder": "modes", "stream": True}
    with speaking(live_server, llm), client.stream("POST", "/api/v1/chat", json=body) as response:
        heard = events(response.iter_lines())
    names = [name for name, _ in heard]
    assert names[:5] == ["start", "plan", "step", "sources", "step"]
    assert names[-3:] == ["token", "answer", "done"]
    [first, second] = [data for name, data in heard if name == "step"]
    assert (first["number"], first["tool"], first["arguments"], first["thought"]) == (1, *SEARCH, "I look.")
    assert "1 passage found" in first["result"]
    assert second["tool"] == "read_document"
    answer = dict(heard)["answer"]
    assert "".join(data["text"] for name, data in heard if name == "token") == answer["answer"] == DONE
    assert answer["mode"] == "agent"
    assert answer["metadata"]["plan"][-1].startswith("step 2: read_document")
    assert [step["tool"] for step in answer["metadata"]["steps"]] == ["rag_search", "read_document"]
    [citation] = answer["citations"]
    read = client.get(f"/api/v1/documents/{leave}/file").text
    assert citation["quote"] in read


def test_a_client_that_leaves_in_the_middle_of_a_step_stops_the_model_within_a_second(
    live_server: LiveServer, client: httpx2.Client, leave: str
) -> None:
    class Slow(Talker):
        """Calls a tool first, and then never ends."""

        turns = 0

        async def write(self, prompt: Any) -> Any:
            self.turns += 1
            if self.turns == 1:
                async for piece in Calling(("", [SEARCH])).write(prompt):
                    yield piece
                return
            async for piece in super().write(prompt):
                yield piece

    talker = Slow()
    body = {"message": ASKED, "mode": "agent", "folder": "modes", "stream": True}
    with speaking(live_server, talker):
        with client.stream("POST", "/api/v1/chat", json=body) as response:
            for line in response.iter_lines():
                if line == "event: step":
                    break
            talker.wait("began")
        left = now()
        assert talker.wait("stopped") - left < 1


def test_an_agents_answer_is_kept_without_what_it_searched_for_and_can_be_replayed(
    live_server: LiveServer, client: httpx2.Client, leave: str
) -> None:
    body = {"message": ASKED, "mode": "agent", "folder": "modes"}
    with speaking(live_server, Calling(("", [SEARCH]), DONE)):
        answer = client.post("/api/v1/chat", json=body).json()
    kept = client.get(f"/api/v1/sessions/{answer['session_id']}").json()["turns"][0]["answer"]
    assert (kept["mode"], kept["answer"], kept["metadata"].get("steps")) == ("agent", DONE, None)
    trace = client.get(f"/api/v1/traces/{answer['metadata']['trace_id']}").json()
    assert trace["options"]["mode"] == "agent"
    spans = {span["id"]: span for span in trace["spans"]}
    calls = [span for span in trace["spans"] if span["name"] == "tool_call"]
    assert [spans[call["parent_id"]]["name"] for call in calls] == ["agent"]
    assert "vacation" not in str(trace["spans"])
    with speaking(live_server, Calling(("", [SEARCH]), DONE)):
        again = client.post(f"/api/v1/traces/{trace['id']}/replay", json={"question": ASKED})
    assert again.status_code == 200, again.text
    assert again.json()["answer"]["after"] == DONE
    newest = client.get("/api/v1/traces", params={"limit": 1, "kind": "replay"}).json()["items"][0]
    assert newest["options"]["mode"] == "agent"


def test_an_agent_works_without_a_model_and_says_so(client: httpx2.Client, leave: str) -> None:
    answer = client.post("/api/v1/chat", json={"message": ASKED, "mode": "agent", "folder": "modes"}).json()
    assert "Five vacation days carry over" in answer["answer"]
    assert answer["metadata"]["model"] == "extractive"
    assert answer["degraded"][0]["stage"] == "agent"
    assert answer["metadata"]["steps"][0]["tool"] == "rag_search"
    assert all(citation["matched"] for citation in answer["citations"])


def test_a_tool_stays_inside_the_folder_that_is_asked_about(
    live_server: LiveServer, client: httpx2.Client, leave: str
) -> None:
    elsewhere = live_server.add("elsewhere", plan="# Plan\n\nThe vacation plan is secret.\n")["plan"]["id"]
    llm = Calling(("", [("read_document", {"doc_id": elsewhere}), SEARCH]), DONE)
    with speaking(live_server, llm):
        answer = client.post("/api/v1/chat", json={"message": ASKED, "mode": "agent", "folder": "modes"}).json()
    assert answer["metadata"]["steps"][0]["failed"]
    assert "is secret" not in str(answer) + str(llm.prompts)


def test_general_mode_asks_no_document_and_says_so(live_server: LiveServer, client: httpx2.Client, leave: str) -> None:
    llm = Calling("Paris, as far as I know.")
    with speaking(live_server, llm):
        answer = client.post("/api/v1/chat", json={"message": ASKED, "mode": "general", "folder": "modes"}).json()
    assert (answer["answer"], answer["mode"], answer["sources"]) == ("Paris, as far as I know.", "general", [])
    assert "this answer is not from your documents" in answer["warnings"]
    assert "Five vacation days" not in str(llm.prompts)
    alone = client.post("/api/v1/chat", json={"message": ASKED, "mode": "general"}).json()
    assert alone["degraded"][0]["stage"] == "general_prompt"
    assert "needs a language model" in alone["degraded"][0]["reason"]


def test_a_picture_is_shown_to_a_model_that_sees(live_server: LiveServer, client: httpx2.Client, leave: str) -> None:
    class Seeing(Calling):
        abilities = Abilities(vision=True)

    llm = Seeing(DONE)
    with speaking(live_server, llm):
        answer = client.post("/api/v1/chat", json={"message": ASKED, "images": [picture()], "folder": "modes"}).json()
    assert (answer["mode"], answer["degraded"]) == ("vision", [])
    assert llm.prompts[0].messages[-1].pictures[0].mime == "image/png"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"mode": "robot"}, 422, "invalid"),
        ({"mode": "vision"}, 422, "no_images"),
        ({"mode": "agent", "images": [picture()]}, 422, "images_not_seen"),
        ({"images": ["https://evil.example/p.png"]}, 422, "not_a_data_url"),
        ({"images": ["data:image/png;base64,PHN2Zy8+"]}, 415, "unsupported"),
        ({"images": [picture()] * 9}, 422, "invalid"),
    ],
)
def test_invalid_images_and_modes_are_refused(
    client: httpx2.Client, body: dict[str, Any], status: int, code: str
) -> None:
    assert_problem(client.post("/api/v1/chat", json={"message": "q", **body}), status, code)
