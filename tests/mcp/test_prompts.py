import pytest

from pincite.errors import Invalid, NotFound
from pincite.mcp.prompts import PROMPTS, prompt_messages


def test_arguments_are_filled_in_as_they_are() -> None:
    told = prompt_messages("answer_with_citations", {"question": "Why {folder}?", "folder": "hr"})
    assert "with the tool ask, folder 'hr'." in told
    assert told.endswith("Question: Why {folder}?")


def test_what_is_missing_is_named() -> None:
    with pytest.raises(Invalid, match="needs the argument 'document'"):
        prompt_messages("summarise_document", {"document": " "})
    with pytest.raises(NotFound, match="there are: answer_with_citations"):
        prompt_messages("none", {})
    assert all(prompt.title and prompt.description for prompt in PROMPTS.values())
