"""Traces are closed and kept however a request ends, and hold no words that nobody allowed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Question, Sampling
from pincite.core.request_context import request_id
from pincite.core.run import Event, Token
from pincite.core.traces import Trace, TraceFilter
from pincite.errors import Invalid, ProviderError
from pincite.store.operations.traces import TraceStore
from pincite.tracing.logs import ReadableLines
from pincite.tracing.metrics import Metrics
from pincite.tracing.recorder import TraceRecorder, TraceSink
from tests.builders import answering
from tests.stub_openai import stub_server
from tests.tracing.test_recorder import ASKED, make_run

CANARY = "zebrafinch"
TEXT = f"# Cats\n\nCats purr when they are content.\n\nThe {CANARY} sings.\n"
QUESTION = f"Does the {CANARY} sing when cats purr?"


class Writer:
    """A model that writes one piece and then does what it is told."""

    name, window = "writer", 8000

    def __init__(self, then: Callable[[], Any]) -> None:
        self._then = then

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        yield StreamPart("Cats purr. [Source 1] They do so when they are content. [Source 1]\n\n")
        await self._then()
        yield StreamPart(finish_reason="stop", model=self.name)


async def newest(pincite: Any) -> Trace:
    [found], _ = await pincite.services.traces.list(await pincite.scope(), TraceFilter(limit=1))
    trace: Trace = await pincite.services.traces.get(await pincite.scope(), found.id)
    return trace


def in_a_library(open_pincite: Callable[..., Any], folder: Path, test: Callable[[Any], Any], **settings: Any) -> None:
    async def go() -> None:
        async with open_pincite(**settings) as pincite:
            (folder / "cats.md").write_text(TEXT, encoding="utf-8")
            await pincite.add(folder / "cats.md")
            await test(pincite)

    asyncio.run(go())


def test_a_question_that_is_cancelled_in_the_middle_is_closed(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        reached = asyncio.Event()

        async def wait() -> None:
            reached.set()
            await asyncio.Event().wait()

        with answering(pincite, Writer(wait)):
            asking = asyncio.create_task(pincite.ask(QUESTION))
            await reached.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        trace = await newest(pincite)
        assert (trace.kind, trace.code) == ("query", "cancelled")
        writing = next(span for span in trace.spans if span.name == "llm_generation")
        assert writing.error == "cancelled"
        assert writing.duration_ms > 0
        assert writing.started_ms + writing.duration_ms <= trace.duration_ms + 0.1

    in_a_library(open_pincite, tmp_path, test)


def test_a_listener_changes_nothing_about_the_trace(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        heard: list[Event] = []

        async def nothing() -> None:
            pass

        with answering(pincite, Writer(nothing)):
            await pincite.ask(Question(QUESTION, fresh=True))  # embeds the question; its vector is kept
            await pincite.ask(Question(QUESTION, fresh=True))
            silent = await newest(pincite)
            await pincite.ask(Question(QUESTION, fresh=True), listen=heard.append)
        streamed = await newest(pincite)
        assert any(isinstance(event, Token) for event in heard)
        assert silent.id != streamed.id
        assert [span.name for span in silent.spans] == [span.name for span in streamed.spans]
        told = next(span for span in streamed.spans if span.name == "llm_generation").attributes
        assert told["gen_ai.operation.name"] == "chat"
        assert told["gen_ai.response.model"] == "writer"
        assert told["gen_ai.response.finish_reasons"] == ["stop"]
        assert told["first_token_ms"] >= 0

    # In memory, titles are looked up before the passages are read, once these are known.
    in_a_library(open_pincite, tmp_path, test, database__index_memory_mb=0)


def test_an_unexpected_error_is_recorded_by_its_class(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def test(pincite: Any) -> None:
        async def break_down() -> None:
            raise ZeroDivisionError(CANARY)

        with answering(pincite, Writer(break_down)), pytest.raises(ZeroDivisionError):
            await pincite.ask(QUESTION)
        trace = await newest(pincite)
        assert (trace.error, trace.code) == ("ZeroDivisionError", "internal")

    in_a_library(open_pincite, tmp_path, test)


def test_a_file_leaves_a_trace_and_so_does_one_that_cannot_be_read(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    async def test(pincite: Any) -> None:
        trace = await newest(pincite)
        assert (trace.kind, trace.code) == ("ingest", None)
        assert [span.name for span in trace.spans if span.parent is None] == ["parsing", "indexing", "serving"]
        indexing = trace.spans[1].attributes
        assert (indexing["calls"], indexing["texts"], indexing["gen_ai.operation.name"]) == (1, 1, "embeddings")
        assert indexing["chunks"] >= 1
        (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
        with pytest.raises(Exception, match="broken"):
            await pincite.add(tmp_path / "broken.pdf")
        failed = await newest(pincite)
        assert failed.kind == "ingest"
        assert failed.code not in (None, "internal")

    in_a_library(open_pincite, tmp_path, test)


def test_the_requests_id_reaches_the_model_and_its_calls_the_trace(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    with stub_server() as stub:
        stub.says("Cats purr. ", "[Source 1]")

        async def test(pincite: Any) -> None:
            request_id.set("abcdefgh")
            await pincite.ask(QUESTION)
            request_id.set("")
            assert {_id_of(headers) for _, _, headers in stub.requests} == {"abcdefgh"}
            trace = await newest(pincite)
            assert trace.request_id == "abcdefgh"
            writing = next(n for n, span in enumerate(trace.spans) if span.name == "llm_generation")
            told = trace.spans[writing].attributes
            assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (7, 2)
            assert (told["gen_ai.request.model"], told["gen_ai.response.model"]) == ("m", "stub-1")
            assert [span.name for span in trace.spans if span.parent == writing] == ["provider_call"]
            stub.requests.clear()
            await pincite.ask(Question(QUESTION, fresh=True))
            assert {_id_of(headers) for _, _, headers in stub.requests} == {(await newest(pincite)).id}

        in_a_library(open_pincite, tmp_path, test, llm__base_url=stub.url, llm__model="m")


def _id_of(headers: dict[str, str]) -> str:
    return {name.lower(): value for name, value in headers.items()}["x-request-id"]


def test_a_server_that_repeats_what_it_was_sent_is_not_quoted(
    open_pincite: Callable[..., Any], tmp_path: Path, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with stub_server() as stub:
        stub.status, stub.body = 500, {"error": {"message": f"cannot answer 'Does the {CANARY} sing?' (really)"}}

        async def test(pincite: Any) -> None:
            answer = await pincite.ask("Why do cats purr?")
            assert CANARY in str(answer.degraded)  # the user is told what the server said

        settings = {
            "llm__base_url": stub.url,
            "llm__model": "m",
            "resilience__retries": 1,
            "resilience__backoff_s": 0.01,
        }
        in_a_library(open_pincite, tmp_path, test, **settings)
    kept = everything_about_requests(database_url)
    assert "HTTP 500" in kept
    assert "retries" in kept
    assert CANARY not in kept
    lines = [ReadableLines().format(record) for record in caplog.records]
    assert any("HTTP 500" in line for line in lines)
    assert not [line for line in lines if CANARY in line]


def everything_about_requests(url: str) -> str:
    """Every word that the tables of requests hold, whoever owns them."""
    with psycopg.connect(url) as connection:
        found = [
            connection.execute(f"select {table}::text from pincite.{table}").fetchall() for table in ("trace", "span")
        ]
    return str(found)


def test_no_words_are_kept_unless_allowed(open_pincite: Callable[..., Any], tmp_path: Path, database_url: str) -> None:
    wish = Question(
        QUESTION, (f"{CANARY} songs",), sampling=Sampling(system_prompt=f"Like a {CANARY}.", stop=(CANARY,))
    )

    async def test(pincite: Any) -> None:
        answer = await pincite.ask(wish)
        assert CANARY in answer.text
        await pincite.search(wish)
        await pincite.questions.replay(answer.metadata.trace_id, {"rag.fusion": "rrf"}, question=QUESTION)

        async def fail() -> None:
            raise ProviderError("down")

        with answering(pincite, Writer(fail)):
            await pincite.ask(QUESTION)
        with pytest.raises(Invalid):
            await pincite.ask(QUESTION * 1000)

    in_a_library(open_pincite, tmp_path, test)
    kept = everything_about_requests(database_url)
    assert kept.count("gen_ai.") > 5
    assert CANARY not in kept.lower()


def test_words_are_kept_where_allowed_and_never_a_document_but_in_the_answer(
    open_pincite: Callable[..., Any], tmp_path: Path, database_url: str
) -> None:
    async def test(pincite: Any) -> None:
        await pincite.ask("When do cats purr?")

    in_a_library(open_pincite, tmp_path, test, traces__content=True)
    kept = everything_about_requests(database_url)
    assert "When do cats purr?" in kept
    assert "Cats purr when they are content. [Source 1]" in kept
    assert f"The {CANARY} sings" not in kept


def test_no_request_waits_for_a_trace_that_cannot_be_written(
    open_pincite: Callable[..., Any], tmp_path: Path, database_url: str
) -> None:
    async def test(pincite: Any) -> None:
        scope = await pincite.scope()
        session = await pincite.services.sessions.create(scope)
        with psycopg.connect(database_url) as other:
            other.execute("lock table pincite.trace")
            answer = await asyncio.wait_for(pincite.ask(Question("Why do cats purr?", session_id=session.id)), 10)
            assert answer.text
            other.rollback()
        await pincite.services.trace_sink.close()
        assert (await newest(pincite)).id == answer.metadata.trace_id

    in_a_library(open_pincite, tmp_path, test)


class Slow(TraceStore):
    """Traces that take as long to be written as it is told."""

    def __init__(self) -> None:
        self.pending_writes = set()
        self.go_on, self.kept = asyncio.Event(), list[Trace]()

    async def keep(self, _owner: str, trace: Trace) -> None:
        await self.go_on.wait()
        self.kept.append(trace)

    def write_now(self) -> None:
        """Nothing is held back."""


def test_no_answer_waits_for_its_trace_and_closing_does() -> None:
    async def go() -> None:
        slow, trace = Slow(), TraceRecorder("query", ASKED).trace(make_run(), None)
        records = TraceSink(slow, Metrics())
        await records.keep("local", trace)
        assert slow.kept == []
        closing = asyncio.create_task(records.close())
        await asyncio.sleep(0)
        assert not closing.done()
        slow.go_on.set()
        await closing
        assert slow.kept == [trace]

    asyncio.run(go())


def test_where_too_many_wait_to_be_written_the_next_waits_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pincite.tracing.recorder.MAX_PENDING_WRITES", 2)

    async def go() -> None:
        slow, trace = Slow(), TraceRecorder("query", ASKED).trace(make_run(), None)
        records = TraceSink(slow, Metrics())
        await records.keep("local", trace)
        await records.keep("local", trace)
        third = asyncio.create_task(records.keep("local", trace))
        await asyncio.sleep(0.01)
        assert not third.done()
        slow.go_on.set()
        await third
        await records.close()
        assert len(slow.kept) == 3

    asyncio.run(go())
