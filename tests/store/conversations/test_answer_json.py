from dataclasses import replace

from pincite.core.accounts.conversations import KeptTurn
from pincite.core.query.prompt import Usage
from pincite.store.conversations.answer_json import from_json, to_json, without_document
from tests.builders import answer, source


def test_an_answer_is_read_as_it_was_stored() -> None:
    made = answer("Yes. [Source 1]", sources=(source(1, "d1", "Yes."),))
    made = replace(made, metadata=replace(made.metadata, usage=Usage(1, 2), durations_ms={"ground": 1.5}))
    assert from_json(to_json(made)) == made


def test_an_answer_of_another_release_is_read_with_its_known_fields() -> None:
    stored = to_json(answer("Yes."))
    del stored["intent"]
    assert from_json({**stored, "invented_later": [1]}) == answer("Yes.")


def test_characters_that_the_database_cannot_store_are_replaced() -> None:
    assert to_json(answer("a\0b\ud800c"))["text"] == "a b?c"


def test_copied_sentences_of_a_removed_document_become_gaps_and_citations_shift() -> None:
    made = answer(
        "Cats purr. [Source 1] Dogs bark. [Source 2] Cats sleep. [Source 1]",
        sources=(source(1, "d1", "Cats purr."), source(2, "d2", "Dogs bark.")),
        by="code",
    )
    turn, gone = without_document(KeptTurn("q", "q", made.text, made, True, "t"), "d1")
    assert turn.words == "[…] [Source 1] Dogs bark. [Source 2] […] [Source 1]"
    assert turn.answer is not None
    assert all(turn.words[c.start : c.end] == c.text for c in turn.answer.citations)
    assert gone == 3
    assert "Cats" not in str(to_json(turn.answer))
