"""Plain cutters."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.evaluate.measure.baseline_chunkers import CHUNK_TOKENS, CHUNKERS, split_by_window, split_recursively
from pincite.text.tokens import Tokenizer

TOKENIZER = Tokenizer()
PARAGRAPH = "One sentence about boilers follows another one. " * 20


@pytest.mark.parametrize("name", CHUNKERS)
@given(
    text=st.lists(st.sampled_from([PARAGRAPH, "\n\n", "\n", "word ", "x" * 3000, "日本語。"]), max_size=25).map("".join)
)
@settings(max_examples=25, deadline=None)
def test_the_pieces_are_the_text_and_none_is_too_large(name: str, text: str) -> None:
    pieces = CHUNKERS[name](text, TOKENIZER)
    assert "".join(text[start:end] for start, end in pieces) == text
    assert all(0 < TOKENIZER.count(text[start:end]) <= CHUNK_TOKENS for start, end in pieces)


def test_windows_cut_wherever_they_end_and_the_recursive_one_at_paragraphs() -> None:
    text = "\n\n".join([PARAGRAPH] * 5)
    assert next(text[end - 2 : end] for _, end in split_recursively(text, TOKENIZER)) == "\n\n"
    assert text[split_by_window(text, TOKENIZER)[0][1] - 2 :][:2] != "\n\n"
