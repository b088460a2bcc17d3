"""Admission control of searches, questions and uploads: quotas of the caller, then a fair queue."""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

from pincite.api.admission.fair_queue import FairQueue
from pincite.api.paths import API
from pincite.api.streaming.answer_streams import Ask
from pincite.core.accounts.access import Caller
from pincite.core.query.answer import Answer
from pincite.core.run import Answered, Event, SourcesFound, Stepped, Token
from pincite.engine.app import AsyncPincite
from pincite.engine.quotas import Bill
from pincite.errors import OverBudget

T = TypeVar("T")
_SEARCH_ROUTES = ("search", "query-many", "embedding", "vectorstore/query-many")
_QUESTION_ROUTES = ("query", "chat", "flows/run")
SEARCH_PATHS = frozenset({"/v1/embeddings", *(f"{API}/{name}" for name in _SEARCH_ROUTES)})
QUESTION_PATHS = frozenset(
    {"/api/query", "/api/chat", "/v1/chat/completions", *(f"{API}/{name}" for name in _QUESTION_ROUTES)}
)
"""Paths whose requests wait in a queue."""
QUESTION_SLOT_FACTOR = 4
"""Slots for questions per slot for searches; a question also waits for models before its passages are found."""
STREAM_LEASE_SLACK_S = 60.0
"""Seconds after the question timeout when the lease of a streamed answer expires, if it is never released."""


class Admission:
    """Admits searches, questions and uploads of users."""

    def __init__(self, pincite: AsyncPincite) -> None:
        self._pincite = pincite
        self.search_queue = FairQueue(lambda: pincite.settings.limits)
        self.question_queue = FairQueue(lambda: pincite.settings.limits, factor=QUESTION_SLOT_FACTOR)
        self.upload_queue = FairQueue(lambda: pincite.settings.limits, unbounded=True)

        self._listening: Counter[str] = Counter()
        self._queues = dict.fromkeys(SEARCH_PATHS, self.search_queue) | dict.fromkeys(
            QUESTION_PATHS, self.question_queue
        )

    def check(self, path: str, person: str) -> None:
        """Raise if the queue of this path is full, before authentication.

        `person` is the user that the credential had last time, or empty if unknown.
        """
        if queue := self._queues.get(path):
            queue.check(person)

    async def search(self, caller: Caller, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a search once the queue admits it."""
        async with self.search_queue.slot(caller.person):
            return await work()

    async def file(self, caller: Caller, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Process an uploaded file once the queue admits it; this bounds the number of files in memory."""
        async with self.upload_queue.slot(caller.person):
            return await work()

    @contextmanager
    def listening(self, caller: Caller) -> Iterator[None]:
        """Count an open event stream or socket of the caller; raise `OverBudget` above limits.streams."""
        person, limit = caller.person, self._pincite.settings.limits.streams
        if limit and self._listening[person] >= limit:
            raise OverBudget(
                f"you have {limit} sockets or event streams open (limits.streams); close one",
                code="too_many_streams",
                retry_after_s=1,
            )
        self._listening[person] += 1
        try:
            yield
        finally:
            self._listening[person] -= 1
            if not self._listening[person]:
                del self._listening[person]

    def question(self, caller: Caller, ask: Ask, *, stream: bool, max_tokens: int | None) -> Ask:
        """Wrap a question in quotas and the queue; its slot is freed once the sources are found."""
        limits, settings = self._pincite.admin.quotas, self._pincite.settings.llm
        tokens = max_tokens or settings.max_tokens

        async def admitted_ask(listen: Callable[[Event], None]) -> Answer:
            await limits.question(caller.person)
            async with AsyncExitStack() as stack:
                if stream:
                    lease_s = settings.question_timeout_s + STREAM_LEASE_SLACK_S
                    await stack.enter_async_context(limits.streaming(caller.person, lease_s))
                bill = await stack.enter_async_context(limits.answering(caller.person, tokens))
                slot = await stack.enter_async_context(self.question_queue.slot(caller.person))

                def on_event(event: Event) -> None:
                    if isinstance(event, SourcesFound):
                        slot.release()
                    _charge(bill, event, tokens)
                    listen(event)

                return await ask(on_event)

        return admitted_ask


def _charge(bill: Bill, event: Event, reserved: int) -> None:
    """Charge the tokens of an answer; an interrupted answer costs its whole reservation, as its usage is unknown."""
    if isinstance(event, Token | Stepped) and not bill.tokens:
        bill.tokens = reserved
    elif isinstance(event, Answered):
        metadata = event.answer.metadata
        if metadata.usage:
            bill.tokens = metadata.usage.prompt_tokens + metadata.usage.completion_tokens
        elif metadata.model in (None, "extractive"):  # no model wrote it
            bill.tokens = 0
