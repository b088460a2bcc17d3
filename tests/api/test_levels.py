"""Effort levels and switches over HTTP, with a model, without one and with a failing one."""

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import psycopg
import pytest
from psycopg import sql

from pincite.config.levels import find_level
from pincite.config.sources import load_settings, with_values
from pincite.query.retrieve.engines import ENGINES
from pincite.stub import StubLLM
from tests.api.live_server import LiveServer, assert_problem, events

LEVELS = ("basic", "standard", "enhanced", "maximum")
QUESTION = "Which day ends the holiday season?"
SEASON = "The holiday season ends on the second day of May. [Source 1]"
PAPERS = {
    "season": "# Season\n\nThe holiday season ends on the second day of May.",
    "canteen": "# Canteen\n\nThe canteen opens at noon on each day of the season.",
}
SCRIPT: list[dict[str, Any]] = [
    {"match": "Verdicts:$", "say": "\n".join(f"{number}: yes" for number in range(1, 21))},
    {"match": "Other words:$", "say": "When is the holiday season over?\nlast day of the season"},
    {"match": "More general question:$", "say": "How long do seasons last?"},
    {"match": "Passage:$", "say": "The season ends in spring."},
    {"match": "", "say": SEASON},
]


class Clever:
    """A server whose model is a stub."""

    def __init__(self, live_server: LiveServer, stub: StubLLM, client: httpx2.Client) -> None:
        self.live_server, self.stub, self.client = live_server, stub, client

    def ask(self, path: str = "query", **options: Any) -> dict[str, Any]:
        self.stub.play(answers=SCRIPT)
        text = {"message": QUESTION} if path == "chat" else {"query": QUESTION}
        response = self.client.post(f"/api/v1/{path}", json={**text, "no_cache": True, **options})
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def spans(self, answer: Mapping[str, Any]) -> list[str]:
        trace = self.client.get(f"/api/v1/traces/{answer['metadata']['trace_id']}").json()
        return [span["name"] for span in trace["spans"]]

    @property
    def prompts(self) -> list[str]:
        """What the model was asked to answer: the prompts with sources in them."""
        return [call.prompt for call in self.stub.calls if "[Source 1]" in call.prompt]


@pytest.fixture(scope="module")
def clever(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clever]:
    name = f"levels_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    settings = {
        "database.url": psycopg.conninfo.make_conninfo(postgres, dbname=name),
        "resilience.retries": 0,
        "resilience.breaker_failures": 1000,
        "traces.content": True,
        "spelling.enabled": False,
        "rag.similarity_threshold": 0.0,
    }
    with (
        StubLLM(answers=SCRIPT) as stub,
        LiveServer(tmp_path_factory.mktemp("levels") / "data", **settings, **{"llm.base_url": stub.url}) as live_server,
        live_server.client() as client,
    ):
        live_server.add("", **PAPERS)
        yield Clever(live_server, stub, client)


def stages(answer: Mapping[str, Any]) -> set[str]:
    return {note["stage"] for note in answer["degraded"]}


def not_built(level: str) -> set[str]:
    """The engines of a level; no test in this file builds one."""
    rag = with_values(load_settings(env={}), find_level(level).values).rag
    return {engine.name for engine in ENGINES if engine.enabled(rag)}


# --- the table --------------------------------------------------------------------------------------------------

BELOW = {"basic": set[str](), "standard": {"lexical_search", "verification"}}
BELOW["enhanced"] = BELOW["standard"] | {"query_variations", "step_back", "model_verification"}
BELOW["maximum"] = BELOW["enhanced"] | {"second_look", "ensemble", "voting"}
TOLD = set[str]().union(*BELOW.values())


def test_one_question_at_the_four_levels_leaves_four_different_traces(clever: Clever) -> None:
    seen: dict[str, list[str]] = {}
    for level in LEVELS:
        answer = clever.ask(intelligence_level=level)
        assert (answer["intelligence_level"], answer["answer"]) == (level, SEASON)
        seen[level] = clever.spans(answer)
        assert TOLD & set(seen[level]) == BELOW[level]
        assert seen[level].count("llm_draft" if level == "maximum" else "llm_generation") == (
            3 if level == "maximum" else 1
        )
        assert "vector_search" in seen[level]
    assert seen["enhanced"].count("vector_search") > seen["standard"].count("vector_search") == 1
    assert len({tuple(sorted(set(names))) for names in seen.values()}) == 4


