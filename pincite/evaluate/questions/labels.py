"""Evaluation questions made by hand: a question and the passages marked as relevant."""

from collections.abc import Sequence

from pincite.core.accounts.access import Caller
from pincite.core.documents.document import Chunk
from pincite.core.evaluations import EvaluationSet, Place, SetQuestion
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, NotFound


async def mark_passages(
    pincite: AsyncPincite, set_id: str, text: str, chunk_ids: Sequence[str], *, caller: Caller
) -> EvaluationSet:
    """Store the relevant passages of a question, replacing earlier ones; without passages the question is removed."""
    scope, words = await pincite.scope(caller), " ".join(text.split())
    if not words:
        raise Invalid("text: the question is empty")
    found = [await _passage(pincite, caller, chunk_id) for chunk_id in dict.fromkeys(chunk_ids)]
    await pincite.questions.evaluations.mark(scope, set_id, words, _question(words, found) if found else None)
    return await pincite.questions.evaluations.get_set(scope, set_id)


def _question(text: str, found: Sequence[tuple[str, str, Chunk]]) -> SetQuestion:
    (document_id, version, chunk), *others = found
    first = Place(document_id, chunk.start, chunk.end)
    twins = (Place(its, one.start, one.end, f"{its}.{of}.{one.ordinal}") for its, of, one in others)
    return SetQuestion(text, "marked", chunk.language, first, version, chunk.ordinal, tuple(twins))


async def _passage(pincite: AsyncPincite, caller: Caller, chunk_id: str) -> tuple[str, str, Chunk]:
    """Return a passage by its id from a search, with its document and version."""
    document_id, _, rest = chunk_id.partition(".")
    version, _, ordinal = rest.rpartition(".")
    if not (version and ordinal.isascii() and ordinal.isdecimal() and len(ordinal) < 10):
        raise Invalid(f"'{chunk_id[:100]}' is not the id of a passage; use an id from a search result")
    after = int(ordinal) - 1
    _, found = await pincite.documents.chunks(document_id, version_id=version, after=after, limit=1, caller=caller)
    if not found or found[0].ordinal != int(ordinal):
        raise NotFound(f"there is no passage '{chunk_id[:100]}'")
    return document_id, version, found[0]
