"""An answer goes on only as long as whoever asked may read what it stands on."""

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import NoReturn

from pincite.api.streaming.answer_streams import Ask
from pincite.api.streaming.disconnect import run_until_error
from pincite.core.accounts.access import Caller
from pincite.core.query.answer import Answer
from pincite.core.run import Event, SourcesFound
from pincite.engine.app import AsyncPincite
from pincite.errors import NotAllowed, Unavailable

log = logging.getLogger(__name__)

RECHECK_INTERVAL_S = 2.0
"""How often an answer on its way is compared with what its asker may read."""


def while_permitted(pincite: AsyncPincite, caller: Caller, ask: Ask) -> Ask:
    """Asks the same, until a document found for the answer is not the asker's to read any more, or they are shut out."""

    async def asked(listen: Callable[[Event], None]) -> Answer:
        documents: set[str] = set()

        def hear(event: Event) -> None:
            if isinstance(event, SourcesFound):
                documents.update(source.document_id for source in event.sources)
            listen(event)

        return await run_until_error(ask(hear), _wait_until_unreadable(pincite, caller, documents))

    return asked


async def _wait_until_unreadable(pincite: AsyncPincite, caller: Caller, documents: Collection[str]) -> NoReturn:
    while True:
        await asyncio.sleep(RECHECK_INTERVAL_S)
        try:
            await check_readable(pincite, caller, documents)
        except Unavailable as error:  # nobody took anything away
            log.debug("rights could not be checked again: %s", error)


async def check_readable(pincite: AsyncPincite, caller: Caller, documents: Collection[str]) -> None:
    """Raise `NotAllowed` where one of the documents is not the caller's to read, `Unauthorized` where they are shut out."""
    if not await pincite.questions.may_read_all(documents, caller=caller):
        raise NotAllowed(
            "you may no longer read a document that this answer stands on; ask again", code="rights_changed"
        )
