"""The adaptive design, against its profile."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.seeds.walk import Walk, walking

FILES = {
    "leave": "# Leave\n\nUp to five vacation days carry over into the next year.\n",
    "travel": "# Travel\n\nTrains are booked in second class. Flights are booked by the office.\n",
    "tools": "# Tools\n\n- hammer\n- saw\n- drill\n",
}
ASKED = "How many vacation days carry over into the next year?"
CLOSE = {"rag": {"search_threshold": 0.0}}


@pytest.fixture(scope="module")
def walk(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walking("adaptive", module_database_url, tmp_path_factory.mktemp("adaptive") / "data") as made:
        made.door.add("all", **FILES)
        yield made


def asked(walk: Walk, says: str, **body: Any) -> Any:
    walk.says({"say": says, "match": "."})
    return walk.ask("/api/chat", **{"message": ASKED, "no_cache": True, **body})


@pytest.mark.parametrize(
    ("question", "strategy", "top_k"),
    [
        ("Who books flights?", "dense_only", 5),
        ("When are trains booked?", "dense_only", 5),
        ("How should somebody who travels for the company go about booking?", "hybrid", 10),
        ("Compare how trains are booked with how flights are booked.", "fusion", 20),
        ('Where does it say "second class"?', "two_stage", 10),
        ("Summarise the travel document.", "hierarchical", None),
        ("List all tools.", None, 15),
        ("In 2023, how many days did everybody carry over?", "hybrid", 10),
        ("According to the leave document, how many days carry over?", "hybrid", 10),
        ("Hi, who books flights?", "dense_only", 5),
        ("In 2023, who booked flights, and how many days did carry over?", "fusion", 20),
    ],
)
def test_the_router_chooses_by_the_kind_of_question(
    walk: Walk, question: str, strategy: str | None, top_k: int | None
) -> None:
    walk.says({"say": "More words", "match": "."})
    plan = walk.ask("/api/v1/search", query=question)["plan"]
    assert strategy in (None, plan["strategy"])
    assert top_k in (None, plan["top_k"])


def test_ranks_of_both_engines_are_added_with_thirty(walk: Walk) -> None:
    for hit in walk.ask("/api/v1/search", query=ASKED, strategy="hybrid", explain=True)["results"]:
        explain = hit["explain"]
        assert (explain["fusion"], explain["rrf_k"]) == ("rrf", 30)
        by_hand = sum(1 / (30 + place["rank"]) for place in explain["placings"] if place["rank"])
        assert explain["fused_score"] == pytest.approx(by_hand)


def test_the_tree_and_the_tokens_join_the_sum_of_ranks(database_url: str, tmp_path: Path) -> None:
    engines = {"tree.build": "rules", "rag.tree": True, "late.build": "on", "rag.late_interaction": True}
    model = {"embedding.provider": "pincite_embed", "embedding.dimensions": 0}
    with walking("adaptive", database_url, tmp_path / "data", **engines, **model) as walk:
        walk.door.add("all", **FILES)
        until = time.monotonic() + 120
        while (found := walk.ask("/api/v1/search", query=ASKED, strategy="hybrid", explain=True))["degraded"]:
            assert time.monotonic() < until, found["degraded"]
            time.sleep(0.2)
        vias = set()
        for hit in found["results"]:
            explain = hit["explain"]
            vias |= {place["engine"] for place in explain["placings"]}
            by_hand = sum(1 / (30 + place["rank"]) for place in explain["placings"] if place["rank"])
            assert explain["fused_score"] == pytest.approx(by_hand)
        assert vias == {"dense", "lexical", "tree", "late"}
        assert "vacation days" in found["results"][0]["text"]


def test_an_answer_has_the_designs_own_structure(walk: Walk) -> None:
    told = asked(walk, "Up to five vacation days carry over into the next year. [Source 1]")
    assert told["content"].endswith("[Source 1]")
    source = told["sources"][0]
    assert set(source) >= {"document_id", "document_name", "chunk_id", "page_number", "snippet", "relevance_score",
                           "similarity_score"}  # fmt: skip
    assert len(source["snippet"]) <= 200
    assert 0 <= told["confidence_score"] <= 1
    assert told["confidence_level"] in ("high", "medium", "low")
    assert set(told["context_sufficiency"]) >= {"is_sufficient", "coverage_score", "has_conflicts", "missing_aspects"}


def test_what_a_model_writes_around_its_answer_is_put_in_its_place(walk: Walk) -> None:
    told = asked(
        walk,
        "Sure, I'll help:\nUp to five vacation days carry over into the next year. [source 1]\n"
        "SUGGESTED_QUESTIONS: What about sick days?|Who decides?",
    )
    assert told["content"] == "Up to five vacation days carry over into the next year. [Source 1]"
    assert told["suggested_questions"][:2] == ["What about sick days?", "Who decides?"]


@pytest.mark.parametrize(
    "preamble", ["Sure, I'll help: ", "Answer: ", "Okay, ", "Thank you for your question! ", "Here's what I found:\n\n"]
)
def test_a_preamble_is_stripped(walk: Walk, preamble: str) -> None:
    said = "Up to five vacation days carry over into the next year. [Source 1]"
    assert asked(walk, f"{preamble}{said}")["content"] == said


@pytest.mark.parametrize("marker", ["### SUGGESTED_QUESTIONS:", "## **SUGGESTED_QUESTIONS:**"])
def test_a_marker_written_as_a_heading_leaves_nothing_behind(walk: Walk, marker: str) -> None:
    said = "Up to five vacation days carry over into the next year. [Source 1]"
    told = asked(walk, f"{said}\n\n{marker} What about sick days?|Who decides?")
    assert told["content"] == said
    assert told["suggested_questions"][:2] == ["What about sick days?", "Who decides?"]


@pytest.mark.parametrize("mark", ["[Source: 1]", "[source: 1]", "[Source 1]"])
def test_a_mark_with_a_colon_is_one(walk: Walk, mark: str) -> None:
    told = asked(walk, f"Up to five vacation days carry over into the next year {mark}.")
    assert told["content"] == "Up to five vacation days carry over into the next year [Source 1]."
    assert [citation["source"] for citation in told["citations"]] == [1]


def test_a_mark_of_several_sources_cites_each_of_them(walk: Walk) -> None:
    for mark in ("[source 1, 2]", "[Sources 1, 2]", "[source 1, source 2]", "[Source 1][source 2]"):
        told = asked(walk, f"Up to five vacation days carry over into the next year {mark}.", top_k=2)
        both = "[Source 1][Source 2]" if "][" in mark else "[Source 1] [Source 2]"
        assert told["content"] == f"Up to five vacation days carry over into the next year {both}."
        assert [citation["text"] for citation in told["citations"]] == ["[Source 1]", "[Source 2]"]


def test_the_prompt_asks_for_suggested_questions(walk: Walk) -> None:
    asked(walk, "Up to five vacation days carry over into the next year. [Source 1]")
    assert "SUGGESTED_QUESTIONS:" in walk.prompts()[-1]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (ASKED, "answer directly"),
        ("Summarise: vacation days carry over into the next year", "begin with a summary"),
        ("Compare: trains are booked in second class, flights are booked by the office", "compare point by point"),
        ("List all vacation days that carry over into the next year", "enumerate everything"),
        ("Why do vacation days carry over into the next year?", "the evidence first"),
    ],
)
def test_the_prompt_asks_for_the_kind_of_answer_that_is_wanted(walk: Walk, question: str, words: str) -> None:
    asked(walk, "Yes. [Source 1]", message=question, **CLOSE)
    assert words in json.dumps(walk.prompts()[-1]["messages"]).lower()


def test_the_same_question_again_is_answered_from_the_cache(walk: Walk) -> None:
    walk.says({"say": "Up to five vacation days carry over into the next year. [Source 1]", "match": "."})
    first = walk.ask("/api/v1/query", query=ASKED)
    calls = len(walk.prompts())
    again = walk.ask("/api/v1/query", query=ASKED)
    assert (first["metadata"]["cached"], again["metadata"]["cached"]) == (False, True)
    assert (again["answer"], len(walk.prompts())) == (first["answer"], calls)


def test_a_slip_is_corrected_before_anything_is_searched(walk: Walk) -> None:
    found = walk.ask("/api/v1/search", query="How many vacatoin days carry over?")
    assert found["corrected_query"] == "How many vacation days carry over?"


@pytest.mark.parametrize(
    "asked_as", ["Wieviele Urlaubstage gibt es?", "Wieviel Urlaub gibt es?", "Zusammenfassung bitte"]
)
def test_a_word_with_which_people_ask_is_no_slip(walk: Walk, asked_as: str) -> None:
    assert walk.ask("/api/v1/search", query=asked_as)["corrected_query"] is None


def test_a_conversation_goes_on_in_its_session(walk: Walk) -> None:
    first = asked(walk, "Up to five. [Source 1]")
    asked(walk, "Trains. [Source 1]", message="How are trains booked?", session_id=first["session_id"], **CLOSE)
    shown = json.dumps(walk.prompts()[-1]["messages"])
    assert ASKED in shown


def test_a_question_keeps_to_its_collection(walk: Walk) -> None:
    walk.client.post("/api/v1/folders", json={"path": "elsewhere"}).raise_for_status()
    told = asked(walk, "Nothing.", collection_filter="elsewhere", **CLOSE)
    assert told["sources"] == []


@pytest.mark.parametrize(("threshold", "found"), [(0.0, True), (None, False), (0.99, False)])
def test_the_threshold_of_a_request_lowers_and_raises_that_of_the_settings(
    walk: Walk, threshold: float | None, found: bool
) -> None:
    question = "Who books flights?"
    rag = {"enabled": True} | ({} if threshold is None else {"searchThreshold": threshold})
    [best, *_] = walk.ask("/api/v1/search", query=question)["results"]
    assert 0.0 < best["similarity_score"] < 0.4  # below rag.similarity_threshold
    told = asked(walk, "The office. [Source 1]", message=question, rag=rag)
    assert bool(told["sources"]) == found
    said = [one for one in told["warnings"] if one.endswith(f"{best['similarity_score']:.2f}, below {threshold}")]
    assert len(said) == (threshold == 0.99)


@pytest.mark.parametrize(
    ("model", "window"), [("gpt-4", 128_000), ("tinyllama", 2048), ("never-heard-of", 8192), (None, 8000)]
)
def test_a_model_of_the_request_brings_its_own_window(walk: Walk, model: str | None, window: int) -> None:
    told = asked(walk, "Five. [Source 1]", **({"model": model} if model else {}))
    seen = walk.stage(told, "prompt_assembly")
    assert seen["window"] == window  # 8000 is llm.window, of the configured model alone
    tiny = int(window * 0.10) if model == "tinyllama" else int(window * 0.125)
    assert seen["room"] == int(window * 0.125) + tiny + int(window * 0.56)


def test_fusion_searches_for_everything_that_the_model_was_asked_for(walk: Walk) -> None:
    variations = ["ages of both projects", "which project began first", "start of the two projects"]
    walk.stub.play(
        answers=[
            {"match": "Other words:", "say": "\n".join(variations)},
            {"match": "More general question:", "say": "How old are the projects?"},
            {"match": ".", "say": "Nobody knows."},
        ]
    )
    question = "Is Helios older than Nordwind?"
    plan = walk.ask("/api/v1/search", query=question)["plan"]
    texts = list(dict.fromkeys(search["text"] for search in plan["searches"]))
    assert plan["strategy"] == "fusion"
    assert texts == [question, "How old are the projects?", *variations]


@pytest.mark.parametrize("level", [None, "basic", "standard", "enhanced", "maximum"])
def test_a_summary_searches_more_broadly_at_every_level(walk: Walk, level: str | None) -> None:
    walk.says({"say": "Trains are booked in second class. [Source 1]", "match": "."})
    body = {"message": "Summarise the travel document.", **({"intelligence_level": level} if level else {})}
    assert walk.hear("/api/chat", **body, no_cache=True)["plan"]["top_k"] == 20  # twice rag.top_k


def test_a_hypothetical_answer_is_in_the_plan_only_where_one_is_written(walk: Walk) -> None:
    for question, written in (("What is leave?", True), (ASKED, False)):
        told = asked(walk, "Five. [Source 1]", message=question, intelligence_level="enhanced", **CLOSE)
        assert any("hypothetical answer" in line for line in told["metadata"]["plan"]) == written


@pytest.mark.parametrize("strategy", ["dense_only", "hybrid", "fusion"])
def test_hypothetical_questions_take_no_place_among_the_candidates(walk: Walk, strategy: str) -> None:
    things = "mirror dome lens motor gear pier hatch crane lamp sensor mount cable pump valve filter clock frame rail"
    asking = {
        f"q{name}": f"# The {name}\n\n## Hypothetical questions\n\n- What is the {name} of the telescope made of?\n"
        f"- Who repairs the {name} of the telescope?\n- When was the {name} of the telescope replaced?\n"
        for name in things.split()
    }
    if not walk.client.get("/api/v1/documents", params={"folder": "scope"}).json()["items"]:
        walk.door.add(
            "scope", **asking, real="# Workshop\n\n## Staff\n\nParts are serviced by Ivana Horn twice a year.\n"
        )
    found = walk.ask("/api/v1/search", query="Who repairs the telescope?", folder="scope", strategy=strategy)
    assert ["Ivana Horn" in one["text"] for one in found["results"]] == [True]


def test_a_refusal_by_the_threshold_names_it(walk: Walk) -> None:
    told = asked(walk, "Nobody should be asked.", message="Who books flights?")
    [warning] = told["warnings"]
    assert re.fullmatch(
        r"\d passages were found, but none is relevant enough for an answer: the best has a similarity of 0\.[123]\d, "
        r"below 0\.4 \(rag\.similarity_threshold\)",
        warning,
    )


def test_a_question_under_a_profile_that_is_not_fully_configured_is_cached(walk: Walk) -> None:
    walk.says({"say": "Up to five vacation days carry over into the next year. [Source 1]", "match": "."})
    told = [walk.ask("/api/v1/query", query=ASKED, profile="local") for _ in range(2)]
    assert [one["metadata"]["cached"] for one in told] == [False, True]
    assert {note["stage"] for note in told[1]["degraded"]} == {"profile"}
    assert told[1]["degraded"] == told[0]["degraded"] != []


def test_top_k_of_sampling_is_a_setting_and_an_option(walk: Walk) -> None:
    asked(walk, "Five. [Source 1]")
    assert "top_k" not in walk.prompts()[-1]
    walk.client.put("/api/v1/settings", json={"llm.top_k": 30})
    asked(walk, "Five. [Source 1]")
    assert walk.prompts()[-1]["top_k"] == 30
    asked(walk, "Five. [Source 1]", sampling_top_k=5)
    assert walk.prompts()[-1]["top_k"] == 5
    walk.client.put("/api/v1/settings", json={"llm.top_k": None})


def test_temperature_is_for_the_request_to_say(walk: Walk) -> None:
    asked(walk, "Five. [Source 1]", temperature_override=1.1)
    assert walk.prompts()[-1]["temperature"] == 1.1


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        ("The Silver plan costs 25 euros a month for families.", "The Silver plan costs 40 euros a month for companies.", False),
        ("The works at Linz had 40 employees in 2022.", "The works at Linz had 44 employees in 2023.", False),
        ("The fee of the pool at Graz is 12 euros.", "The fee of the pool at Graz is 14 euros.", True),
    ],
)  # fmt: skip
def test_figures_of_two_things_are_no_conflict(walk: Walk, one: str, other: str, conflict: bool) -> None:
    folder = one.split()[1].lower()
    walk.door.add(folder, one=f"# One\n\n{one}\n", two=f"# Two\n\n{other}\n")
    told = asked(walk, f"{one} [Source 1]", message=f"Is this so: {one[:-1]}?", folder=folder, **CLOSE)
    assert told["sources"][0]["document_name"] == "one.md"
    assert len(told["sources"]) == 2
    assert told["context_sufficiency"]["has_conflicts"] is conflict


def test_confidence_is_relevance_times_grounding(walk: Walk) -> None:
    for says in ("Up to five vacation days carry over. [Source 1]", "Up to nine vacation days carry over. [Source 1]"):
        told = asked(walk, says, **CLOSE)
        native = walk.ask("/api/v1/query", query=ASKED, no_cache=True, **CLOSE)
        [relevance] = [source["relevance_score"] for source in told["sources"] if source["cited"]]
        assert told["confidence_score"] == pytest.approx(relevance * native["groundedness"]["score"], abs=1e-4)
    assert 0 < relevance < 1


def test_the_context_is_not_sufficient_where_a_part_of_the_question_is_missing(walk: Walk) -> None:
    both = "How many vacation days carry over into the next year, and how many violins?"
    told = {text: asked(walk, "Up to five. [Source 1]", message=text, **CLOSE) for text in (ASKED, both)}
    found = {text: one["context_sufficiency"] for text, one in told.items()}
    assert (found[ASKED]["is_sufficient"], found[ASKED]["missing_aspects"]) == (True, [])
    assert (found[both]["is_sufficient"], found[both]["missing_aspects"]) == (False, ["violins"])
    assert found[both]["coverage_score"] == 0.8  # vacation, days, carry, year of five words
