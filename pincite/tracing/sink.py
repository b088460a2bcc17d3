"""Store finished traces in the metrics, the database and, if configured, a collector."""

import asyncio
import logging

from pincite.core.traces import Trace
from pincite.store.operations.traces import MAX_WAIT_S, TraceStore
from pincite.tracing.metrics import Metrics
from pincite.tracing.otlp import OtlpExporter

log = logging.getLogger(__name__)

MAX_PENDING_WRITES = 200
"""Maximum number of pending writes; beyond it, a request waits for one to finish."""


class TraceSink:
    """Stores traces; a failure never fails the request."""

    def __init__(self, traces: TraceStore, metrics: Metrics, telemetry: OtlpExporter | None = None) -> None:
        self._traces = traces
        self._metrics = metrics
        self._telemetry = telemetry

    async def keep(self, owner: str, trace: Trace) -> None:
        """Store a trace in the background, while the answer is sent; reading traces waits for pending writes."""
        self._metrics.count(trace)
        if self._telemetry is not None:
            self._telemetry.send(trace)
        waiting = self._traces.pending_writes
        writing = asyncio.create_task(self._write(owner, trace))
        waiting.add(writing)
        writing.add_done_callback(waiting.discard)
        if len(waiting) > MAX_PENDING_WRITES:
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
            log.error("trace %s was not stored: %s", trace.id, type(error).__name__)
