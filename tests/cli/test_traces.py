"""Traces: list and show."""

from .terminal import Call


def test_a_request_leaves_a_trace(library: Call) -> None:
    trace_id = library("ask", "Where is the key?", "--json").json["metadata"]["trace_id"]
    listed = library("trace", "list", "--json").json["items"]
    assert (listed[0]["id"], listed[0]["kind"]) == (trace_id, "query")
    assert "spans" not in listed[0]
    assert trace_id in library("trace", "list", "--limit", "1").out
    shown = library("trace", "show", trace_id[:8]).out
    assert trace_id in shown
    for stage in ("guard_in", "understand", "retrieve", "ground"):
        [line] = [line for line in shown.splitlines() if line.startswith(f"{stage} ")]
        assert "━" in line
        assert line.endswith(" ms")
    spans = library("trace", "show", trace_id, "--json").json["spans"]
    assert [span["stage"] for span in spans][:2] == ["guard_in", "understand"]


def test_an_unknown_trace_is_told_in_one_line(library: Call) -> None:
    assert library("trace", "show", "beef").failed_with(1) == "there is no trace 'beef'; see: pincite trace list"
