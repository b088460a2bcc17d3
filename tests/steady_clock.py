"""A clock for tests of promised times: it does not count the time in which a busy machine ran something else."""

import threading
from time import monotonic, sleep  # bound here: tests that replace those of `time` must not stop the clock

TICK_S, MOST_S = 0.02, 0.04
"""How often the clock looks at the time, and the most it counts for one look: a longer one was kept waiting."""


class _Clock(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="steady clock", daemon=True)
        self.seconds = 0.0

    def run(self) -> None:
        before = monotonic()
        while True:
            sleep(TICK_S)
            after = monotonic()
            self.seconds += min(after - before, MOST_S)
            before = after


_CLOCK = _Clock()
_STARTING = threading.Lock()


def now() -> float:
    """Return the seconds counted so far; on an idle machine they pass as on any clock."""
    with _STARTING:
        if not _CLOCK.is_alive():
            _CLOCK.start()
    return _CLOCK.seconds
