"""The commands ask and search."""

import re
from pathlib import Path

import pytest

from tests.picture_maker import draw, saved

from .conftest import HANDBOOK
from .terminal import Call

QUESTION = "Where does the key to the generator room hang?"


def test_an_answer_shows_its_passage(library: Call) -> None:
    said = library("ask", *QUESTION.split())  # quotes are not needed
    assert (said.code, said.err) == (0, "")
    assert "The key to the generator room hangs behind the blue cup. [1]" in said.words
    assert "[1] Station Handbook › Keys papers/handbook.md, line 9 │ The key to the generator room" in said.words
    assert re.search(r"Confidence +\w+ \(\d\.\d\d\): 1 cited source", said.words)


def test_an_answer_speaks_json(library: Call) -> None:
    answer = library("ask", QUESTION, "--json").json
    [citation] = answer["citations"]
    start, end = citation["quote_start_char"], citation["quote_end_char"]
    assert HANDBOOK[start:end] == citation["quote"]
    assert answer["answer"][citation["start"] : citation["end"]] == "[Source 1]"


def test_a_question_has_the_level_it_names(library: Call) -> None:
    answer = library("ask", QUESTION, "--level", "basic", "--json").json
    assert (answer["intelligence_level"], answer["strategy"], answer["degraded"]) == ("basic", "dense_only", [])
    said = library("ask", QUESTION, "--level", "enhanced")
    assert "Left out" in said.words
    assert "chain_of_thought" in said.words
    refused = library("ask", QUESTION, "--level", "genius").failed_with(2)
    assert refused == "there is no level 'genius'; there are: basic, standard, enhanced, maximum"
    assert library("chat", "--level", "genius").failed_with(2) == refused


def test_a_question_keeps_to_its_folder(library: Call) -> None:
    assert "blue cup" in library("ask", QUESTION, "--folder", "/papers/").words


def test_degraded_stages_are_printed_once(library: Call) -> None:
    away = ["--set", "llm.base_url=http://127.0.0.1:9/v1", "--set", "llm.model=m", "--set", "resilience.retries=0"]
    said = library("ask", QUESTION, *away)
    assert (said.code, said.err) == (0, "")
    assert said.words.count("http://127.0.0.1:9/v1 cannot be reached") == 1
    assert "Left out llm_generation:" in said.words


@pytest.mark.parametrize("command", ["ask", "search"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["  "], "the question is empty; ask something"),
        (["x" * 4001], "the question has 4001 characters; ask in at most 4000 (guard.max_query_chars)"),
        (
            ["x", "--strategy", "magic"],
            "there is no strategy 'magic'; there are: auto, hybrid, dense_only, lexical_only, fusion, two_stage, "
            "hierarchical",
        ),
    ],
)
def test_an_invalid_question_is_one_line(library: Call, command: str, arguments: list[str], told: str) -> None:
    assert library(command, *arguments).failed_with(2) == told


def test_a_search_shows_where_and_what(library: Call) -> None:
    said = library("search", "generator key", "--top-k", "1")
    assert re.match(
        r" 1 [\d.]+ Station Handbook › Keys papers/handbook.md, lines \d+–\d+ The key to the generator room hangs",
        " " + said.words,
    )


def test_a_search_that_finds_nothing_says_so(library: Call) -> None:
    assert library("search", "x", "--tag", "elsewhere").words == (
        "Nothing was found. Left out filters: no document has the tag 'elsewhere'"
    )


def test_a_search_and_a_list_keep_to_tags(library: Call, tmp_path: Path) -> None:
    file = tmp_path / "kite.md"
    file.write_text(
        "---\ntags: [wind, red]\n---\n\n# Kite\n\nThe kite flies over the generator room.\n", encoding="utf-8"
    )
    library("add", file)
    found = library("search", "generator room", "--tag", "wind", "--tag", "red", "--json").json["results"]
    assert {one["metadata"]["document_name"] for one in found} == {"kite.md"}
    assert "kite" in library("ask", "What flies over the generator room?", "--tag", "wind").out
    [listed] = library("list", "--tag", "wind", "--json").json["items"]
    assert "no document has the tag 'sea'" in library("search", "generator room", "--tag", "sea").words
    library("remove", listed["id"])


