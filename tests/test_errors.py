import re

from pincite import errors


def classes() -> list[type[errors.PinciteError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.PinciteError)]


def test_the_documented_error_tree_matches_the_classes() -> None:
    drawn = dict(re.findall(r"(?:├──|└──) (\w+) .*?(\d{3})$", errors.__doc__ or "", re.MULTILINE))
    assert drawn == {kind.__name__: str(kind.status) for kind in classes() if kind is not errors.PinciteError}


def test_every_error_has_a_distinct_code_and_title() -> None:
    codes = [kind.code for kind in classes()]
    assert len(set(codes)) == len(codes)
    assert all(kind.title for kind in classes())


def test_a_raise_may_name_a_finer_code() -> None:
    assert errors.Invalid("x", code="empty").code == "empty"
    assert errors.Invalid("x").code == "invalid"