@pytest.mark.parametrize(
    ("level", "strategy", "passages"),
    [("basic", "dense_only", 5), ("standard", "hybrid", 10), ("enhanced", "hybrid", 10), ("maximum", "fusion", 20)],
)
def test_the_plan_says_what_the_level_decided(clever: Clever, level: str, strategy: str, passages: int) -> None:
    answer = clever.ask(intelligence_level=level)
    plan = answer["metadata"]["plan"]
    assert answer["strategy"] == strategy
    assert f"strategy {strategy}: the level {level} says so" in plan
    assert f"{passages} passages" in plan
    assert any(line.startswith(f"level {level}: the request says so") for line in plan)


@pytest.mark.parametrize("level", LEVELS)
def test_with_a_model_only_unavailable_stages_are_left_out(clever: Clever, level: str) -> None:
    left_out = stages(clever.ask(intelligence_level=level))
    thinks = {"extended_thinking"} if level == "maximum" else set()  # the stub's model is not known to
    assert left_out == thinks | not_built(level)


@pytest.mark.parametrize("level", LEVELS)
def test_without_a_model_each_level_answers_and_names_what_it_went_without(
    live_server: LiveServer, client: httpx2.Client, folder: str, level: str
) -> None:
    live_server.add(folder, **PAPERS)
    body = {"query": QUESTION, "folder": folder, "intelligence_level": level}
    answer = client.post("/api/v1/query", json=body).json()
    assert (answer["intelligence_level"], answer["metadata"]["model"]) == (level, "extractive")
    assert all(citation["matched"] for citation in answer["citations"])
    expected = {
        "basic": set(),
        "standard": set(),
        "enhanced": {"step_back", "query_variations", "model_verification", "chain_of_thought"},
        "maximum": {
            "step_back",
            "query_variations",
            "model_verification",
            "chain_of_thought",
            "extended_thinking",
            "ensemble",
        },
    }
    assert stages(answer) == expected[level] | not_built(level)
    assert all(note["reason"] for note in answer["degraded"])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("fault", ["500", "empty", "malformed:0"])
def test_with_a_model_that_fails_each_level_still_answers(clever: Clever, level: str, fault: str) -> None:
    clever.stub.play(answers=[{"match": "", "say": "x", "fault": fault}])
    body = {"query": QUESTION, "no_cache": True, "intelligence_level": level}
    response = clever.client.post("/api/v1/query", json=body)
    assert response.status_code == 200, response.text
    answer = response.json()
    assert (answer["metadata"]["model"], answer["intelligence_level"]) == ("extractive", level)
    assert stages(answer) >= ({"ensemble"} if level == "maximum" else {"llm_generation"})
    assert all(citation["matched"] for citation in answer["citations"])


# --- who decides ------------------------------------------------------------------------------------------------


def test_a_strategy_in_the_request_wins_over_its_level(clever: Clever) -> None:
    answer = clever.ask(intelligence_level="basic", strategy="two_stage")
    assert (answer["strategy"], answer["intelligence_level"]) == ("two_stage", "basic")
    assert "strategy two_stage: the request says so" in answer["metadata"]["plan"]
    assert "verification" not in clever.spans(answer)


def test_a_switch_in_the_request_wins_over_its_level(clever: Clever) -> None:
    off = clever.ask(intelligence_level="maximum", ensemble_voting=False, second_look=False, enable_verification=False)
    assert {"ensemble", "second_look", "model_verification"}.isdisjoint(clever.spans(off))
    on = clever.ask(intelligence_level="basic", enable_verification=True)
    assert "verification" in clever.spans(on)


def test_a_level_lies_over_a_profile_and_what_it_leaves_open_is_the_profiles(clever: Clever) -> None:
    answer = clever.ask(intelligence_level="standard", profile="five-stage")
    assert answer["strategy"] == "hybrid"
    assert {"lexical_search", "verification"} <= set(clever.spans(answer))
    assert "[Season]" in clever.stub.calls[-1].prompt  # its own template
    alone = clever.ask(profile="five-stage")
    assert (alone["strategy"], alone["intelligence_level"]) == ("dense_only", "standard")


