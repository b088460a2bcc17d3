"""Lists as the reader reads them, and what its probability is worth."""

from pincite.extractive.question import question_terms
from pincite.extractive.sentences import sentences_of
from pincite.extractive.whole.whole_list import likely_lists, list_score, readable_list
from tests.builders import hit

TEXT = "Pack these things:\n\n- two torches\n- a rope\n- dry socks"


def test_a_list_is_read_with_its_lead_under_its_headings() -> None:
    sources = [hit(TEXT, title="Cave tour", heading_path=("Before you come",))]
    question = question_terms("what do i need to bring", sentences_of(sources))
    [listing] = likely_lists(question, [], sources)
    read = readable_list(listing, sources)
    assert read.above == "Cave tour\nBefore you come\n"
    assert read.text == "Pack these things:\ntwo torches\na rope\ndry socks"
    by_reader = [list_score(question, listing, [], sources, 0.2, probability) for probability in (0.1, 0.5, 0.9)]
    assert by_reader == sorted(by_reader)
    assert list_score(question, listing, [], sources, 0.2) == by_reader[1]
