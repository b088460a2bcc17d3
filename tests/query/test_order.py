from pincite.query.order import sandwich


def test_the_strongest_stand_first_and_last_and_the_weakest_in_the_middle() -> None:
    assert sandwich([1, 2, 3, 4, 5]) == [1, 3, 5, 4, 2]
    assert sandwich([1, 2, 3, 4]) == [1, 3, 4, 2]


def test_few_are_no_trouble() -> None:
    assert [sandwich(range(n)) for n in range(3)] == [[], [0], [0, 1]]
