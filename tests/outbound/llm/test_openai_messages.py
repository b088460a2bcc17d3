import base64

from pincite.core.query.pictures import Picture
from pincite.core.query.prompt import Message, Prompt, StreamPart, Usage
from pincite.core.query.tools import Tool, ToolCall
from pincite.outbound.llm.openai_messages import messages_of, piece_of_event, tools_of
from pincite.outbound.llm.tool_calls import Calls

CALL = ToolCall("c1", "rag_search", '{"queries": ["a"]}')


def test_messages_calls_results_and_pictures_are_put_as_openai_does() -> None:
    asked = Message("user", "What is this?", pictures=(Picture("image/png", b"abc"),))
    turn = Message("assistant", "", calls=(CALL,))
    brought = Message("tool", "1 passage", answers=CALL)
    told = messages_of(Prompt("q", (Message("system", "s"), asked, turn, brought), (), 1))
    url = f"data:image/png;base64,{base64.b64encode(b'abc').decode()}"
    assert told == [
        {"role": "system", "content": "s"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "rag_search", "arguments": CALL.arguments}}
            ],
        },
        {"role": "tool", "content": "1 passage", "tool_call_id": "c1"},
    ]


def test_tools_are_functions() -> None:
    assert tools_of([Tool("t", "does", {"type": "object"})]) == [
        {"type": "function", "function": {"name": "t", "description": "does", "parameters": {"type": "object"}}}
    ]


def test_calls_are_told_with_the_end_and_not_before() -> None:
    calls = Calls()
    function = {"name": "rag_search", "arguments": '{"queries": '}
    begun = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": function}]}}]}
    more = {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '["a"]}'}}]}}]}
    end = {
        "choices": [{"delta": {}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    assert [piece_of_event(event, calls).calls for event in (begun, more)] == [(), ()]
    assert piece_of_event(end, calls) == StreamPart(finish_reason="tool_calls", usage=Usage(3, 4), calls=(CALL,))
    assert piece_of_event({}, calls).calls == (CALL,)


def test_a_whole_answer_has_its_calls_in_its_message() -> None:
    message = {
        "content": "I look.",
        "tool_calls": [{"id": "c1", "function": {"name": "rag_search", "arguments": CALL.arguments}}],
    }
    piece = piece_of_event({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, Calls())
    assert (piece.text, piece.calls) == ("I look.", (CALL,))
