from pincite.store.database import by_name, select_list

COLUMNS = {"id": "d.id", "count": "count(*)"}


def test_the_select_list_has_the_expressions_in_order() -> None:
    assert select_list(COLUMNS) == "d.id, count(*)"


def test_a_row_is_returned_by_name_and_further_values_are_ignored() -> None:
    assert by_name(COLUMNS, ("a", 3, 0.5)) == {"id": "a", "count": 3}
    assert by_name(COLUMNS, ()) == {}
