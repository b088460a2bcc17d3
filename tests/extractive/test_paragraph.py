"""A short paragraph is quoted whole; in a long one a correction goes with what it corrects."""

import pytest

from pincite.extractive.paragraph import MAX_PARAGRAPH_CHARS, with_paragraph

LONG = " ".join(f"The committee spoke at length about point {n} of the agenda." for n in range(9))


def quoted(text: str, sentence: str, language: str = "en", *, back: bool = False) -> str:
    start = text.index(sentence)
    first, last = with_paragraph(text, (start, start + len(sentence)), language, back=back)
    return text[first:last]


def test_sentences_before_it_are_quoted_only_where_asked_for() -> None:
    text = "The tug is called Mole. Dogs are not allowed. Cats are."
    assert quoted(text, "Dogs are not allowed.") == "Dogs are not allowed. Cats are."
    assert quoted(text, "Dogs are not allowed.", back=True) == text


def test_a_short_paragraph_is_quoted_to_its_end() -> None:
    text = "Summer party\n\nFirst idea was 21 June. We now meet on 5 July.\n\nOther topics."
    assert quoted(text, "First idea was 21 June.") == "First idea was 21 June. We now meet on 5 July."


def test_a_heading_directly_above_is_not_quoted() -> None:
    text = "## 5 Insurance\nThe carrier is insured. Proof is due in January."
    assert quoted(text, "The carrier is insured.") == "The carrier is insured. Proof is due in January."


@pytest.mark.parametrize("mark", ["- ", "* ", "3. "])
def test_an_item_ends_where_the_next_one_begins(mark: str) -> None:
    text = f"{mark}Doors open at nine. Bring a badge.\n{mark}Lunch is at noon."
    assert quoted(text, "Doors open at nine.") == "Doors open at nine. Bring a badge."


def test_a_question_of_the_source_is_not_quoted_with_its_answer() -> None:
    text = "Do you treat parrots? No. We refer them to a clinic."
    assert quoted(text, "We refer them to a clinic.", back=True) == "No. We refer them to a clinic."


def test_in_a_long_paragraph_only_a_corrected_sentence_takes_more_with_it() -> None:
    assert len(LONG) > MAX_PARAGRAPH_CHARS
    plain, corrected = "The move is on 3 June.", "The move was planned for 6 May."
    assert quoted(f"{plain} {LONG}", plain) == plain
    assert quoted(f"{corrected} It is on 3 June now. {LONG}", corrected).startswith(
        f"{corrected} It is on 3 June now. The committee"
    )
    assert quoted(f"Ursprünglich am 6. Mai. Jetzt am 3. Juni. {LONG}", "Ursprünglich am 6. Mai.", "de").startswith(
        "Ursprünglich am 6. Mai. Jetzt am 3. Juni."
    )


def test_a_line_of_a_block_of_lines_stands_alone() -> None:
    assert quoted("rye flour 1,100 g\nwater 1,450 g\nfresh yeast 9 g\ncaraway", "fresh yeast 9 g") == "fresh yeast 9 g"


def test_a_line_of_a_log_is_quoted_without_the_lines_after_it() -> None:
    failed = "2025-04-03 02:17:33 ERROR the nightly export failed: disk full"
    text = (
        f"2025-04-03 02:00:01 INFO the nightly export started\n{failed}\n2025-04-03 07:58:10 INFO old exports removed"
    )
    assert quoted(text, failed) == failed