@pytest.mark.parametrize("command", ["ask", "search"])
def test_an_unknown_folder_is_an_error_with_known_ones(library: Call, command: str) -> None:
    said = library(command, "x", "--folder", "paper").failed_with(1)
    assert "there is no folder 'paper'; did you mean 'papers'?" in said
    said = library(command, "cat", "--folder", "elsewhere/2024").failed_with(1)
    assert "there is no folder 'elsewhere/2024'; choose one of 'papers'" in said


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_time_before_the_first_version_is_reported(library: Call, command: str) -> None:
    said = library(command, "generator key", "--as-of", "2001-01-01").words
    assert "no document is as old as 2001-01-01 23:59 UTC; the first version was added at 20" in said
    assert "as old as" not in library(command, "generator key", "--as-of", "2099-01-01").words


def test_a_search_in_a_folder_has_no_notes(library: Call) -> None:
    assert library("search", "cat", "--folder", "papers", "--json").json["degraded"] == []


def test_sources_are_numbered_without_gaps(library: Call) -> None:
    said = library("ask", "Where does the key to the generator room hang?").out
    assert re.findall(r"^  \[(\d+)\]", said, re.MULTILINE)[0] == "1"


def test_a_search_speaks_json(library: Call) -> None:
    found = library("search", "generator key", "--json", "--top-k", "1").json
    [hit] = found["results"]
    assert hit["metadata"]["document_name"] == "handbook.md"
    assert "explain" not in hit
    [explained] = library("search", "generator key", "--json", "--explain", "--top-k", "1").json["results"]
    assert sum(placing["share"] for placing in explained["explain"]["placings"]) == pytest.approx(explained["score"])


def test_an_explained_score_can_be_worked_out_by_hand(library: Call) -> None:
    said = library("search", "generator key cat", "--explain")
    scales = {
        engine: tuple(map(float, numbers))
        for engine, *numbers in re.findall(
            r"(meaning|words|named): weight ([\d.]+), low (-?[\d.]+), span ([\d.]+)", said.words
        )
    }
    assert {"meaning", "words"} <= set(scales)
    placings = re.findall(r"(meaning|words|named) +(?:\d+|–) +(-?[\d.]+) +(-?[\d.]+)$", said.out, re.MULTILINE)
    assert len(placings) > len(scales)
    for engine, raw, share in placings:
        weight, low, span = scales[engine]
        assert float(share) == pytest.approx(weight * (float(raw) - low) / span, abs=2e-4)
    for sum_, total in re.findall(r"score ([\d. +]+) = ([\d.]+)", said.out):
        assert sum(map(float, sum_.split(" + "))) == pytest.approx(float(total), abs=2e-4)


def test_reciprocal_ranks_are_explained_too(library: Call) -> None:
    said = library("search", "generator key", "--explain", "--set", "rag.fusion=rrf", "--set", "rag.rrf_k=30")
    assert "share = 1 / (30 + rank)" in said.words
    for rank, share in re.findall(r"(?:meaning|words) +(\d+) +-?[\d.]+ +([\d.]+)$", said.out, re.MULTILINE):
        assert float(share) == pytest.approx(1 / (30 + int(rank)), abs=1e-4)


def test_the_rerankers_score_is_explained(library: Call) -> None:
    said = library("search", "generator key", "--explain", "--top-k", "2", "--set", "rag.reranker=scripted")
    assert "replaced by the reranker's score:" in said.words


