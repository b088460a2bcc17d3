"""Where finished traces go: the metrics, the database, and a collector where one is set."""

import asyncio
import logging

from pincite.core.traces import Trace
from pincite.metrics import Metrics
from pincite.store.traces import Traces
from pincite.telemetry import Telemetry

log = logging.getLogger(__name__)

WAIT_S = 1.0
"""How long a request waits for its trace to be written, so that it can be looked up at once."""


class Records:
    """Keeps traces; one that cannot be kept never fails the request it is about."""

    def __init__(self, traces: Traces, metrics: Metrics, telemetry: Telemetry | None = None) -> None:
        self._traces = traces
        self._metrics = metrics
        self._telemetry = telemetry
        self._keeping: set[asyncio.Task[None]] = set()

    async def keep(self, owner: str, trace: Trace) -> None:
        """Take a trace over. Writing it goes on even if nobody waits any more: a request never waits long for that."""
        self._metrics.count(trace)
        if self._telemetry is not None:
            self._telemetry.send(trace)
        keeping = asyncio.create_task(self._write(owner, trace))
        self._keeping.add(keeping)
        keeping.add_done_callback(self._keeping.discard)
        await asyncio.wait({keeping}, timeout=WAIT_S)

    async def close(self) -> None:
        """Finish what is being written and sent."""
        await asyncio.gather(*self._keeping)
        if self._telemetry is not None:
            await self._telemetry.close()

    async def _write(self, owner: str, trace: Trace) -> None:
        try:
            await self._traces.keep(owner, trace)
        except Exception as error:
            log.error("trace %s was not kept: %s", trace.id, type(error).__name__)
