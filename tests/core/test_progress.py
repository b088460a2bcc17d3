from pincite.core.progress import progress_listener, report_progress


def test_progress_goes_to_the_current_listener_only() -> None:
    outer: list[tuple[str, int, int]] = []
    inner: list[tuple[str, int, int]] = []
    report_progress("page", 1, 9)
    with progress_listener(lambda *told: outer.append(told)):
        report_progress("page", 2, 9)
        with progress_listener(lambda *told: inner.append(told)):
            report_progress("row", 100, 200)
        report_progress("page", 3, 9)
    report_progress("page", 4, 9)
    assert (outer, inner) == ([("page", 2, 9), ("page", 3, 9)], [("row", 100, 200)])
