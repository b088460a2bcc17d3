"""The Model Context Protocol over HTTP, by the official client."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from pincite import __version__
from tests.api.live_server import LiveServer, assert_problem
from tests.api.models import Talker, speaking

LEAVE = "# Leave\n\n## Carrying over\n\nUp to five vacation days carry over into the next year.\n"
URL = "https://example.org/mcp/leave"
MODES = ("legacy", "2026-07-28")
T = TypeVar("T")


_ADDED: dict[str, dict[str, Any]] = {}


@pytest.fixture(scope="module")
def document(live_server: LiveServer) -> dict[str, Any]:
    """Added once per server: a second document with this URL would be ambiguous."""
    if live_server.url not in _ADDED:
        _ADDED[live_server.url] = live_server.add("mcp", leave=f"---\nsource_url: {URL}\n---\n{LEAVE}")["leave"]
    return _ADDED[live_server.url]


@asynccontextmanager
async def connected(plain: httpx2.Client, mode: str = "auto") -> AsyncIterator[Client]:
    """The official client with the key of another one."""
    headers = {"Authorization": plain.headers["authorization"]}
    address = str(plain.base_url).rstrip("/")
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,  # type: ignore[arg-type]
    ):
        yield client


def talk(plain: httpx2.Client, said: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    async def main() -> T | MCPError:
        async with connected(plain, mode) as client:
            try:
                return await said(client)
            except MCPError as error:  # raised here, it would come out in groups of the client's tasks
                return error

    told = asyncio.run(main())
    if isinstance(told, MCPError):
        raise told
    return told


def call(plain: httpx2.Client, name: str, mode: str = "auto", **arguments: Any) -> Any:
    return talk(plain, lambda client: client.call_tool(name, arguments), mode)


def test_the_newest_revision_is_agreed_on(client: httpx2.Client) -> None:
    async def said(one: Client) -> tuple[str, str, str, str]:
        assert one.server_info is not None
        return one.protocol_version, one.server_info.name, one.server_info.version, one.instructions or ""

    for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        told = talk(client, said, mode)
        assert told[:3] == (version, "pincite", __version__)
        assert "rag_search" in told[3]


@pytest.mark.parametrize("mode", MODES)
def test_tools_have_titles_schemas_and_annotations(client: httpx2.Client, mode: str) -> None:
    tools = {tool.name: tool for tool in talk(client, lambda one: one.list_tools(), mode).tools}
    assert {"rag_search", "read_document", "find_in_document", "ask"} <= set(tools)
    for tool in tools.values():
        assert tool.title
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is not None
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
    assert tools["rag_search"].input_schema["properties"]["queries"]["maxItems"] == 5
    assert {"answer", "sources", "citations"} <= set(tools["ask"].output_schema["properties"])  # type: ignore[index]


@pytest.mark.parametrize("mode", MODES)
def test_passages_are_found_read_and_looked_through(client: httpx2.Client, document: Any, mode: str) -> None:
    found = call(client, "rag_search", mode, queries=["vacation days", "carry over"], folder="mcp")
    assert found.is_error is False
    assert f"doc_id {document['id']}" in found.content[0].text
    assert found.structured_content["results"][0]["metadata"]["document_id"] == document["id"]
    assert found.content[1].uri == f"pincite://documents/{document['id']}"
    read = call(client, "read_document", mode, doc_id=document["id"], section="Carrying over")
    assert "Up to five" in read.content[0].text
    places = call(client, "find_in_document", mode, doc_id=document["id"], text="vacation days")
    [place] = places.structured_content["places"]
    assert place["around"].endswith("Up to five vacation days carry over into the next year.")


def test_a_question_is_answered_and_its_url_can_be_read(client: httpx2.Client, document: dict[str, Any]) -> None:
    told = call(client, "ask", question="How many vacation days carry over?", folder="mcp")
    text = told.content[0].text
    assert "Up to five vacation days carry over into the next year. [Source 1]" in text
    assert URL in text
    assert told.structured_content["citations"][0]["document_id"] == document["id"]
    read = call(client, "read_document", source_uri=URL)
    assert read.structured_content["document_id"] == document["id"]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("rag_search", {}, "queries"),
        ("rag_search", {"queries": ["x"] * 6}, "queries"),
        ("rag_search", {"queries": ["x"], "quries": 1}, "did you mean"),
        ("read_document", {}, "doc_id"),
        ("read_document", {"doc_id": "nosuchdocument00"}, "there is no document"),
        ("ask", {"question": " "}, "empty"),
        ("ask", {"question": "x", "profile": "nosuch"}, "there is no profile"),
    ],
)
def test_an_error_of_a_tool_is_returned_to_the_model(
    client: httpx2.Client, name: str, arguments: dict[str, Any], said: str
) -> None:
    told = call(client, name, **arguments)
    assert told.is_error is True
    assert said in told.content[0].text


def test_an_unknown_tool_is_an_error_of_the_protocol(client: httpx2.Client) -> None:
    with pytest.raises(MCPError, match="there is no tool 'rm'"):
        call(client, "rm")


@pytest.mark.parametrize("mode", MODES)
def test_documents_are_resources(client: httpx2.Client, document: dict[str, Any], mode: str) -> None:
    async def said(one: Client) -> tuple[Any, str, list[str]]:
        resources, cursor = [], None
        while True:
            page = await one.list_resources(cursor=cursor)
            resources += page.resources
            if (cursor := page.next_cursor) is None:
                break
        [own] = [resource for resource in resources if document["id"] in str(resource.uri)]
        [content] = (await one.read_resource(str(own.uri))).contents
        templates = (await one.list_resource_templates()).resource_templates
        return own, content.text, [template.uri_template for template in templates]  # type: ignore[union-attr]

    own, text, templates = talk(client, said, mode)
    assert (own.name, own.title, own.mime_type) == ("mcp/leave.md", "Leave", "text/markdown")
    assert "Up to five vacation days" in text
    assert templates == ["pincite://documents/{document_id}"]
    for uri in ("pincite://documents/nosuch", "file:///etc/passwd"):
        with pytest.raises(MCPError, match="there is no"):
            talk(client, lambda one, uri=uri: one.read_resource(uri), mode)  # type: ignore[misc]


def test_prompts_are_offered(client: httpx2.Client) -> None:
    assert [one.name for one in talk(client, lambda one: one.list_prompts()).prompts] == [
        "answer_with_citations",
        "summarise_document",
    ]
    told = talk(client, lambda one: one.get_prompt("answer_with_citations", {"question": "Who {x}?"}))
    assert "Question: Who {x}?" in told.messages[0].content.text  # type: ignore[union-attr]
    with pytest.raises(MCPError, match="needs the argument 'question'"):
        talk(client, lambda one: one.get_prompt("answer_with_citations", {}))


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_ends_the_model(
    live_server: LiveServer, client: httpx2.Client, document: dict[str, Any], mode: str
) -> None:
    talker = Talker()

    async def main() -> None:
        async with connected(client, mode) as one:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:

                    async def end() -> None:
                        await asyncio.to_thread(talker.wait, "began")
                        scope.cancel()

                    tasks.start_soon(end)
                    await one.call_tool("ask", {"question": "How many vacation days carry over?", "folder": "mcp"})
            await asyncio.to_thread(talker.wait, "stopped")  # while the client is still connected

    with speaking(live_server, talker):
        asyncio.run(main())
    assert talker.stopped is not None


@pytest.mark.parametrize("mode", MODES)
def test_progress_is_reported(client: httpx2.Client, document: dict[str, Any], mode: str) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    arguments = {"question": "How many vacation days carry over?", "folder": "mcp"}
    talk(client, lambda one: one.call_tool("ask", arguments, progress_callback=hear), mode)
    assert "searching" in [message for _, message in heard]
    assert [progress for progress, _ in heard] == sorted({progress for progress, _ in heard})


@pytest.mark.parametrize("mode", MODES)
def test_tools_have_the_callers_permissions(
    live_server: LiveServer, anyone: httpx2.Client, document: dict[str, Any], mode: str
) -> None:
    assert_problem(anyone.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 401, "unauthorized")
    with live_server.stranger() as stranger:
        assert call(stranger, "rag_search", mode, queries=["vacation days"]).structured_content["results"] == []
        told = call(stranger, "read_document", mode, doc_id=document["id"])
        missing = call(stranger, "read_document", mode, doc_id="nosuchdocument00")
        assert told.is_error is True
        assert told.content[0].text.replace(document["id"], "X") == missing.content[0].text.replace(
            "nosuchdocument00", "X"
        )
        assert call(stranger, "read_document", mode, source_uri=URL).is_error is True
        resources = talk(stranger, lambda one: one.list_resources(), mode).resources
        assert all(document["id"] not in str(one.uri) for one in resources)


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
BOTH = {"Accept": "application/json, text/event-stream"}


def test_a_session_belongs_to_the_key_that_began_it(live_server: LiveServer, client: httpx2.Client) -> None:
    with client.stream("POST", "/mcp", json=INITIALIZE, headers=BOTH) as response:
        session = response.headers["mcp-session-id"]
        response.read()
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    headers = {**BOTH, "Mcp-Session-Id": session}
    assert client.post("/mcp", json=ping, headers=headers).status_code == 200
    with live_server.stranger() as stranger:
        assert stranger.post("/mcp", json=ping, headers=headers).status_code == 404
        assert stranger.delete("/mcp", headers=headers).status_code == 404
    assert client.delete("/mcp", headers=headers).status_code == 200
    assert client.post("/mcp", json=ping, headers=headers).status_code == 404


def test_pages_of_other_origins_are_refused(client: httpx2.Client) -> None:
    wrong = client.post("/mcp", json=INITIALIZE, headers={**BOTH, "Origin": "http://evil.example"})
    assert_problem(wrong, 403, "wrong_origin")
    own = str(client.base_url).rstrip("/")
    assert client.post("/mcp", json=INITIALIZE, headers={**BOTH, "Origin": own}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ],
)
def test_where_clients_look_for_oauth_there_is_nothing(anyone: httpx2.Client, path: str) -> None:
    assert_problem(anyone.get(path), 404, "not_found")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/documents?x=/.well-known/oauth-protected-resource",
        "/api/v1/documents/.well-known/openid-configuration",
        "/.well-known/oauth-protected-resource/../../api/v1/documents",
        "/.well-known/other",
    ],
)
def test_a_path_that_only_resembles_them_needs_a_key(anyone: httpx2.Client, path: str) -> None:
    assert anyone.get(path).status_code == 401


def test_there_is_no_stream_to_listen_to(client: httpx2.Client) -> None:
    assert_problem(client.get("/mcp", headers={"Accept": "text/event-stream"}), 405, "method_not_allowed")


@pytest.mark.parametrize("message", [b"{", b"[]", b'{"id": 1, "method": "ping"}'])
def test_invalid_messages_are_refused(client: httpx2.Client, message: bytes) -> None:
    headers = {**BOTH, "Content-Type": "application/json"}
    assert client.post("/mcp", content=message, headers=headers).status_code == 400


def test_a_message_that_is_too_large_is_refused(client: httpx2.Client) -> None:
    assert_problem(client.post("/mcp", content=b" " * (1024 * 1024 + 1)), 413, "too_large")
