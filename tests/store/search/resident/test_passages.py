"""Which passages are remembered, and until when."""

from dataclasses import replace
from typing import Any

from pincite.core.accounts.access import Scope
from pincite.store.search.resident.passages import BYTES_PER_PASSAGE, Passages
from tests.builders import found

SCOPE = Scope("ada", (1, 2), (5, 7))


def test_passages_are_found_at_the_revision_at_which_they_were_read() -> None:
    passages, chunk = Passages(100_000), found("The heron stands.", key=10)
    passages.keep([(2, chunk)], SCOPE)
    assert passages.find([9, 10], SCOPE) == {10: chunk}
    assert passages.find([10], Scope("ada", (2, 3), (7, 1))) == {10: chunk}
    for other in (replace(SCOPE, revisions=(5, 8)), Scope("ada", (1,), (5,)), replace(SCOPE, revisions=())):
        assert passages.find([10], other) == {}


def test_a_new_revision_replaces_what_was_remembered_of_its_realm() -> None:
    passages = Passages(100_000)
    passages.keep([(1, found("One.", key=1)), (2, found("Two.", key=2))], SCOPE)
    now = replace(SCOPE, revisions=(5, 8))
    passages.keep([(2, found("Three.", key=3))], now)
    assert passages.find([1, 2, 3], now).keys() == {1, 3}
    assert passages.find([1, 2, 3], SCOPE).keys() == {1}


def test_passages_of_a_realm_outside_the_scope_are_not_kept() -> None:
    passages = Passages(100_000)
    passages.keep([(3, found("One.", key=1))], SCOPE)
    assert passages.size == 0


def test_the_realm_used_longest_ago_is_forgotten_first() -> None:
    passages = Passages(3 * BYTES_PER_PASSAGE + 200)
    for realm, key in ((1, 1), (2, 2), (1, 3)):
        passages.keep([(realm, found("Text.", key=key))], SCOPE)
    assert passages.find([1, 2, 3], SCOPE).keys() == {1, 3}
    passages.clear()
    assert (passages.size, passages.find([1, 3], SCOPE)) == (0, {})


def test_everything_that_grows_with_a_passage_or_its_document_counts() -> None:
    def size(**values: Any) -> int:
        passages = Passages(1_000_000)
        passages.keep([(1, replace(found("Text.", key=1), **values))], SCOPE)
        return passages.size

    least = size()
    assert size(text="🦩" * 1000) >= least + 4000
    assert size(vectorized_text="x" * 1000) >= least + 1000
    assert size(page_starts=tuple(range(1000, 2000))) >= least + 36_000


def test_nothing_is_kept_without_memory() -> None:
    passages = Passages(0)
    passages.keep([(1, found("Text.", key=1))], SCOPE)
    assert passages.size == 0
