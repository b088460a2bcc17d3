from datetime import UTC, datetime

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.search import scope_sql

SCOPE = Scope("local", (1, 2))


def test_every_predicate_begins_with_the_scope() -> None:
    for filters in (Filters(), Filters(folder="hr"), Filters(document_ids=("a",)), Filters("hr", ("a",), tags=("t",))):
        assert scope_sql.documents(filters).as_string().startswith("realm = any(%(realms)s) and served is not null")
        assert scope_sql.values(SCOPE, filters)["realms"] == [1, 2]


def test_a_folder_filter_includes_subfolders_and_not_similar_names() -> None:
    values = scope_sql.values(SCOPE, Filters(folder="hr"))
    assert (values["folder"], values["below"]) == ("hr", "hr/")
    assert "starts_with(folder, %(below)s)" in scope_sql.documents(Filters(folder="hr")).as_string()


def test_without_a_filter_the_hidden_editions_are_listed() -> None:
    assert not scope_sql.is_filtered(Filters())
    assert (
        "<> all (array(select key from edition where state in" in scope_sql.editions("p.edition", Filters()).as_string()
    )


def test_under_a_filter_the_admitted_editions_are_listed_even_if_none() -> None:
    for filters in (Filters(folder=""), Filters(document_ids=())):
        assert scope_sql.is_filtered(filters)
        assert "select served from document" in scope_sql.editions("p.edition", filters).as_string()
    listed = scope_sql.editions("v.edition", Filters(folder="hr"), listed=True).as_string()
    assert listed.startswith("v.edition = any (array(select served")


def test_filters_of_one_shape_share_a_statement_without_values() -> None:
    for one, other in (
        (Filters(folder="hr"), Filters(folder="it")),
        (Filters(document_ids=("a",)), Filters(document_ids=())),
        (Filters(tags=("x",)), Filters(tags=("y", "z"))),
        (Filters(as_of=datetime(2024, 1, 1, tzinfo=UTC)), Filters(as_of=datetime(2025, 1, 1, tzinfo=UTC))),
        (Filters(index="a"), Filters(index="b")),
    ):
        assert scope_sql.shape(one) == scope_sql.shape(other) != scope_sql.shape(Filters())
        assert scope_sql.documents(one) == scope_sql.documents(scope_sql.shape(one))
        assert scope_sql.editions("e", one) == scope_sql.editions("e", scope_sql.shape(one))
    assert scope_sql.shape(Filters()) == Filters()
