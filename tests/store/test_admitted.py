from datetime import UTC, datetime

from pincite.core.answers import Filters
from pincite.core.callers import Scope
from pincite.store import admitted

SCOPE = Scope("local", (1, 2))


def test_every_predicate_begins_with_the_scope() -> None:
    for filters in (Filters(), Filters(folder="hr"), Filters(document_ids=("a",)), Filters("hr", ("a",), tags=("t",))):
        assert admitted.documents(filters).as_string().startswith("realm = any(%(realms)s) and served is not null")
        assert admitted.values(SCOPE, filters)["realms"] == [1, 2]


def test_a_folder_admits_what_lies_below_it_and_not_what_begins_like_it() -> None:
    values = admitted.values(SCOPE, Filters(folder="hr"))
    assert (values["folder"], values["below"]) == ("hr", "hr/")
    assert "starts_with(folder, %(below)s)" in admitted.documents(Filters(folder="hr")).as_string()


def test_without_a_filter_the_few_editions_not_served_are_named() -> None:
    assert not admitted.narrowed(Filters())
    assert (
        "<> all (array(select key from edition where state in" in admitted.editions("p.edition", Filters()).as_string()
    )


def test_under_a_filter_the_admitted_editions_are_named_even_where_there_are_none() -> None:
    for filters in (Filters(folder=""), Filters(document_ids=())):
        assert admitted.narrowed(filters)
        assert "select served from document" in admitted.editions("p.edition", filters).as_string()
    listed = admitted.editions("v.edition", Filters(folder="hr"), listed=True).as_string()
    assert listed.startswith("v.edition = any (array(select served")


def test_filters_of_one_shape_are_asked_for_in_the_same_words_and_keep_none_of_their_values() -> None:
    for one, other in (
        (Filters(folder="hr"), Filters(folder="it")),
        (Filters(document_ids=("a",)), Filters(document_ids=())),
        (Filters(tags=("x",)), Filters(tags=("y", "z"))),
        (Filters(as_of=datetime(2024, 1, 1, tzinfo=UTC)), Filters(as_of=datetime(2025, 1, 1, tzinfo=UTC))),
        (Filters(index="a"), Filters(index="b")),
    ):
        assert admitted.shape(one) == admitted.shape(other) != admitted.shape(Filters())
        assert admitted.documents(one) == admitted.documents(admitted.shape(one))
        assert admitted.editions("e", one) == admitted.editions("e", admitted.shape(one))
    assert admitted.shape(Filters()) == Filters()
