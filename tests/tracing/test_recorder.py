"""A run's trace tells what happened, and its words only where they may be kept."""

import asyncio

import pytest

from pincite.config.sources import load_settings
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Filters, Question, Sampling
from pincite.core.request_context import remote_span, request_id
from pincite.core.run import Answered, Event
from pincite.core.traces import Content, TraceOutcome
from pincite.errors import Invalid
from pincite.tracing.recorder import TraceRecorder
from tests.builders import answer, source
from tests.core.test_run import make_run

ASKED = Question("why", filters=Filters(folder="hr"), top_k=3, sampling=Sampling(system_prompt="be brief", top_p=0.5))
ANSWER = answer("Because. [Source 1]", (source(1, "d1", "Because."),))


def test_what_is_heard_is_passed_on_and_told() -> None:
    heard: list[Event] = []
    run, witness = make_run(), TraceRecorder("query", ASKED, heard.append)
    witness.hear(Answered(ANSWER))
    trace = witness.trace(run, None)
    assert heard == [Answered(ANSWER)]
    assert (trace.id, trace.kind, trace.error, trace.code) == (run.id, "query", None, None)
    assert trace.options == {"top_k": 3, "filters": {"folder": "hr"}, "sampling": {"top_p": 0.5}}
    chunk_id = ANSWER.sources[0].chunk_id
    assert trace.outcome == TraceOutcome(0.5, "medium", 1.0, (chunk_id,), (chunk_id,), 19, "m", "stop")
    assert trace.content is None
    assert witness.told is trace


def test_the_words_are_kept_where_the_settings_allow() -> None:
    run, witness = make_run(), TraceRecorder("query", ASKED)
    run.settings = load_settings({"traces.content": True, "rag.fusion": "rrf", "llm.base_url": "http://there"}, env={})
    witness.hear(Answered(ANSWER))
    run.thoughts.append("so it must be")
    trace = witness.trace(run, None)
    assert trace.content == Content(
        "why", system_prompt="be brief", answer="Because. [Source 1]", thoughts=("so it must be",)
    )
    assert trace.settings == {"rag.fusion": "rrf"}


def test_what_the_model_was_shown_is_kept_without_the_turns_before() -> None:
    said = [("system", "cite"), ("user", "before"), ("assistant", "of another document"), ("user", "[Source 1] why")]
    run, witness = make_run(), TraceRecorder("query", ASKED)
    run.prompt = Prompt("why", tuple(Message(role, text) for role, text in said), (), 9)  # type: ignore[arg-type]
    assert witness.trace(run, None).content is None
    run.settings = load_settings({"traces.content": True}, env={})
    content = witness.trace(run, None).content
    assert content is not None
    assert content.prompt == ({"role": "system", "content": "cite"}, {"role": "user", "content": "[Source 1] why"})


def test_a_failed_run_is_recorded_too() -> None:
    run, witness = make_run(), TraceRecorder("search", Question("half a pair \ud800 and a \0"))
    run.settings = load_settings({"traces.content": True}, env={})
    trace = witness.trace(run, Invalid("no", code="why_not"))
    assert (trace.error, trace.code, trace.outcome) == ("Invalid: no", "why_not", None)
    assert trace.content == Content("half a pair ? and a  ")
    assert witness.trace(run, asyncio.CancelledError()).code == "cancelled"


def test_a_trace_names_its_request_and_the_clients_own() -> None:
    request_id.set("abcdefgh")
    remote_span.set("a-b")
    try:
        trace = TraceRecorder("query", ASKED).trace(make_run(), None)
        again = TraceRecorder("replay", ASKED, replays=trace).trace(make_run(), None)
    finally:
        request_id.set("")
        remote_span.set(None)
    assert (trace.request_id, trace.remote) == ("abcdefgh", "a-b")
    assert (again.options["replays"], again.options["searched"]) == (trace.id, False)


@pytest.mark.parametrize(
    ("kind", "question", "surely"),
    [
        ("search", Question("cats"), ["cats"]),
        ("evaluation", Question("cats"), ["cats"]),
        ("query", Question("cats"), []),
        ("search", Question("cats", strategy="lexical_only"), []),
        ("search", Question("cats", also=("dogs",)), []),
        ("search", Question("cats", filters=Filters(index="another")), []),
        ("search", Question(" cats"), []),
        ("search", Question("c\0ats"), []),
        ("search", Question(""), []),
        ("search", Question("cats" * 3), []),
    ],
)
def test_only_a_plain_accepted_search_has_certain_queries(kind: str, question: Question, surely: list[str]) -> None:
    assert TraceRecorder(kind, question).certain_queries(10) == surely
