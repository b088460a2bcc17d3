import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from pincite.core.request_context import request_id
from pincite.errors import ProviderBusy, ProviderError, ProviderRefused, SettingsError
from pincite.outbound.client import MAX_EVENT_BYTES, Server, error_details, iter_lines
from tests.model_server import ModelServer, Reply, as_json, model_server, sse


@pytest.fixture
def there() -> Iterator[ModelServer]:
    with model_server() as started:
        yield started


def server(there: ModelServer, **more: Any) -> Server:
    return Server(f"{there.url}/v1", "llm", more.pop("timeout_s", 5.0), **more)


def post(there: ModelServer, reply: Reply, key: str = "") -> Any:
    there.replies["/v1/x"] = reply
    return asyncio.run(server(there, api_key=SecretStr(key) if key else None).post("/x", {"model": "m"}))


def streamed(there: ModelServer, reply: Reply, **more: Any) -> list[dict[str, Any]]:
    there.replies["/v1/x"] = reply

    async def go() -> list[dict[str, Any]]:
        async with aclosing(server(there, **more).stream("/x", {"model": "m"})) as events:
            return [event async for event in events]

    return asyncio.run(go())


def split_lines(chunks: Sequence[bytes]) -> list[str]:
    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def go() -> list[str]:
        return [line async for line in iter_lines(source())]

    return asyncio.run(go())


TEXT = "\ufeffdata: Größe 🎉\u2028x\x85y\r\n\r\n: comment\r\ndata: 2\n\ndata: 3\rend"
LINES = ["data: Größe 🎉\u2028x\x85y", "", ": comment", "data: 2", "", "data: 3", "end"]


@given(st.lists(st.integers(0, len(TEXT.encode())), max_size=8))
def test_lines_are_byte_exact_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    data, places = TEXT.encode(), [0, *sorted(cuts), len(TEXT.encode())]
    assert split_lines([data[a:b] for a, b in pairwise(places)]) == LINES


def test_lines_are_byte_exact_one_byte_at_a_time() -> None:
    assert split_lines([bytes([byte]) for byte in TEXT.encode()]) == LINES


def test_a_line_without_an_end_is_not_read_for_ever() -> None:
    with pytest.raises(ProviderError, match="a line of more than"):
        split_lines([b"x" * (MAX_EVENT_BYTES + 1)])


def test_events_come_as_objects_whatever_stands_between_them(there: ModelServer) -> None:
    said = b': hello\r\nevent: a\r\nid: 7\r\ndata: {"n":\r\ndata: 1}\r\n\r\n{"n": 2}\n' + sse(
        {"n": 3}, "[DONE]", {"n": 4}
    )
    assert streamed(there, Reply((said,))) == [{"n": 1}, {"n": 2}, {"n": 3}, {}]


@pytest.mark.slow
def test_one_byte_at_a_time_takes_no_longer_the_longer_a_line_is() -> None:
    started = process_time()
    assert split_lines([b"x"] * 200_000) == ["x" * 200_000]
    assert process_time() - started < 5.0


def test_an_event_in_many_lines_is_bounded_and_parsed_once(there: ModelServer) -> None:
    lines = [f'data: "{number}": 0,' for number in range(20_000)]
    whole = "\n".join(["data: {", *lines, 'data: "end": 1}', "", ""])
    started = process_time()
    assert len(streamed(there, Reply((whole.encode(),)))[0]) == 20_001
    assert process_time() - started < 5.0
    with pytest.raises(ProviderError, match="an event of more than"):
        streamed(there, Reply((b"data: {\n" + (b"data: " + b" 1," * 1000 + b"\n") * 400,)))


@pytest.mark.parametrize("value", [[1, 2], None, "text", 5])
def test_an_answer_at_once_that_is_no_object_is_refused(there: ModelServer, value: Any) -> None:
    with pytest.raises(ProviderError, match="not a JSON object"):
        streamed(there, as_json(value))


def test_json_nested_without_end_is_refused_wherever_it_stands(there: ModelServer) -> None:
    deep = b'{"a":' * 100_000
    for reply in (Reply((b"data: " + deep + b"\n\n",)), Reply((deep,), kind="application/json")):
        with pytest.raises(ProviderError, match="not"):
            streamed(there, reply)
    with pytest.raises(ProviderError, match="not JSON"):
        post(there, Reply((deep,), kind="application/json"))
    with pytest.raises(ProviderBusy, match="HTTP 500"):
        post(there, Reply((deep[:60_000],), 500, "application/json"))