def test_without_a_level_the_settings_are_as_they_are(clever: Clever) -> None:
    summary = {"query": "Summarise what is known about the season.", "profile": "adaptive"}
    routed = clever.ask(**summary)  # its strategy is the router's choice
    assert (routed["strategy"], routed["intelligence_level"]) == ("hierarchical", "standard")
    assert clever.ask(**summary, intelligence_level="standard")["strategy"] == "hybrid"


def test_an_administrator_sets_the_level_of_questions_that_name_none(clever: Clever) -> None:
    changed = clever.client.put("/api/v1/settings", json={"answers.level": "basic"})
    assert changed.status_code == 200, changed.text
    try:
        answer = clever.ask()
        assert (answer["intelligence_level"], answer["strategy"]) == ("basic", "dense_only")
        assert "level basic: answers.level says so" in answer["metadata"]["plan"]
        assert clever.ask(intelligence_level="standard")["strategy"] == "hybrid"
        found = clever.client.post("/api/v1/search", json={"query": QUESTION}).json()
        assert found["strategy"] == "hybrid"  # a search has no level
    finally:
        clever.client.put("/api/v1/settings", json={"answers.level": None})


@pytest.mark.parametrize("path", ["query", "chat"])
def test_an_unknown_level_is_refused_with_those_there_are(clever: Clever, path: str) -> None:
    body = {"query": "q"} if path == "query" else {"message": "q"}
    response = clever.client.post(f"/api/v1/{path}", json={**body, "intelligence_level": "genius"})
    problem = assert_problem(response, 422, "invalid")
    assert all(level in problem["detail"] for level in LEVELS)


# --- the switches -----------------------------------------------------------------------------------------------


def test_reasoning_step_by_step_is_asked_for_and_never_shown(clever: Clever) -> None:
    clever.ask(enable_cot=False)
    assert "<think>" not in clever.prompts[-1]
    clever.ask(enable_cot=True)
    assert "<think>" in clever.prompts[-1]
    said = f"<think>Surely the holidays, as source 1 says.</think>\n{SEASON}"
    clever.stub.play(answers=[said, said])
    body = {"query": QUESTION, "no_cache": True, "enable_cot": True}
    whole = clever.client.post("/api/v1/query", json=body).json()
    with clever.client.stream("POST", "/api/v1/query", json={**body, "stream": True}) as response:
        told = events(response.iter_lines())
    assert whole["answer"] == SEASON
    assert "".join(data["text"] for name, data in told if name == "token") == SEASON
    assert "Surely" not in str(told) + str(whole)
    trace = clever.client.get(f"/api/v1/traces/{whole['metadata']['trace_id']}").json()
    assert trace["content"]["thoughts"] == ["Surely the holidays, as source 1 says."]


def test_several_drafts_are_written_where_that_is_asked_for(clever: Clever) -> None:
    answer = clever.ask(ensemble_voting=True)
    assert len(clever.prompts) == 3
    assert clever.spans(answer).count("llm_draft") == 3
    single = clever.ask(ensemble_voting=False)
    assert len(clever.prompts) == 1
    one, three = (one["metadata"]["usage"]["completion_tokens"] for one in (single, answer))
    assert three == 3 * one


def test_what_an_answer_cost_counts_the_calls_beside_it(clever: Clever) -> None:
    plain, judged = (clever.ask(intelligence_level=level)["metadata"]["usage"] for level in ("standard", "enhanced"))
    calls = [call for call in clever.stub.calls if call.path.endswith("/chat/completions")]
    assert len(calls) == 5
    assert judged["completion_tokens"] == sum(call.tokens for call in calls) > plain["completion_tokens"]


def test_the_chosen_draft_is_streamed(clever: Clever) -> None:
    clever.stub.play(answers=SCRIPT)
    body = {"message": QUESTION, "stream": True, "ensemble_voting": True, "no_cache": True}
    with clever.client.stream("POST", "/api/v1/chat", json=body) as response:
        told = events(response.iter_lines())
    assert "".join(data["text"] for name, data in told if name == "token") == SEASON
    assert [name for name, _ in told][-2:] == ["answer", "done"]


