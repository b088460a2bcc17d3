"""Source numbers as printed."""

from pincite.cli.view.chat import StreamingText
from pincite.cli.view.numbers import renumber
from pincite.cli.view.screen import Screen

from .makers import answer, citation, seen, source

TEXT = "The key hangs there. [Source 5] The cat is fed. [Source 2]"


def test_cited_sources_come_first_in_the_order_of_their_citation() -> None:
    sources = (source(1, cited=False), source(2), source(5))
    cited = (citation("[Source 5]", TEXT, 5), citation("[Source 2]", TEXT, 2))
    told = renumber(answer(TEXT, sources, cited, warnings=("[Source 5] at character 21 does not support its claim",)))
    assert [(one.number, one.document_id) for one in told.sources] == [(1, "doc5"), (2, "doc2"), (3, "doc1")]
    assert [one.source for one in told.citations] == [1, 2]
    assert told.warnings == ("[1] at character 21 does not support its claim",)
    assert renumber(told) == told


def test_a_mark_without_a_source_stays_without() -> None:
    text = "Nobody knows. [Source 9]"
    told = renumber(answer(text, (source(3),), (citation("[Source 9]", text, None),)))
    assert [one.source for one in told.citations] == [None]
    assert [one.number for one in told.sources] == [1]


def test_a_streamed_text_and_its_sources_have_the_same_numbers() -> None:
    found: dict[int, int] = {}

    def show(screen: Screen) -> None:
        text = StreamingText(screen)
        text.write("The key hangs there. [Source 5]")
        text.write(" It is red. [Source 9] The cat is fed. [Source 2]")
        text.end()
        found.update(text.numbers)

    assert "there. [1] It is red. [2] The cat is fed. [3]" in seen(show)
    told = renumber(answer(TEXT, (source(2), source(5)), (citation("[Source 5]", TEXT, 5),)), found)
    assert [(one.number, one.document_id) for one in told.sources] == [(1, "doc5"), (3, "doc2")]
