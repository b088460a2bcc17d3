"""Letting searches and questions in: by what their asker may still use, and in fair turns."""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import HTTPConnection

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
SEARCH_PATHS = frozenset({
    "/v1/embeddings", *(f"{API}/{name}" for name in ("search", "query-many", "embedding", "vectorstore/query-many")),
})  # fmt: skip
QUESTION_PATHS = frozenset({
    "/api/query", "/api/chat", "/v1/chat/completions", *(f"{API}/{name}" for name in ("query", "chat", "flows/run")),
})  # fmt: skip
"""What waits for its turn."""
QUESTION_SLOT_FACTOR = 4
"""Questions may be so many times as many as searches: they wait for models before their passages are found, too."""
STREAM_LEASE_SLACK_S = 60.0
"""An answer is taken for over so long after it should be, should nobody say so."""


class Admission:
    """Lets people's searches, questions and files in."""

    def __init__(self, pincite: AsyncPincite) -> None:
        self._pincite = pincite
        self.searching = FairQueue(lambda: pincite.settings.limits)
        self.asking = FairQueue(lambda: pincite.settings.limits, times=QUESTION_SLOT_FACTOR)
        self.filing = FairQueue(lambda: pincite.settings.limits, patient=True)

        self._listening: Counter[str] = Counter()
        self._turns = dict.fromkeys(SEARCH_PATHS, self.searching) | dict.fromkeys(QUESTION_PATHS, self.asking)

    def check(self, path: str, person: str) -> None:
        """Refuse what would not get its turn, before anything is spent on it; `person` is who it seems to be, if anybody."""
        if turns := self._turns.get(path):
            turns.check(person)

    async def search(self, caller: Caller, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What a search finds, once it is its turn."""
        async with self.searching.of(caller.person):
            return await work()

    async def file(self, caller: Caller, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What becomes of a file that was sent, in its turn: it is in memory meanwhile, and before that on the disk."""
        async with self.filing.of(caller.person):
            return await work()

    @contextmanager
    def listening(self, caller: Caller) -> Iterator[None]:
        """Somebody listens for as long as they like; `OverBudget` where they do so here as often as they may."""
        person, most = caller.person, self._pincite.settings.limits.streams
        if most and self._listening[person] >= most:
            raise OverBudget(
                f"you have {most} sockets or streams of events open here (limits.streams); close one",
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

    def question(self, caller: Caller, ask: Ask, *, stream: bool, longest: int | None) -> Ask:
        """The same question, asked once it may be: while a model writes, somebody else may search."""
        limits, settings = self._pincite.admin.quotas, self._pincite.settings.llm
        tokens = longest or settings.max_tokens

        async def in_turn(listen: Callable[[Event], None]) -> Answer:
            await limits.question(caller.person)
            async with AsyncExitStack() as held:
                if stream:
                    longest_s = settings.question_timeout_s + STREAM_LEASE_SLACK_S
                    await held.enter_async_context(limits.streaming(caller.person, longest_s))
                bill = await held.enter_async_context(limits.answering(caller.person, tokens))
                turn = await held.enter_async_context(self.asking.of(caller.person))

                def hear(event: Event) -> None:
                    if isinstance(event, SourcesFound):
                        turn.leave()
                    _charge(bill, event, tokens)
                    listen(event)

                return await ask(hear)

        return in_turn


def _charge(bill: Bill, event: Event, longest: int) -> None:
    """An answer that is cut off costs what was set aside for it; nobody can tell what its model counts."""
    if isinstance(event, Token | Stepped) and not bill.tokens:
        bill.tokens = longest
    elif isinstance(event, Answered):
        metadata = event.answer.metadata
        if metadata.usage:
            bill.tokens = metadata.usage.prompt_tokens + metadata.usage.completion_tokens
        elif metadata.model in (None, "extractive"):  # no model wrote it
            bill.tokens = 0


async def _admission(connection: HTTPConnection) -> Admission:
    admission: Admission = connection.app.state.admission
    return admission


AdmissionControl = Annotated[Admission, Depends(_admission)]
