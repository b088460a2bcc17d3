"""The design in five stages, against its profile: retrieval, context, generation, citations, confidence."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.live_server import assert_problem
from tests.seeds.walk import Walk, walking

LEAVE = """---
title: Leave Policy
category: hr
source_urls: [https://example.org/leave]
---
# Leave Policy

## Carrying over

Up to five vacation days carry over into the next year.
"""
VACATION = """# Vacation Policy

The vacation policy says how vacation days are taken over the year.

## Carry-over

Up to five vacation days carry over into the next year and expire on 31 March.

## Approval

The team lead approves vacation within three working days.
"""
CARRY_OVER = "Up to five vacation days carry over into the next year and expire on 31 March."
PARKING = "# Parking\n\nVisitors park bicycles in the yard of the building, beside the vacation board.\n"
ASKED = "How many vacation days carry over into the next year?"


@pytest.fixture(scope="module")
def walk(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walking("five-stage", module_database_url, tmp_path_factory.mktemp("five-stage") / "data") as made:
        made.door.add("hr", leave=LEAVE)
        made.door.add("office", parking=PARKING)
        made.door.add("noise", noise="# Quartz\n\nZebras paint violins.\n")
        made.door.add("rules", vacation=VACATION)
        yield made


def test_a_query_goes_through_the_five_stages_in_their_order(walk: Walk) -> None:
    walk.says("Up to five vacation days carry over into the next year [Leave Policy > Carrying over].")
    told = walk.ask("/api/query", query=ASKED)
    stages = ["retrieval", "prompt_assembly", "llm_generation", "grounding"]
    assert [name for name in walk.spans(told["metadata"]["traceId"]) if name in stages] == stages
    assert list(told) == ["answer", "sources", "relatedDocs", "citations", "confidence", "metadata"]


def test_a_title_with_brackets_can_be_cited(walk: Walk) -> None:
    walk.door.add(
        "draft", draft="---\ntitle: Rules [draft] 2024\n---\n\n# Smoke\n\nSmoking is forbidden in the hall.\n"
    )
    walk.says("Smoking is forbidden in the hall [Rules (draft) 2024 > Smoke].")
    told = walk.ask("/api/query", query="Is smoking forbidden in the hall?", folder="draft")
    assert "\n[Rules (draft) 2024 > Smoke]\n" in walk.prompts()[-1]["messages"][0]["content"]
    [cited] = told["citations"]
    assert (cited["title"], cited["section"], cited["matched"]) == ("Rules [draft] 2024", "Smoke", True)
    assert cited["quote"] == "Smoking is forbidden in the hall."


def test_a_title_of_letters_and_numbers_can_be_cited(walk: Walk) -> None:
    walk.door.add("quarters", q4="# Q4 2023\n\nRevenue of the boat yard grew by five percent.\n")
    walk.says("Revenue of the boat yard grew by five percent [Q4 2023].")
    told = walk.ask("/api/query", query="How did the revenue of the boat yard grow?", folder="quarters")
    assert "\n[Q4 2023]\n" in walk.prompts()[-1]["messages"][0]["content"]
    [cited] = told["citations"]
    assert (cited["title"], cited["matched"], cited["matchedBy"]) == ("Q4 2023", True, "title")
    assert [one["title"] for one in told["sources"]] == ["Q4 2023"]


def test_a_title_that_looks_like_a_number_is_a_title(walk: Walk) -> None:
    walk.door.add(
        "gates", s1="# Source 2\n\nThe gate of the yard is red.\n", s2="# 12\n\nThe fence of the yard is green.\n"
    )
    walk.says("The gate of the yard is red [Source 2]. The fence of the yard is green [12]. Both are new [1].")
    told = walk.ask("/api/query", query="What colour are the gate and the fence of the yard?", folder="gates")
    assert told["answer"].startswith("The gate of the yard is red [Source 2]. The fence of the yard is green [12].")
    assert [(one["title"], one["matched"], one["matchedBy"]) for one in told["citations"]] == [
        ("Source 2", True, "title"), ("12", True, "title"), ("1", False, None),
    ]  # fmt: skip


def test_a_title_of_several_lines_or_of_many_words_can_be_cited(walk: Walk) -> None:
    long = "Long rules " + "of the yard and its gates " * 9 + "Q"
    walk.door.add("long", rules=f"---\ntitle: {long}\n---\n\nThe gate of the yard is locked at night.\n")
    for shown in (long, long.replace("the yard", "the\nyard", 1)):
        walk.says(f"The gate of the yard is locked at night [{shown}].")
        told = walk.ask("/api/query", query="When is the gate of the yard locked?", folder="long")
        assert [(one["title"], one["matched"]) for one in told["citations"]] == [(long, True)]


def test_a_mark_of_two_titles_cites_both(walk: Walk) -> None:
    said = "Up to five vacation days carry over into the next year"
    walk.says(f"{said} [Leave Policy, Vacation Policy].")
    told = walk.ask("/api/query", query=ASKED)
    assert told["answer"] == f"{said} [Leave Policy] [Vacation Policy]."
    assert [(one["title"], one["matchedBy"]) for one in told["citations"]] == [
        ("Leave Policy", "title"), ("Vacation Policy", "title"),
    ]  # fmt: skip


def test_a_list_retrieves_ten_passages_too(walk: Walk) -> None:
    walk.door.add("list", **{f"rule{n}": f"# Rule {n}\n\nVacation rule number {n} of the office.\n" for n in range(14)})
    found = walk.ask("/api/v1/search", query="List all vacation rules of the office.", folder="list")["results"]
    assert len(found) == 10


def test_a_query_of_more_than_a_thousand_characters_is_refused(walk: Walk) -> None:
    walk.says("Nobody should be asked.")
    assert_problem(walk.client.post("/api/query", json={"query": "x" * 1001}), 422, "query_too_long")
    assert_problem(walk.client.post("/api/query", json={"query": ""}), 422, "empty_query")
    assert_problem(walk.client.post("/api/query", json={"query": ["x"]}), 422, "invalid")
    assert walk.prompts() == []


def test_the_model_is_sent_two_messages_with_the_context_in_the_first(walk: Walk) -> None:
    walk.says("Five [Leave Policy].")
    walk.ask("/api/query", query=ASKED)
    [sent] = walk.prompts()
    system, user = sent["messages"]
    assert (system["role"], user) == ("system", {"role": "user", "content": ASKED})
    assert "[Leave Policy > Carrying over]\n" in system["content"]
    assert "Up to five vacation days carry over into the next year.\n" in system["content"]


def test_the_model_is_asked_as_the_design_has_it(walk: Walk) -> None:
    walk.says("Five [Leave Policy].")
    walk.ask("/api/query", query=ASKED)
    [sent] = walk.prompts()
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("llama-3.1-8b-instant", 0.3, 500)


def test_passages_stand_in_the_context_from_the_nearest_to_the_farthest(walk: Walk) -> None:
    walk.says("Five [Leave Policy].")
    walk.ask("/api/query", query="Which vacation days carry over, and where do visitors park bicycles?")
    context = walk.prompts()[0]["messages"][0]["content"]
    hits = walk.ask("/api/v1/search", query="Which vacation days carry over, and where do visitors park bicycles?")[
        "results"
    ]
    near = [hit["similarity_score"] for hit in hits]
    assert near == sorted(near, reverse=True)
    places = [context.find(hit["text"].splitlines()[-1]) for hit in hits if hit["similarity_score"] >= 0.15]
    assert -1 not in places
    assert places == sorted(places)


def test_what_is_less_similar_than_the_threshold_reaches_no_prompt(walk: Walk) -> None:
    walk.says("Five [Leave Policy].")
    walk.ask("/api/query", query=ASKED)
    found = walk.ask("/api/v1/search", query=ASKED, top_k=50)["results"]
    weak = [hit for hit in found if hit["similarity_score"] < 0.15]
    context = walk.prompts()[0]["messages"][0]["content"]
    assert "Zebras paint violins." in [hit["text"].splitlines()[-1] for hit in weak]
    assert not any(hit["text"].splitlines()[-1] in context for hit in weak)


def test_titles_that_are_cited_are_matched_and_those_made_up_are_not(walk: Walk) -> None:
    five = "Up to five vacation days carry over into the next year"
    walk.says(f"{five} [Leave Policy]. {five} [leave policy > Carrying over]. Or none [Ghost Story].")
    told = walk.ask("/api/query", query=ASKED)
    assert [(one["title"], one["matched"]) for one in told["citations"]] == [
        ("Leave Policy", True), ("Ghost Story", False),
    ]  # fmt: skip
    matched, ghost = told["citations"]
    assert matched["sourceUrls"] == ["https://example.org/leave"]
    assert matched["docId"]
    assert isinstance(matched["score"], float)
    assert (ghost["docId"], ghost["score"], ghost["sourceUrls"]) == (None, None, [])
    assert [one["url"] for one in told["sources"]] == ["https://example.org/leave"]


ABOUT_POLICY = "What does the vacation policy say over the year?"


def test_a_cited_section_is_the_passage_of_that_section(walk: Walk) -> None:
    walk.says(f"{CARRY_OVER} [Vacation Policy > Carry-over]")
    told = walk.ask("/api/v1/query", query=ABOUT_POLICY, folder="rules")
    [section] = [one for one in told["sources"] if one["heading_path"] == ["Vacation Policy", "Carry-over"]]
    assert section["number"] > 1  # the search ranks another passage of the document first
    [cited] = told["citations"]
    assert (cited["source"], cited["quote"], cited["support"]) == (section["number"], CARRY_OVER, 1.0)
    assert (cited["title"], cited["section"], cited["matched_by"]) == ("Vacation Policy", "Carry-over", "title")
    assert (told["warnings"], told["groundedness"]["score"]) == ([], 1.0)
    walk.says(f"{CARRY_OVER} [Vacation Policy > Carry-over]")
    [seen] = walk.ask("/api/query", query=ABOUT_POLICY, folder="rules")["citations"]
    assert (seen["title"], seen["section"], seen["quote"]) == ("Vacation Policy", "Carry-over", CARRY_OVER)


def test_a_citation_quotes_the_sentence_and_not_the_heading_above_it(walk: Walk) -> None:
    walk.door.add("fees", fees="# Harbour Rules\n\n## Fees\n\nThe fees are nine francs.\n")
    walk.says("The fees are nine francs [Harbour Rules > Fees].")
    [cited] = walk.ask("/api/query", query="How high are the fees of the harbour?", folder="fees")["citations"]
    assert (cited["section"], cited["quote"]) == ("Fees", "The fees are nine francs.")


def test_a_title_alone_cites_the_passage_that_says_so(walk: Walk) -> None:
    walk.says(f"{CARRY_OVER} [Vacation Policy]")
    [cited] = walk.ask("/api/v1/query", query=ABOUT_POLICY, folder="rules")["citations"]
    assert (cited["section"], cited["quote"], cited["support"]) == ("Carry-over", CARRY_OVER, 1.0)


def test_a_section_that_no_source_has_is_not_matched_in_silence(walk: Walk) -> None:
    mark = "[Vacation Policy > Nonexistent Section]"
    walk.says(f"{CARRY_OVER} {mark}")
    told = walk.ask("/api/v1/query", query=ABOUT_POLICY, folder="rules")
    [cited] = told["citations"]
    assert (cited["title"], cited["section"], cited["matched_by"]) == ("Vacation Policy", None, "title")
    missing = "no source has the section “Nonexistent Section”"
    assert cited["reason"] == missing
    assert told["warnings"] == [f"{mark} at character {len(CARRY_OVER) + 1} is matched by its title alone: {missing}"]


def test_sections_of_one_unknown_title_are_one_citation(walk: Walk) -> None:
    dark = "It is dark [Moon > Dark side]. It is bright [Moon > Bright side]."
    walk.says(f"{f'{CARRY_OVER} [Vacation Policy]. ' * 3}{dark}")
    told = walk.ask("/api/query", query=ABOUT_POLICY, folder="rules")
    assert [(one["title"], one["section"], one["matched"]) for one in told["citations"]] == [
        ("Vacation Policy", "Carry-over", True), ("Moon", "Dark side", False),
    ]  # fmt: skip


def test_documents_that_were_found_are_related_whether_cited_or_not(walk: Walk) -> None:
    walk.says("Five days [Leave Policy].")
    told = walk.ask("/api/query", query="Which vacation days carry over, and where do visitors park bicycles?")
    assert [one["title"] for one in told["citations"]] == ["Leave Policy"]
    found = {one["title"]: one["category"] for one in told["relatedDocs"]}
    assert found == {"Leave Policy": "hr", "Parking": "office", "Vacation Policy": "rules"}
    assert len(told["relatedDocs"]) == 3


def test_nothing_over_the_threshold_asks_no_model(walk: Walk) -> None:
    walk.says("Nobody should be asked.")
    told = walk.ask("/api/query", query="Purple elephants?")
    assert walk.prompts() == []
    assert told["answer"].startswith("I don't have specific information")
    assert told["confidence"]["level"] == "Low"
    assert (told["sources"], told["relatedDocs"], told["citations"]) == ([], [], [])
    assert (told["metadata"]["chunksRetrieved"], told["metadata"]["model"]) == (0, None)


def test_the_answer_says_who_wrote_it_and_what_it_cost(walk: Walk) -> None:
    walk.says("Five days [Leave Policy].")
    metadata = walk.ask("/api/query", query=ASKED)["metadata"]
    assert metadata["finishReason"] == "stop"
    assert metadata["usage"]["completion_tokens"] > 0
    assert metadata["chunksRetrieved"] >= 1


CITED = f"{CARRY_OVER} [Vacation Policy > Carry-over]. {CARRY_OVER} [Vacation Policy]. It is dark [Moon > Dark side]."


@pytest.mark.parametrize(
    ("query", "level", "reason"),
    [
        ("vacation days carry over", "high", "3 relevant sources with 1 citation"),
        ("vacation elephants", "medium", "3 sources found, average relevance {mean:.0%}"),
        ("approves within three working", "low", "only 1 source found"),
    ],
)
def test_the_level_is_counted_from_passages_and_their_similarity(
    walk: Walk, query: str, level: str, reason: str
) -> None:
    found = walk.ask("/api/v1/search", query=query, folder="rules")["results"]
    near = [hit["similarity_score"] for hit in found if hit["similarity_score"] >= 0.15]
    mean = sum(near) / len(near)
    assert level == ("high" if len(near) >= 3 and mean >= 0.5 else "medium" if mean >= 0.3 and near[1:] else "low")
    walk.says(CITED)
    told = walk.ask("/api/v1/query", query=query, folder="rules")
    assert told["metadata"]["chunks_retrieved"] == len(near)
    assert (told["confidence"]["level"], told["confidence"]["reason"]) == (level, reason.format(mean=mean))


def test_the_reason_begins_as_the_design_writes_it(walk: Walk) -> None:
    walk.says(CITED, CITED)
    told = walk.ask("/api/query", query="approves within three working", folder="rules")
    assert (told["confidence"]["level"], told["confidence"]["reason"]) == ("Low", "Only 1 source found")
    walk.door.add("hall", **{f"hall{n}": f"# Hall {n}\n\nVacation in hall number {n}.\n" for n in range(2)})
    query = "vacation elephants giraffes"
    near = [one["similarity_score"] for one in walk.ask("/api/v1/search", query=query, folder="hall")["results"]]
    assert len(near) == 2
    assert all(0.15 <= one < 0.3 for one in near)
    told = walk.ask("/api/query", query=query, folder="hall")
    assert told["confidence"]["reason"] == f"Low relevance scores (avg {sum(near) / 2:.0%})"


def test_passages_over_the_threshold_count_whether_or_not_they_fit_the_context(walk: Walk) -> None:
    sections = [f"## Part {n}\n\n{'Every lighthouse keeper watches. ' * 75}\n" for n in range(6)]
    walk.door.add("long", keepers="\n".join(["# Keepers\n", *sections]))
    walk.says("Every lighthouse keeper watches. [Keepers]")
    told = walk.ask("/api/v1/query", query="Every lighthouse keeper watches", folder="long")
    assert len(told["sources"]) < 4  # 8,000 characters have room for three passages of 2,400
    assert told["metadata"]["chunks_retrieved"] == 6
    assert told["confidence"]["reason"] == "6 relevant sources with 1 citation"
    assert told["confidence"]["level"] == "high"


def test_a_title_is_matched_with_all_passages_found_whether_or_not_they_fit_the_context(walk: Walk) -> None:
    rowing = "Every rowing boat is varnished in spring."
    names = [f"Boat {name}" for name in ("Alder", "Birch", "Cedar", "Daisy", "Elder", "Fern")]
    walk.door.add("boats", **{name: f"# {name}\n\n{f'{rowing} ' * 45}\n\n{name} is blue.\n" for name in names})
    walk.says(f"{rowing} [Boat Alder]")
    told = walk.ask("/api/v1/query", query=rowing, folder="boats")
    [left_out, *_] = set(names) - {source["title"] for source in told["sources"]}  # of 1,900 characters, four fit
    walk.says(f"{rowing} [{left_out}] It is dark [Moon].")
    told = walk.ask("/api/query", query=rowing, folder="boats")
    assert left_out not in walk.prompts()[-1]["messages"][0]["content"]
    [cited, unknown] = told["citations"]
    found = next(one for one in told["relatedDocs"] if one["title"] == left_out)
    assert (cited["matched"], cited["docId"], cited["matchedBy"]) == (True, found["docId"], "title")
    assert cited["score"] > 0.15
    assert (unknown["matched"], unknown["docId"]) == (False, None)


def test_the_threshold_holds_for_the_built_in_embedder(database_url: str, tmp_path: Path) -> None:
    own = {"embedding.provider": "pincite_embed", "embedding.dimensions": 0}
    with walking("five-stage", database_url, tmp_path / "data", **own) as made:
        made.door.add("hr", leave=LEAVE, vacation=VACATION)
        made.door.add("office", parking=PARKING)
        made.says("Nobody should be asked.")
        told = made.ask("/api/query", query="What does quantum chromodynamics say about quarks?")
        assert (told["confidence"]["level"], told["sources"], told["relatedDocs"]) == ("Low", [], [])
        assert (told["metadata"]["chunksRetrieved"], told["metadata"]["model"]) == (0, None)
        assert made.prompts() == []
        made.says("Up to five vacation days carry over into the next year. [Leave Policy]")
        told = made.ask("/api/query", query=ASKED)
        assert told["citations"][0]["matched"]
        assert told["confidence"]["level"] in ("High", "Medium")
        days = {
            "carry": "Five vacation days carry over into the next year.",
            "expire": "Vacation days expire in March.",
        }
        made.door.add("duo", **{name: f"# {name.title()}\n\n{text}\n" for name, text in days.items()})
        made.says(f"{days['carry']} [Carry]. {days['expire']} [Expire].")
        told = made.ask("/api/query", query=ASKED, folder="duo")
        scores = [one["score"] for one in told["citations"]]
        assert (len(scores), told["metadata"]["chunksRetrieved"]) == (2, 2)
        assert min(scores) >= 0.15  # the score that the threshold read, of which the reason has the average
        assert told["confidence"]["reason"] == f"2 sources found, average relevance {sum(scores) / 2:.0%}"
