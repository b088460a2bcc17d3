"""Spans get the right parent in any task or generator."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest

from pincite.core.query.prompt import Draft, Message, Prompt, Usage
from pincite.core.query.question import Sampling
from pincite.core.traces import (
    MAX_SPANS,
    Recording,
    Span,
    Trace,
    call,
    count,
    embedding_attributes,
    error_code,
    error_summary,
    llm_request_attributes,
    llm_response_attributes,
    observe,
    recording,
    span,
    without_server_message,
)
from pincite.errors import Invalid, Unavailable
from tests.core.test_run import make_run
from tests.stages import stages


def tree(made: Recording) -> list[tuple[str, str | None]]:
    """Return each span with the name of its parent."""
    return [(one.name, None if one.parent is None else made.spans[one.parent].name) for one in made.spans]


def test_a_span_is_a_child_of_the_current_span() -> None:
    with recording() as made:
        with span("outer", number=1) as outer, span("inner"):
            observe(words=0)
            count("retries")
            count("retries", 2)
        with span("next"):
            pass
    assert tree(made) == [("outer", None), ("inner", "outer"), ("next", None)]
    assert outer.attributes == {"number": 1}
    assert made.spans[1].attributes == {"words": 0, "retries": 3}
    assert outer.duration_ms >= made.spans[1].duration_ms > 0
    assert all(re.fullmatch("[0-9a-f]{16}", one.id) for one in made.spans)


def test_concurrent_tasks_have_separate_current_spans() -> None:
    async def part(name: str, begun: asyncio.Event, go_on: asyncio.Event) -> None:
        with span(name):
            begun.set()
            await go_on.wait()
            with span(f"below {name}"):
                observe(of=name)

    async def go() -> None:
        with span("both"):
            one, two = asyncio.Event(), asyncio.Event()
            await asyncio.gather(part("a", one, two), part("b", two, one))

    with recording() as made:
        asyncio.run(go())
    found = dict(tree(made))
    assert found == {"both": None, "a": "both", "b": "both", "below a": "a", "below b": "b"}
    assert [one.attributes["of"] for one in made.spans if one.name == "below a"] == ["a"]


def test_a_call_span_in_a_generator_gets_no_children_from_its_consumer() -> None:
    async def pieces() -> AsyncIterator[int]:
        with call("request"):
            yield 1
            yield 2

    async def go() -> None:
        with span("writing"):
            async for number in pieces():
                observe(last=number)

    with recording() as made:
        asyncio.run(go())
    assert tree(made) == [("writing", None), ("request", "writing")]
    assert made.spans[0].attributes == {"last": 2}
    assert made.spans[1].attributes == {}


def test_the_number_of_spans_is_limited() -> None:
    with recording() as made, span("loop"):
        for _ in range(MAX_SPANS + 10):
            with span("turn"):
                observe(of="the turn")
    assert len(made.spans) == MAX_SPANS
    assert made.spans[0].attributes["spans_left_out"] == 11


def test_outside_of_a_request_nothing_is_recorded_and_nothing_breaks() -> None:
    with span("alone") as it:
        observe(a=1)
        count("b")
    assert it.attributes == {}
    assert it.duration_ms > 0


def test_an_unexpected_error_is_summarised_by_its_class_only() -> None:
    with recording() as made:
        with pytest.raises(Unavailable), span("ours"):
            raise Unavailable("the part is down")
        with pytest.raises(ValueError, match="secret"), span("theirs"):
            raise ValueError("secret words")
    assert [one.error for one in made.spans] == ["Unavailable: the part is down", "ValueError"]
    assert error_summary(Invalid("a\0b")) == "Invalid: a b"
    assert [error_code(error) for error in (Invalid("x", code="y"), asyncio.CancelledError(), KeyError())] == [
        "y",
        "cancelled",
        "internal",
    ]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "http://x failed (HTTP 500: cannot (really) say 'secret'); tried 3 times",
            "http://x failed (HTTP 500); tried 3 times",
        ),
        ("http://x reported: secret", "http://x reported"),
        (
            "http://x refused the key (HTTP 401); set llm.api_key",
            "http://x refused the key (HTTP 401); set llm.api_key",
        ),
    ],
)
def test_the_reply_of_a_server_is_removed_from_an_error(said: str, kept: str) -> None:
    assert without_server_message(said) == kept


def test_the_spans_of_two_runs_in_one_task_stay_separate() -> None:
    outer, inner = make_run(), make_run()

    async def ask_the_other(run: object) -> None:
        async def nothing(run: object) -> None:
            with span("below"):
                pass

        await inner.step(nothing)

    asyncio.run(outer.step(ask_the_other))
    assert tree(outer.recording) == [("ask_the_other", None)]
    assert tree(inner.recording) == [("nothing", None), ("below", "nothing")]


def test_span_names_are_those_of_the_dashboards() -> None:
    known = {"query_analysis", "reranking", "llm_generation", "guardrails"}
    assert known <= set(stages())


def test_a_trace_lists_its_passages_and_documents() -> None:
    from datetime import UTC, datetime

    spans = (Span("ranking", None, 0, 1, attributes={"hits": [["d1.v1.3", 0.5], ["d2.v1.0", 0.4], ["d1.v1.4", 0.1]]}),)
    trace = Trace("t", "query", datetime.now(UTC), 1.0, spans=spans)
    assert trace.hits == (("d1.v1.3", 0.5), ("d2.v1.0", 0.4), ("d1.v1.4", 0.1))
    assert trace.documents == ("d1", "d2")
    assert Trace("t", "query", datetime.now(UTC), 1.0).hits == ()


def test_llm_request_attributes_omit_the_text() -> None:
    wish = Sampling(model="big", temperature=0.0, max_tokens=50, stop=("secret",), system_prompt="secret")
    told = llm_request_attributes("ollama", Prompt("secret?", (Message("user", "secret"),), (), 321, wish), "small")
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "ollama",
        "gen_ai.request.model": "big",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 50,
        "prompt_tokens": 321,
        "sources": 0,
    }
    assert llm_request_attributes("ollama", Prompt("q", (), (), 1), "small")["gen_ai.request.model"] == "small"


def test_llm_response_attributes_omit_the_text() -> None:
    assert llm_response_attributes(Draft("secret", "m", "stop", Usage(10, 2)), 1.23456) == {
        "gen_ai.response.model": "m",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
        "first_token_ms": 1.235,
        "characters": 6,
    }
    assert llm_response_attributes(Draft("", None, None), None) == {"characters": 0}


def test_embedding_attributes_count_the_texts() -> None:
    assert embedding_attributes("minilm", "minilm-l6-v2/int8", 3) == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "minilm",
        "gen_ai.request.model": "minilm-l6-v2/int8",
        "texts": 3,
    }
