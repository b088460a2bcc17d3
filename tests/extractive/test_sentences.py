from pincite.extractive.sentences import sentences_of
from tests.builders import hit


def test_headings_comments_and_heads_of_tables_are_no_sentences() -> None:
    text = "# Leave\n\n<!-- secret -->\n\nIt is granted.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert [one.text for one in sentences_of([hit(text, heading_path=("Leave",))])] == ["It is granted.", "| 1 | 2 |"]


def test_a_salutation_is_known_by_its_first_words_and_its_comma() -> None:
    letter = "Dear Ms Dubois,\n\nDear lamps cost more. We send you three new ones."
    assert [one.is_salutation for one in sentences_of([hit(letter)])] == [True, False, False]
    german = "Sehr geehrter Herr Kolb,\n\ndie Lampen sind da."
    assert [one.is_salutation for one in sentences_of([hit(german, language="de")])] == [True, False]


def test_the_sentences_of_a_letter_are_about_whom_it_addresses() -> None:
    letter = "Three lamps broke.\n\nDear Ms Dubois,\n\nYou get a voucher of 30 euros.\n\nKind regards"
    before, greeting, answer, _ = sentences_of([hit(letter)])
    assert "duboi" not in before.heading_terms | greeting.heading_terms
    assert "duboi" in answer.heading_terms


def test_a_sentence_knows_what_stands_around_it() -> None:
    [first, second] = sentences_of([hit("Peyton Manning won. He was old.", title="Games", heading_path=("Finals",))])
    assert (first.refers_back, second.refers_back) == (False, True)
    assert second.terms_before == first.terms == {"peyton", "man", "won"}
    assert second.heading_terms == {"game", "final", "doc1"}
    assert "peyton" in second.passage_terms


def test_code_is_read_line_by_line() -> None:
    text = "Set it:\n\n```yaml\nmount:\n  port: 4717\n```\n"
    found = sentences_of([hit(text)])
    assert [one.text for one in found] == ["Set it:", "mount:", "port: 4717"]
    assert all(text[one.start : one.end] == one.text for one in found)


def test_a_row_holds_the_names_of_its_columns_and_is_read_with_them() -> None:
    [row] = sentences_of([hit("| April | 7.10 |", header="| month | high |\n|---|---|")])
    assert row.is_row
    assert {"month", "high", "april"} <= row.terms
    assert row.embedded_text == "month: April; high: 7.10."


def test_the_lines_of_a_log_and_lines_with_labels_are_sentences_of_their_own() -> None:
    log = "Mon 03 Mar 06:10 pump started\nMon 03 Mar 09:35 pump tripped:\n  overload\n2025-01-12 02:41 done"
    found = sentences_of([hit(log)])
    assert [" ".join(one.text.split()) for one in found] == [
        "Mon 03 Mar 06:10 pump started",
        "Mon 03 Mar 09:35 pump tripped: overload",
        "2025-01-12 02:41 done",
    ]
    assert all(one.is_log_line for one in found)
    labels = sentences_of([hit("Waste\nPaper: Friday\nGlass: Monday\nCans: Tuesday")])
    assert [one.text for one in labels] == ["Waste", "Paper: Friday", "Glass: Monday", "Cans: Tuesday"]
    assert len(sentences_of([hit("We met at ten.\nNote: it rained\nall day long in the yard.")])) < 4


def test_a_word_with_a_hyphen_is_found_in_one_too() -> None:
    [one] = sentences_of([hit("Guests get a code for the Wi-Fi.")])
    assert {"wifi", "wi", "fi"} <= one.terms


def test_a_heading_without_markup_is_not_part_of_the_sentence_below_it() -> None:
    text = "3. LOST KEYS\nA lost key costs 40 euros. It is reported to the porter on the same day.\n"
    text += "\nHaftung\nDer Mieter haftet für jeden Schaden, den er selbst verursacht hat.\n"
    found = sentences_of([hit(text)])
    assert [one.text.split()[0] for one in found] == ["A", "It", "Der"]
    assert "LOST KEYS" in found[0].above


def test_lines_of_a_signature_and_wrapped_lines_stay_together() -> None:
    for text in (
        "Mira Lindqvist\nChair, Harbour Choir",
        "The choir met in the old wooden\nTown Hall and sang there until ten that night.",
    ):
        assert [one.text for one in sentences_of([hit(text)])] == [text]
