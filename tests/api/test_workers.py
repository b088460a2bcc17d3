"""Further processes: what is checked before they are started, and whose streams are whose."""

import pytest

from pincite.api.streaming.answer_streams import Streams
from pincite.api.workers import Further
from pincite.errors import NotFound, Overloaded, SettingsError


def test_more_connections_than_the_embedded_database_accepts_are_refused_with_the_size_that_fits() -> None:
    Further(5).check(12, embedded=True)  # 6 × (12 + 3) = 90
    Further(63).check(12, embedded=False)
    Further(0).check(90, embedded=True)
    with pytest.raises(SettingsError, match=r"7 workers .* need 105 connections.*set database\.pool_size=10"):
        Further(6).check(12, embedded=True)


@pytest.mark.parametrize(
    ("worker", "stream", "error"),
    [
        (1, "st_2.abc", Overloaded),
        (1, "st_1.abc", NotFound),
        (1, "st_abc", NotFound),
        (None, "st_2.abc", NotFound),
        (1, "st_12.abc", Overloaded),
    ],
)
def test_a_stream_of_another_worker_is_told_from_one_that_does_not_exist(
    worker: int | None, stream: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Streams(worker=worker).get("ada", stream)
