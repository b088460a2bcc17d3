from pincite.core.progress import heard, tell


def test_who_listens_is_told_and_nobody_else() -> None:
    outer: list[tuple[str, int, int]] = []
    inner: list[tuple[str, int, int]] = []
    tell("page", 1, 9)
    with heard(lambda *told: outer.append(told)):
        tell("page", 2, 9)
        with heard(lambda *told: inner.append(told)):
            tell("row", 100, 200)
        tell("page", 3, 9)
    tell("page", 4, 9)
    assert (outer, inner) == ([("page", 2, 9), ("page", 3, 9)], [("row", 100, 200)])
