"""The Model Context Protocol over HTTP, message by message."""

from typing import Any

import httpx2
import pytest

from pincite import __version__
from pincite.mcp.protocol import PROTOCOL_VERSIONS
from tests.api.live_server import LiveServer, assert_problem

LEAVE = "# Leave\n\n## Carrying over\n\nUp to five vacation days carry over into the next year.\n"


@pytest.fixture(scope="module")
def document(live_server: LiveServer) -> dict[str, Any]:
    return live_server.add("mcp", leave=LEAVE)["leave"]


def send(client: httpx2.Client, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, **({} if params is None else {"params": params})}
    response = client.post("/mcp", json=message, headers=headers)
    assert response.status_code == 200, response.text
    told = response.json()
    assert (told["jsonrpc"], told["id"]) == ("2.0", 7)
    return told


def call(client: httpx2.Client, name: str, **arguments: Any) -> Any:
    return send(client, "tools/call", {"name": name, "arguments": arguments})["result"]


@pytest.mark.parametrize(
    ("wished", "spoken"),
    [
        (PROTOCOL_VERSIONS[0], PROTOCOL_VERSIONS[0]),
        (PROTOCOL_VERSIONS[2], PROTOCOL_VERSIONS[2]),
        ("1999-01-01", PROTOCOL_VERSIONS[0]),
    ],
)
def test_a_client_and_the_server_agree_on_a_version(client: httpx2.Client, wished: str, spoken: str) -> None:
    params = {"protocolVersion": wished, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result = send(client, "initialize", params)["result"]
    assert result["protocolVersion"] == spoken
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert (result["serverInfo"]["name"], result["serverInfo"]["version"]) == ("pincite", __version__)
    assert "rag_search" in result["instructions"]


def test_notifications_get_no_response(client: httpx2.Client) -> None:
    response = client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (202, b"")


def test_a_ping_is_answered(client: httpx2.Client) -> None:
    assert send(client, "ping", **{"mcp-protocol-version": PROTOCOL_VERSIONS[1]})["result"] == {}


def test_the_tools_are_listed_with_what_they_take(client: httpx2.Client) -> None:
    tools = {tool["name"]: tool for tool in send(client, "tools/list")["result"]["tools"]}
    assert list(tools) == ["rag_search", "read_document", "find_in_document", "ask"]
    for tool in tools.values():
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"
    assert tools["rag_search"]["inputSchema"]["properties"]["queries"]["maxItems"] == 5


def test_passages_are_found_read_and_looked_through(client: httpx2.Client, document: dict[str, Any]) -> None:
    found = call(client, "rag_search", queries=["vacation days", "carry over"], folder="mcp")
    assert found["isError"] is False
    assert f"doc_id {document['id']}" in found["content"][0]["text"]
    assert "Up to five vacation days" in found["content"][0]["text"]
    assert found["structuredContent"]["results"][0]["metadata"]["document_id"] == document["id"]
    read = call(client, "read_document", doc_id=document["id"], section="Carrying over")
    assert "Up to five" in read["content"][0]["text"]
    assert read["structuredContent"]["start_line"] == 3
    places = call(client, "find_in_document", doc_id=document["id"], text="vacation days")
    [place] = places["structuredContent"]["places"]
    assert (place["line"], LEAVE[place["start_char"] : place["end_char"]]) == (5, "vacation days")


def test_a_question_is_answered_with_its_sources(client: httpx2.Client, document: dict[str, Any]) -> None:
    told = call(client, "ask", question="How many vacation days carry over?", folder="mcp")
    text = told["content"][0]["text"]
    assert "Up to five vacation days carry over into the next year. [Source 1]" in text
    assert "- [Source 1] Leave > Carrying over" in text
    assert told["structuredContent"]["citations"][0]["matched"] is True


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("rag_search", {}, "queries"),
        ("rag_search", {"queries": ["x"] * 6}, "queries"),
        ("rag_search", {"queries": ["x"], "quries": 1}, "did you mean"),
        ("read_document", {}, "doc_id"),
        ("read_document", {"doc_id": "nosuchdocument00"}, "there is no document"),
        ("find_in_document", {"doc_id": "nosuchdocument00", "text": "x"}, "there is no document"),
        ("ask", {"question": " "}, "empty"),
        ("ask", {"question": "x", "profile": "nosuch"}, "there is no profile"),
    ],
)
def test_an_error_of_a_tool_is_returned_to_the_model(
    client: httpx2.Client, name: str, arguments: dict[str, Any], said: str
) -> None:
    told = call(client, name, **arguments)
    assert told["isError"] is True
    assert said in told["content"][0]["text"]


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"[" * 10_000, 400, -32700),
        (b"[]", 400, -32600),
        (b'{"id": 1, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', 200, -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', 200, -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}}', 200, -32602),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": []}}',
            200,
            -32602,
        ),
    ],
)
def test_invalid_messages_are_refused(client: httpx2.Client, message: bytes, status: int, code: int) -> None:
    response = client.post("/mcp", content=message)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


def test_responses_of_the_client_are_ignored(client: httpx2.Client) -> None:
    assert client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "result": {}}).status_code == 202


def test_another_version_in_the_header_is_refused(client: httpx2.Client) -> None:
    response = client.post("/mcp", json={}, headers={"MCP-Protocol-Version": "1999-01-01"})
    assert response.status_code == 400
    assert PROTOCOL_VERSIONS[0] in response.json()["error"]["message"]


def test_there_is_no_stream_to_listen_to(client: httpx2.Client) -> None:
    assert_problem(client.get("/mcp", headers={"Accept": "text/event-stream"}), 405, "method_not_allowed")


def test_tools_have_the_callers_permissions(
    live_server: LiveServer, anyone: httpx2.Client, document: dict[str, Any]
) -> None:
    assert_problem(anyone.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 401, "unauthorized")
    with live_server.stranger() as stranger:
        assert call(stranger, "rag_search", queries=["vacation days"])["structuredContent"]["results"] == []
        told = call(stranger, "read_document", doc_id=document["id"])
        missing = call(stranger, "read_document", doc_id="nosuchdocument00")
        assert told["isError"] is True
        assert told["content"][0]["text"].replace(document["id"], "X") == missing["content"][0]["text"].replace(
            "nosuchdocument00", "X"
        )


def test_a_message_that_is_too_large_is_refused(client: httpx2.Client) -> None:
    assert_problem(client.post("/mcp", content=b" " * (1024 * 1024 + 1)), 413, "too_large")
