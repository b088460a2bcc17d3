import pytest

from pincite.core.query.tools import ToolCall
from pincite.outbound.llm.tool_calls import MAX_ARGUMENT_CHARS, MAX_CALLS, Calls, arguments_of


def test_a_call_that_comes_in_pieces_is_put_together() -> None:
    calls = Calls()
    calls.add(0, "c1", "rag_search", '{"que')
    calls.add(1, "c2", "read_document", "")
    calls.add(0, None, None, 'ries": []}')
    calls.add(1, None, None, "{}")
    assert calls.whole() == (ToolCall("c1", "rag_search", '{"queries": []}'), ToolCall("c2", "read_document", "{}"))


def test_calls_of_the_same_index_with_ids_of_their_own_are_several() -> None:
    calls = Calls()
    calls.add(0, "a", "rag_search", "{}")
    calls.add(0, "b", "read_document", '{"doc')
    calls.add(0, None, None, '_id": 1}')
    assert [(call.id, call.arguments) for call in calls.whole()] == [("a", "{}"), ("b", '{"doc_id": 1}')]


def test_one_without_an_id_gets_its_number() -> None:
    calls = Calls()
    calls.add(0, None, "rag_search", None)
    assert calls.whole() == (ToolCall("call_1", "rag_search", ""),)


def test_no_more_is_kept_than_shows_that_it_was_too_much() -> None:
    calls = Calls()
    for _ in range(20):
        calls.add(0, "a", "rag_search", "x" * 10_000)
    for index in range(1, 100):
        calls.add(index, None, "fly", "{}")
    assert len(calls.whole()) == MAX_CALLS
    assert len(calls.whole()[0].arguments) == MAX_ARGUMENT_CHARS + 1
    assert calls.characters == 200_000 + 2 * 99


def test_arguments_that_are_no_text_are_refused() -> None:
    with pytest.raises(TypeError):
        Calls().add(0, "a", "rag_search", {"queries": []})


@pytest.mark.parametrize(("written", "given"), [('{"a": 1}', {"a": 1}), ("", {}), ("[1]", {}), ("{", {})])
def test_arguments_are_an_object_or_nothing(written: str, given: dict[str, object]) -> None:
    assert arguments_of(written) == given
