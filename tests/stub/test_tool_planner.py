from typing import Any

from pincite.stub.tool_planner import calls_as_text, plan_step

ASKED = {"role": "user", "content": "Where was the builder of Brook Mill born?"}
FOUND = "2 passages found\n=== 0123456789abcdef ===\n[Source 1] Mill (doc_id abc-1, lines 1-2)\nBrook Mill was built by Ada Bright.\n=== 0123456789abcdef ==="
MORE = "=== 0123456789abcdef ===\n[Source 2] Ada (doc_id def-2, lines 1-2)\nAda Bright, the builder, was born in Karlsruhe.\n=== 0123456789abcdef ==="


def step(*results: str, role: str = "tool") -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    lead = "" if role == "tool" else "Result of rag_search: "
    return plan_step([ASKED, *({"role": role, "content": lead + result} for result in results)], ASKED["content"])


def test_it_searches_follows_names_reads_and_quotes() -> None:
    assert step()[1] == [("rag_search", {"queries": [ASKED["content"], "Brook Mill"]})]
    assert step(FOUND)[1] == [("rag_search", {"queries": ["Ada Bright"]})]
    assert step(FOUND, MORE)[1] == [("read_document", {"doc_id": "abc-1", "start_line": 1, "end_line": 40})]
    said, calls = step(FOUND, MORE, "lines 1 to 2")
    assert (said, calls) == ("Ada Bright, the builder, was born in Karlsruhe. [Source 2]", [])


def test_results_in_plain_text_count_as_well() -> None:
    assert step(FOUND, role="user")[1] == [("rag_search", {"queries": ["Ada Bright"]})]


def test_calls_are_lines_where_no_tools_are_offered() -> None:
    assert calls_as_text("I look.", [("rag_search", {"queries": ["a", "b"]})]) == "I look.\nSEARCH: a | b"
    assert calls_as_text("So.", [("read_document", {"doc_id": "x"})]).endswith(
        '{"name": "read_document", "arguments": {"doc_id": "x"}}'
    )