def test_a_misspelt_question_says_what_was_searched_instead(library: Call) -> None:
    asked, meant = "Where does the key to the genertor room hang?", QUESTION
    assert library("ask", asked, "--json").json["metadata"]["corrected_query"] == meant
    assert library("search", asked, "--json").json["corrected_query"] == meant
    for command in ("ask", "search"):
        assert f"Corrected {meant}" in library(command, asked).words
        assert "Corrected" not in library(command, asked, "--set", "spelling.enabled=false").words


@pytest.mark.parametrize("strategy", ["dense_only", "hybrid", "fusion", "two_stage", "hierarchical", "lexical_only"])
def test_every_strategy_can_be_named(library: Call, strategy: str) -> None:
    found = library(
        "search",
        "Where does the key to the generator room hang, and who feeds the cat?",
        "--strategy",
        strategy,
        "--json",
    ).json
    assert found["strategy"] == found["plan"]["strategy"] == strategy
    assert found["results"]
    explained = library("search", "generator key", "--strategy", strategy, "--explain")
    for sum_, total in re.findall(r"score ([\d. +]+) = ([\d.]+)", explained.out):
        assert sum(map(float, sum_.split(" + "))) == pytest.approx(float(total), abs=3e-4)


def test_sections_and_documents_can_be_searched_for(library: Call) -> None:
    found = library("search", "generator key", "--levels", "0,1", "--json").json
    assert {one["metadata"]["level"] for one in found["results"]} == {0, 1}
    assert "--levels takes 0 (documents)" in library("search", "x", "--levels", "3").failed_with(2)


def test_an_answer_says_what_kind_of_question_it_was(library: Call) -> None:
    answer = library("ask", QUESTION, "--strategy", "hierarchical", "--json").json
    assert (answer["intent"], answer["question_type"], answer["strategy"]) == ("FACTUAL", "factual", "hierarchical")


def test_documents_can_be_left_out_and_asked_for(library: Call) -> None:
    without = library("ask", QUESTION, "--no-documents", "--json").json
    assert (without["sources"], without["warnings"]) == ([], ["this answer is not from your documents"])
    manual = ("--set", "rag.mode=manual", "--json")
    assert library("ask", QUESTION, *manual).json["sources"] == []
    assert library("ask", QUESTION, "--documents", *manual).json["sources"]


def test_a_cached_answer_says_so_and_names_no_cache(library: Call) -> None:
    asked = "Where exactly does the key to the generator room hang?"
    assert "Cached" not in library("ask", asked).words
    again = library("ask", asked)
    assert "blue cup" in again.words
    assert "Cached answer from the cache: the same words; --no-cache gives a new answer" in again.words
    assert "Cached" not in library("ask", asked, "--no-cache").words
    assert library("ask", asked, "--json").json["metadata"]["cached"] is True


def test_an_agent_shows_its_steps(library: Call) -> None:
    said = library("ask", QUESTION, "--mode", "agent")
    assert (said.code, said.err) == (0, "")
    assert f"Step 1 rag_search {QUESTION}" in said.words
    assert "behind the blue cup" in said.words
    assert "Left out agent: there is no model to plan with" in said.words


def test_a_picture_goes_with_a_question_and_anything_else_is_refused(library: Call, tmp_path: Path) -> None:
    picture, other = tmp_path / "p.png", tmp_path / "notes.txt"
    picture.write_bytes(saved(draw(["KEY"])))
    other.write_text("no picture")
    answer = library("ask", QUESTION, "--image", str(picture), "--json").json
    assert answer["mode"] == "vision"
    assert {note["stage"] for note in answer["degraded"]} >= {"picture_reading"}
    assert "is not a PNG, JPEG, WebP or GIF" in library("ask", QUESTION, "--image", str(other)).err
    assert "cannot be read" in library("ask", QUESTION, "--image", str(tmp_path / "gone.png")).err
    assert "there is no mode 'magic'" in library("ask", QUESTION, "--mode", "magic").err
    assert "needs pictures" in library("ask", QUESTION, "--mode", "vision").err