def test_a_server_that_does_not_stream_is_understood_too(there: ModelServer) -> None:
    assert streamed(there, as_json({"n": 1})) == [{"n": 1}]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"data: {not json\n\n", "not a JSON object"),
        (b"data: 5\n\n", "not a JSON object"),
        (b"{not json\n", "not a JSON object"),
        (b'data: {"n": ', "closed the connection in the middle of an event"),
    ],
)
def test_rubbish_in_a_stream_is_an_error_that_no_further_try_would_mend(
    there: ModelServer, said: bytes, words: str
) -> None:
    with pytest.raises(ProviderError, match=words) as raised:
        streamed(there, Reply((said,)))
    assert not isinstance(raised.value, ProviderBusy)


def test_a_connection_cut_before_the_first_byte_is_worth_another_try_and_one_cut_later_is_not(
    there: ModelServer,
) -> None:
    with pytest.raises(ProviderBusy, match="cannot be reached"):
        streamed(there, Reply((), cut=True))
    with pytest.raises(ProviderError, match="in the middle") as raised:
        streamed(there, Reply((b": a comment, no event\n",), cut=True))
    assert not isinstance(raised.value, ProviderBusy)


def test_a_server_that_hangs_or_is_not_there(there: ModelServer) -> None:
    with pytest.raises(ProviderError, match="did not respond in time") as raised:
        streamed(there, Reply((), hangs=True), timeout_s=0.2)
    assert not isinstance(raised.value, ProviderBusy)
    with pytest.raises(ProviderBusy, match=r"cannot be reached .*llm\.base_url"):
        asyncio.run(Server("http://127.0.0.1:9", "llm", 1.0).get("/x"))


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, {"error": {"message": "bad"}}, ProviderRefused, r"rejected the request \(HTTP 400: bad\)"),
        (
            401,
            {"error": {"message": "wrong key hush-hush"}},
            ProviderRefused,
            r"rejected the API key .* set llm\.api_key",
        ),
        (402, {}, ProviderRefused, "quota of the account is used up"),
        (404, {"error": "model 'm' not found"}, ProviderRefused, r"does not know the model 'm' .* change llm\.model"),
        (404, "<html>", ProviderRefused, r"check llm\.base_url"),
        (302, {}, ProviderRefused, r"check llm\.base_url"),
        (429, {"error": {"message": "slow down"}}, ProviderBusy, r"overloaded.*\(HTTP 429: slow down\)"),
        (
            429,
            {"error": {"message": "no money", "code": "insufficient_quota"}},
            ProviderRefused,
            "quota of the account is used up",
        ),
        (500, {"error": {"message": "out of hush-hush"}}, ProviderBusy, r"failed \(HTTP 500: out of …\)"),
        (503, [], ProviderBusy, "HTTP 503"),
    ],
)
def test_errors_say_what_to_change_and_never_the_key(
    there: ModelServer, status: int, body: Any, kind: type[ProviderError], words: str
) -> None:
    with pytest.raises(kind, match=words) as raised:
        post(there, as_json(body, status), key="hush-hush")
    assert "hush" not in str(raised.value)


def test_no_key_at_all_is_told_apart_from_a_wrong_one(there: ModelServer) -> None:
    with pytest.raises(ProviderRefused, match="requires an API key"):
        post(there, as_json({}, 401))


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("0.5", 0.5), ("-3", 0), ("soon", None)])
def test_how_long_a_server_asks_to_wait_is_heard(there: ModelServer, header: str, seconds: float | None) -> None:
    with pytest.raises(ProviderBusy) as raised:
        post(there, as_json({}, 429, **{"retry-after": header}))
    assert raised.value.retry_after_s == seconds


def test_a_date_to_wait_for_is_understood(there: ModelServer) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    with pytest.raises(ProviderBusy) as raised:
        post(there, as_json({}, 503, **{"retry-after": later}))
    assert raised.value.retry_after_s == pytest.approx(60, abs=5)


