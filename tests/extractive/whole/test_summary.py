from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.hits import Hit
from pincite.extractive.question import question_terms
from pincite.extractive.whole.summary import MAX_BULLETS, summarised
from tests.builders import hit

SECTIONS = {
    "Term": "It depends. The lease runs for three years from 1 May 2025.",
    "Rent": "The rent was to be 900 euros. The rent is now 980 euros per month.",
    "Equipment": "- a stove\n- a sink",
    "Fees": "| Item | Fee |\n|---|---|\n| Key | 20 |",
}


def document(sections: dict[str, str], title: str = "Lease", name: str = "lease.md") -> list[Hit]:
    return [
        hit(
            f"## {heading}\n\n{text}", key=n, title=title, document_id="d", document_name=name,
            heading_path=(title, heading), start_char=1000 * n, end_char=1000 * n + 999,
        )
        for n, (heading, text) in enumerate(sections.items())
    ]  # fmt: skip


def told(question: str, sources: list[Hit]) -> list[str]:
    made = summarised(question_terms(question, []), sources)
    for part in made:
        text = sources[part.source - 1].chunk.text[part.start : part.end]
        assert text.strip() == text != ""
    return [part.text for part in made]


def test_each_section_has_its_most_central_sentence_in_the_order_of_the_document() -> None:
    assert told("Summarise the lease", document(SECTIONS)) == [
        "- **Term**: The lease runs for three years from 1 May 2025.",
        "- **Rent**: The rent is now 980 euros per month.",
        "- **Equipment**: a stove; a sink.",
        "- **Fees**: Item, Fee",
    ]


def test_a_section_can_be_summarised_alone() -> None:
    made = told("Summarise the rent section of the lease", document(SECTIONS))
    assert made == ["- The rent was to be 900 euros.", "- The rent is now 980 euros per month."]


def test_a_document_without_sections_gives_its_central_sentences() -> None:
    text = "From: Lotte\n\nDear Ines,\n\nthe buffet costs 26 euros per guest. We need the number of guests by Monday.\n\n> old mail text here"
    sources = [hit(text, title="Buffet offer", heading_path=("Buffet offer",))]
    assert told("tldr buffet offer", sources) == [
        "- the buffet costs 26 euros per guest.",
        "- We need the number of guests by Monday.",
    ]


def test_a_long_document_gives_few_bullets() -> None:
    many = {f"Part {n}": f"Part {n} describes the machine number {n} of the hall." for n in range(40)}
    assert len(told("Summarise the lease", document(many))) == MAX_BULLETS


def test_nothing_is_summarised_that_the_question_does_not_name() -> None:
    assert told("Summarise the plot of Hamlet", document(SECTIONS)) == []
    assert told("Summarise the lease", [*document(SECTIONS), hit("Another one.", key=99, title="Lease 2")]) == []


def test_a_plain_text_is_named_by_its_first_line() -> None:
    text = "Rowing club, board meeting 4 October\n\nThe jetty is repaired in November. The fee stays 40 euros."
    sources = [
        hit(text, title="notes", document_id="d", document_name="notes.txt", heading_path=(NO_HEADINGS,), start_char=0)
    ]
    assert told("summarise the october board meeting", sources)[1:] == [
        "- The jetty is repaired in November.",
        "- The fee stays 40 euros.",
    ]
    assert told("summarise the budget of the harbour", sources) == []
