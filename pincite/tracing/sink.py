"""Where finished traces go: the metrics, the database, and a collector where one is set."""

import asyncio
import logging

from pincite.core.traces import Trace
from pincite.store.operations.traces import MAX_WAIT_S, TraceStore
from pincite.tracing.metrics import Metrics
from pincite.tracing.otlp import Telemetry

log = logging.getLogger(__name__)

MOST_WAITING = 200
"""Traces that may wait to be written; beyond them, a request waits for one to be done."""


class TraceSink:
    """Keeps traces; one that cannot be kept never fails the request it is about."""

    def __init__(self, traces: TraceStore, metrics: Metrics, telemetry: Telemetry | None = None) -> None:
        self._traces = traces
        self._metrics = metrics
        self._telemetry = telemetry

    async def keep(self, owner: str, trace: Trace) -> None:
        """Take a trace over. It is written while its answer is on its way; who looks traces up waits for that."""
        self._metrics.count(trace)
        if self._telemetry is not None:
            self._telemetry.send(trace)
        waiting = self._traces.pending_writes
        writing = asyncio.create_task(self._write(owner, trace))
        waiting.add(writing)
        writing.add_done_callback(waiting.discard)
        if len(waiting) > MOST_WAITING:
            await asyncio.wait(waiting, timeout=MAX_WAIT_S, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Finish what is being written and sent."""
        await asyncio.gather(*self._traces.pending_writes)
        if self._telemetry is not None:
            await self._telemetry.close()

    async def _write(self, owner: str, trace: Trace) -> None:
        try:
            await self._traces.keep(owner, trace)
        except Exception as error:
            log.error("trace %s was not kept: %s", trace.id, type(error).__name__)
