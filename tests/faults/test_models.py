"""Model servers that fail: every fault of docs/faults.md, at every call of a question, once and lasting."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pincite.stub.faults import FAULTS, HARMLESS_FAULTS

from .bench import SLOW, WRITTEN, Bench

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
CALLS = ("models", "rewrite", "embed", "write")
TRIES, BREAKER = 4, 5


def table() -> dict[str, tuple[str, ...]]:
    """Fault → outcome at each kind of call, from docs/faults.md."""
    found = re.findall(r"^\| (`[^|]*`) \| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$", PAGE.read_text(), re.MULTILINE)
    return {fault: tuple(row[1:]) for row in found for fault in re.findall(r"`([^`]+)`", row[0])}


TABLE = table()


def cases() -> Iterator[str]:
    """Each fault at each call, once and lasting; harmless faults at all calls together."""
    for fault in TABLE:
        if fault in HARMLESS_FAULTS:
            yield f"{fault}@1-"
        else:
            yield from (f"{fault}@{number}{to}" for number in range(1, 5) for to in ("", "-"))


@dataclass(frozen=True, slots=True)
class Expected:
    """The documented outcome of one case."""

    stages: set[str]
    model: str
    finish: str
    calls: Counter[str]


def expected(fault: str, first: int, lasting: bool) -> Expected:
    """Derive the outcome of a question from the documented outcomes of its calls."""
    words = dict(zip(CALLS, TABLE[fault], strict=True))
    hit = {call for n, call in enumerate(CALLS, 1) if n == first or (lasting and n > first)}
    words = {call: word if call in hit else "whole" for call, word in words.items()}
    unknown = lasting and words["models"] != "whole"  # the name of the model is never returned
    calls, stages = Counter({"models": 1 if words["models"] == "whole" or unknown else 2}), set[str]()
    left = {"chat": BREAKER, "embed": BREAKER}

    def call(path: str, word: str, service: str) -> bool:
        """Simulate one call with its retries; whether it succeeds before the circuit breaker opens."""
        failed = word in ("retried", "without")
        tries = min(TRIES if word == "retried" and lasting else 1, left[service]) if failed else 0
        left[service] -= tries
        worked = not failed or (word == "retried" and not lasting)
        calls[path] += tries + worked
        return worked

    chat, asks = ("models", words["models"]) if unknown else ("chat/completions", "")
    if not call(chat, asks or words["rewrite"], "chat"):
        stages.add("query_rewriting")
    if not call("embeddings", words["embed"], "embed"):
        stages.add("query_embedding")
    if fault == "noschema" and "rewrite" in hit and not unknown:  # asked again without the schema
        calls["chat/completions"] += 1
    wrote = call(chat, asks or words["write"], "chat")
    if not wrote or words["write"] == "incomplete":
        stages.add("llm_generation")
    if not wrote:  # the extractive answerer compares the question with the sentences: two calls
        again = words["embed"] if "embed" in hit else TABLE[fault][2] if lasting else "whole"
        if call("embeddings", again, "embed"):
            calls["embeddings"] += 1
    finish = words["write"] if wrote and words["write"] in ("incomplete", "length") else "stop"
    return Expected(stages, "stub-1" if wrote else "extractive", finish, +calls)


def test_the_page_names_every_fault() -> None:
    assert {fault.partition(":")[0] for fault in TABLE if not fault.isdigit()} == set(FAULTS)
    assert len(TABLE) > 25


@pytest.mark.parametrize("case", list(cases()))
def test_a_fault_ends_as_the_page_says(bench: Bench, case: str) -> None:
    fault, _, place = case.partition("@")
    lasting, first = place.endswith("-"), int(place.removesuffix("-"))
    soon = fault.partition(":")[0] in SLOW
    bench.play(
        case,
        llm__first_token_timeout_s=0.8 if soon else 30,
        llm__timeout_s=5 if soon else 60,  # four tries fit into it
        embedding__timeout_s=0.8 if soon else 30,
    )
    asked, wanted = bench.ask(), expected(fault, first, lasting)
    answer = asked.answer
    metadata = answer.metadata
    assert (asked.stages, metadata.model, metadata.finish_reason) == (wanted.stages, wanted.model, wanted.finish)
    assert asked.calls == wanted.calls
    assert asked.complete == (wanted.finish == "stop")
    assert asked.finish_in_trace == wanted.finish
    assert asked.shown == answer.text
    assert (answer.text == WRITTEN) == (wanted.model == "stub-1" and wanted.finish == "stop")
    assert answer.sources[0].document_name == "leave.md"
    if wanted.finish == "incomplete":
        assert WRITTEN.startswith(answer.text.rstrip(" …"))
    if wanted.model == "extractive":
        assert all(citation.matched for citation in answer.citations)
        assert answer.citations
    assert asked.worked_s < 20
