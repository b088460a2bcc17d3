"""Embeds passages in bulk without slowing down questions: a local model runs in a child process of lower priority."""

import asyncio
import itertools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pincite.concurrency import Batcher
from pincite.core.protocols import Embedder
from pincite.errors import ProviderError, Unavailable
from pincite.ingest.embed.embedder_child import ChildDied, EmbedderChild, Message
from pincite.ingest.embed.passage_vectors import PassageText, Windows, decode_vectors, embed_passages
from pincite.models.token_vectors import PackedTokens

log = logging.getLogger(__name__)

_REQUEST_PASSAGES = 16
"""Passages per request to the child: few, so that documents embedded at the same time take turns."""

_OPEN_REQUESTS = 2
"""Requests that are open at the same time, so that the child has the next one at once when it finishes one."""

_MAX_BATCH_DOCUMENTS = 64
"""Documents embedded in one batch; the next document waits until the batch is done."""


class BulkEmbedder(Protocol):
    """Turns passages into the vectors of their windows; `close` it when done."""

    async def embed(self, passages: Sequence[PassageText]) -> list[Windows]: ...
    async def embed_tokens(self, texts: Sequence[tuple[str, str]], folder: str) -> PackedTokens: ...
    async def close(self) -> None: ...


def open_bulk_embedder(embedder: Embedder, *, provider: str, options: Mapping[str, Any], batch: int) -> BulkEmbedder:
    """The bulk embedder for an embedder: in a child process for a local one, by direct calls for a remote one.

    The child makes its own embedder from `provider` and `options`; it starts with the first passage.
    A remote embedder gets `batch` texts per call.
    """
    if embedder.local:
        return ProcessBulkEmbedder(embedder.name, provider, options)
    return DirectBulkEmbedder(embedder, batch)


class DirectBulkEmbedder:
    """Embeds in this process, for a remote embedder that computes on another machine."""

    def __init__(self, embedder: Embedder, batch: int) -> None:
        self._embedder = embedder
        self._batch = batch

    async def embed(self, passages: Sequence[PassageText]) -> list[Windows]:
        """The vectors of each passage, one per window."""
        return await embed_passages(self._embedder, passages, self._batch)

    async def embed_tokens(self, texts: Sequence[tuple[str, str]], folder: str) -> PackedTokens:
        """The token vectors of each text with its language, by the model of a folder."""
        from pincite.models.token_encoder import packed_tokens  # it loads the library of local models

        return await packed_tokens(self._embedder, texts, folder)

    async def close(self) -> None:
        """Do nothing: there is no process to end."""


class ProcessBulkEmbedder:
    """Embeds in a child process, which starts with the first passage and is restarted if it dies."""

    def __init__(self, name: str, provider: str, options: Mapping[str, Any]) -> None:
        self._name = name
        plain = {key: str(value) if isinstance(value, Path) else value for key, value in options.items()}
        self._hello: Message = {"provider": provider, "options": plain}
        self._child: EmbedderChild | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._batcher = Batcher(self._embed_batch, max_batch=_MAX_BATCH_DOCUMENTS)

    async def embed(self, passages: Sequence[PassageText]) -> list[Windows]:
        """The vectors of each passage, one per window; raises ProviderError if the child fails twice.

        Documents that arrive while a batch is embedded form the next batch. They finish at the same time, so that they
        can be written in one transaction.
        """
        return await self._batcher(passages)

    async def embed_tokens(self, texts: Sequence[tuple[str, str]], folder: str) -> PackedTokens:
        """The token vectors of each text with its language, by the embedder's model or that of a folder."""
        parts = [texts[first : first + _REQUEST_PASSAGES] for first in range(0, len(texts), _REQUEST_PASSAGES)]
        answers = [await self._answer({"texts": part, "folder": folder}) for part in parts or [()]]
        found = [PackedTokens.from_message(answer) for answer in answers]
        return PackedTokens(found[0].model, found[0].dimensions, [one for part in found for one in part.passages])

    async def _embed_batch(self, documents: Sequence[Sequence[PassageText]]) -> list[list[Windows] | Exception]:
        """The vectors of each document; if the batch fails, each document is embedded alone."""
        try:
            vectors = iter(await self._embed([passage for passages in documents for passage in passages]))
        except ProviderError as error:
            if len(documents) == 1:
                return [error]
            return [one for passages in documents for one in await self._embed_batch([passages])]
        return [list(itertools.islice(vectors, len(passages))) for passages in documents]

    async def _embed(self, passages: Sequence[PassageText]) -> list[Windows]:
        """Send the passages in requests of `_REQUEST_PASSAGES`, with `_OPEN_REQUESTS` open at a time.

        Those of similar length are sent together: the model computes all texts of a call at the length of the longest.
        """
        by_length = sorted(range(len(passages)), key=lambda place: sum(map(len, passages[place])), reverse=True)
        requests = iter([by_length[n : n + _REQUEST_PASSAGES] for n in range(0, len(by_length), _REQUEST_PASSAGES)])
        answers: dict[int, Windows] = {}

        async def send_requests() -> None:
            for places in requests:
                found = await self._ask([passages[place] for place in places])
                answers.update(zip(places, found, strict=True))

        senders = [asyncio.ensure_future(send_requests()) for _ in range(_OPEN_REQUESTS)]
        try:
            await asyncio.gather(*senders)
        finally:
            for sender in senders:
                sender.cancel()
        return [answers[place] for place in range(len(passages))]

    async def close(self) -> None:
        """End the child; open requests fail."""
        self._closed = True
        async with self._starting:
            if self._child:
                await self._child.stop()

    async def _ask(self, passages: Sequence[PassageText]) -> list[Windows]:
        try:
            found = decode_vectors(await self._answer({"passages": passages}))
            if len(found) != len(passages):
                raise ValueError(f"the vectors of {len(found)} passages instead of {len(passages)}")
            return found
        except (LookupError, TypeError, ValueError) as error:
            raise ProviderError(f"the embedding process of '{self._name}' sent an invalid answer: {error}") from error

    async def _answer(self, request: Message) -> Message:
        """The answer to one request, which is sent again once where the child dies."""
        try:
            answer = await (await self._running_child()).ask(request)
        except ChildDied as error:
            log.warning("the embedding process died (%s); it is restarted", error)
            try:
                answer = await (await self._running_child()).ask(request)
            except ChildDied as again:
                raise ProviderError(f"the embedding process of '{self._name}' died twice: {again}") from again
        return self._without_error(answer)

    async def _running_child(self) -> EmbedderChild:
        async with self._starting:
            if self._closed:
                raise Unavailable("the embedding process was closed")
            if self._child is None or self._child.ended:
                self._child = await self._greeted(await EmbedderChild.start())
            return self._child

    async def _greeted(self, child: EmbedderChild) -> EmbedderChild:
        """The child after it has made its embedder; one that made another embedder is stopped."""
        try:
            made = self._without_error(await child.ask(self._hello)).get("name")
            if made != self._name:
                raise ProviderError(f"the embedding process loaded the embedder '{made}' instead of '{self._name}'")
        except BaseException:
            await child.stop()
            raise
        return child

    def _without_error(self, answer: Message) -> Message:
        """The answer, or the error that it reports, raised."""
        if "error" in answer:
            raise ProviderError(f"the embedding process of '{self._name}' failed: {answer['error']}")
        return answer