def test_thinking_for_long_is_left_out_where_the_model_cannot_and_done_where_it_can(clever: Clever) -> None:
    assert stages(clever.ask(extended_thinking=True)) == {"extended_thinking"}
    assert stages(clever.ask(extended_thinking=True, model="gpt-oss-20b")) == set()
    body = clever.stub.calls[-1].body
    assert (body["reasoning_effort"], body["max_tokens"] > 1000 + 1024) == ("high", True)
    clever.ask(model="gpt-oss-20b")
    assert "reasoning_effort" not in clever.stub.calls[-1].body


def test_verification_can_be_switched_for_one_question(clever: Clever) -> None:
    assert "verification" in clever.spans(clever.ask(enable_verification=True))
    assert "verification" not in clever.spans(clever.ask(enable_verification=False))
    by_model = clever.ask(intelligence_level="enhanced")
    assert clever.spans(by_model).count("model_verification") == 1


def test_a_second_look_is_taken_where_something_is_missing(clever: Clever) -> None:
    without = clever.ask(second_look=False)
    assert "second_look" not in clever.spans(without)
    looked = clever.ask(second_look=True)
    assert clever.spans(looked).count("second_look") == 1
    assert clever.spans(looked).count("retrieval") in (1, 2)
    clever.stub.play(answers=SCRIPT)
    body = {"query": "Which weekday begins the fishing season?", "second_look": True, "no_cache": True}
    missing = clever.client.post("/api/v1/query", json=body).json()
    assert clever.spans(missing).count("retrieval") == 2
    assert any(line.startswith("second look:") for line in missing["metadata"]["plan"])


def test_all_options_under_rag_apply(clever: Clever) -> None:
    assert clever.ask(rag={"enabled": False})["metadata"]["chunks_retrieved"] == 0
    assert clever.ask(rag={"search_limit": 1})["metadata"]["chunks_retrieved"] == 1
    assert clever.ask(rag={"search_threshold": 0.99})["metadata"]["chunks_retrieved"] == 0
    instead = clever.ask(rag={"query": "canteen at noon"})
    assert clever.spans(instead).count("vector_search") == 1
    assert instead["sources"] != clever.ask()["sources"]
    scores = {alpha: clever.ask(rag={"hybrid_alpha": alpha})["sources"][0]["hybrid_score"] for alpha in (0.0, 1.0)}
    assert scores[0.0] != scores[1.0]


def test_how_the_model_writes_is_as_the_request_says(clever: Clever) -> None:
    clever.ask(temperature_override=0.9, top_p=0.4, sampling_top_k=7, max_tokens=33, stop=["END"], model="other")
    body = clever.stub.calls[-1].body
    assert (body["temperature"], body["top_p"], body["top_k"], body["max_tokens"]) == (0.9, 0.4, 7, 33)
    assert (body["stop"], body["model"]) == (["END"], "other")


def test_a_mode_that_goes_without_part_of_a_level_says_so(clever: Clever) -> None:
    answer = clever.ask("chat", mode="agent", intelligence_level="maximum")
    assert (answer["intelligence_level"], answer["mode"]) == ("maximum", "agent")
    [note] = [note for note in answer["degraded"] if note["stage"] == "level"]
    assert "3 drafts that vote" in note["reason"]
    plain = clever.ask("chat", mode="general", intelligence_level="maximum")
    assert "level maximum: the request says so" in plain["metadata"]["plan"]


def test_levels_work_in_a_conversation(clever: Clever) -> None:
    answer = clever.ask("chat", intelligence_level="basic")
    assert (answer["intelligence_level"], answer["strategy"]) == ("basic", "dense_only")
    followed = clever.ask("chat", intelligence_level="enhanced", session_id=answer["session_id"])
    assert followed["intelligence_level"] == "enhanced"
    assert clever.client.get(f"/api/v1/sessions/{answer['session_id']}").status_code == 200


def test_an_answer_is_cached_for_its_level_only(clever: Clever) -> None:
    clever.stub.play(answers=SCRIPT)
    body = {"query": "On which day does the holiday season end?"}
    first, again = (
        clever.client.post("/api/v1/query", json={**body, "intelligence_level": "enhanced"}).json() for _ in range(2)
    )
    assert (first["metadata"]["cached"], again["metadata"]["cached"]) == (False, True)
    assert again["intelligence_level"] == "enhanced"
    other = clever.client.post("/api/v1/query", json={**body, "intelligence_level": "standard"}).json()
    assert (other["metadata"]["cached"], other["intelligence_level"]) == (False, "standard")