def test_what_a_server_repeats_of_the_prompt_is_not_told() -> None:
    assert error_details({"detail": [{"input": "a secret document"}]}, "") == ("", frozenset())
    assert error_details("a secret document", "") == ("", frozenset())
    assert error_details({"error": {"message": "too\nlong", "type": "t", "code": [5]}}, "") == (
        "too long",
        frozenset({"t"}),
    )
    assert error_details({"message": "lone \ud800"}, "") == ("lone \ufffd", frozenset())


def test_a_key_is_not_told_wherever_it_stands_in_an_error(there: ModelServer) -> None:
    said = {"error": {"message": "x" * 295 + " hush-hush"}}
    with pytest.raises(ProviderError) as refused:
        post(there, as_json(said, 400), key="hush-hush")
    reported = server(there, api_key=SecretStr("hush-hush")).stream_error(said)
    assert "hus" not in f"{refused.value} {reported}"
    assert "…" in str(reported)


def test_the_request_id_goes_along(there: ModelServer) -> None:
    token = request_id.set("abc-123")
    try:
        post(there, as_json({"ok": True}))
    finally:
        request_id.reset(token)
    assert there.requests[0][2]["x-request-id"] == "abc-123"


def test_a_password_in_the_address_is_not_shown() -> None:
    assert Server("http://ann:hush@127.0.0.1:9/v1", "llm", 1.0).shown == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ftp://x",
        "127.0.0.1:8080",
        "http://",
        "http://[x",
        "http://127.0.0.1:99999/v1",
        "http://h:0",
        "http://h:x",
        "http://a b",
        "http://h/v1\n",
        "http://h/\x7f",
        "http://a..b/v1",
        "http://h/v1?key=hush",
        "http://h/v1#x",
    ],
)
def test_an_address_that_is_none_is_refused_at_the_start(address: str) -> None:
    with pytest.raises(SettingsError, match=r"embedding\.base_url"):
        Server(address, "embedding", 1.0)


@pytest.mark.parametrize("address", ["http://[::1]:8000/v1", "https://ann:hush@h", "http://größe.example/v1/"])
def test_addresses_of_every_kind_are_taken(address: str) -> None:
    assert Server(address, "llm", 1.0).base_url == address.rstrip("/")


def test_a_key_is_taken_without_the_line_end_it_was_copied_with_and_only_as_one_can_be_sent() -> None:
    assert Server("http://h", "llm", 1.0, SecretStr(" hush\n")).key == "hush"
    for wrong in ("hüsh", "hu\nsh", "hu\x00sh"):
        with pytest.raises(SettingsError, match=r"llm\.api_key") as raised:
            Server("http://h", "llm", 1.0, SecretStr(wrong))
        assert wrong not in str(raised.value)


@pytest.mark.parametrize("said", [(), (sse({"n": 1}),)])
def test_a_cancelled_request_closes_the_connection(there: ModelServer, said: tuple[bytes, ...]) -> None:
    """Before the first event as in the middle: the connection is closed, not kept to the end."""
    there.replies["/v1/x"] = Reply(said, hangs=True)

    async def go() -> None:
        async def read() -> None:
            async with aclosing(server(there, timeout_s=60.0).stream("/x", {})) as events:
                async for _ in events:
                    pass

        reading = asyncio.create_task(read())
        await asyncio.to_thread(there.asked.wait, 10)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert await asyncio.to_thread(there.left_early.wait, 3)

    asyncio.run(go())


def test_a_connection_is_used_again_once_a_stream_is_read_to_its_end() -> None:
    """Three answers over one connection, each ended by `[DONE]` and the last chunk after it."""
    accepted: list[int] = []
    said = sse({"n": 1}, "[DONE]")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(1)
        while b"POST" in await reader.read(65536):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            writer.write(b"%x\r\n%s\r\n" % (len(said), said))
            await writer.drain()
            writer.write(b"0\r\n\r\n")

    async def go() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            spoken_to = Server(f"http://127.0.0.1:{port}", "llm", 5.0)
            for _ in range(3):
                async with aclosing(spoken_to.stream("/x", {})) as events:
                    assert [event async for event in events] == [{"n": 1}, {}]
            await spoken_to.close()

    asyncio.run(go())
    assert len(accepted) == 1
