"""Permission re-checks: an answer is cancelled when the caller may no longer read its sources."""

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import NoReturn

from pincite.api.streaming.answer_streams import Ask
from pincite.api.streaming.disconnect import run_until_error
from pincite.core.accounts.access import Caller
from pincite.core.query.answer import Answer
from pincite.core.run import Event, PassagesFound, SourcesFound
from pincite.engine.app import AsyncPincite
from pincite.errors import NotAllowed, Unavailable

log = logging.getLogger(__name__)

RECHECK_INTERVAL_S = 2.0
"""Seconds between permission checks of an answer in progress."""


def while_permitted(pincite: AsyncPincite, caller: Caller, ask: Ask) -> Ask:
    """Wrap a question: cancel it when the caller loses access to a source document or to the service."""

    async def ask_while_permitted(listen: Callable[[Event], None]) -> Answer:
        documents: set[str] = set()

        def on_event(event: Event) -> None:
            if isinstance(event, SourcesFound):
                documents.update(source.document_id for source in event.sources)
            elif isinstance(event, PassagesFound):
                documents.update(hit.chunk.document_id for hit in event.hits)
            listen(event)

        return await run_until_error(ask(on_event), _wait_until_unreadable(pincite, caller, documents))

    return ask_while_permitted


async def _wait_until_unreadable(pincite: AsyncPincite, caller: Caller, documents: Collection[str]) -> NoReturn:
    while True:
        await asyncio.sleep(RECHECK_INTERVAL_S)
        try:
            await check_readable(pincite, caller, documents)
        except Unavailable as error:  # a failed check revokes nothing
            log.debug("could not check permissions again: %s", error)


async def check_readable(pincite: AsyncPincite, caller: Caller, documents: Collection[str]) -> None:
    """Raise `NotAllowed` when the caller may not read one of the documents, `Unauthorized` when they are suspended."""
    if not await pincite.questions.may_read_all(documents, caller=caller):
        raise NotAllowed("you may no longer read a source document of this answer; ask again", code="rights_changed")
