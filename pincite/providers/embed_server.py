"""The built-in embedder on another machine: `pincite embed-server` computes, and this process stays small."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from pincite.core.protocols import Embedder
from pincite.models.onnx import open_tokenizer
from pincite.models.sentence_encoder import EncoderOptions, SentenceEncoder
from pincite.models.shipped import shipped_model
from pincite.outbound.client import Server
from pincite.outbound.embeddings import unit_vectors


@dataclass(frozen=True)
class Options(EncoderOptions):
    """The server, and the lengths of texts, which must be the server's."""

    base_url: str = ""
    api_key: SecretStr | None = None
    timeout_s: float = 30.0
    batch: int = 10


class RemoteEncoder(SentenceEncoder):
    """Splits texts as the built-in embedder does, with the shipped tokenizer; the vectors come from the server.

    It has the name of the built-in embedder: a library may be read by processes with and without the server.
    """

    local = False

    def __init__(self, options: Options) -> None:
        model = shipped_model("pincite-embed")
        self.name = f"{model.name}/{model.version}"
        self.max_tokens = options.window
        self._tokenizer = open_tokenizer(model.file("tokenizer.json"))
        self._part, self._overlap = options.part, options.overlap
        self._batch = options.batch
        self._server = Server(options.base_url, "embedding", options.timeout_s, options.api_key)

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """Return one unit vector per text, in requests of at most `batch` texts."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._batch):
            vectors.extend(await self._request(list(texts[start : start + self._batch]), as_query))
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _request(self, texts: list[str], as_query: bool) -> list[list[float]]:
        body = {"model": self.name, "input": texts, "as_query": as_query}
        headers = {"authorization": f"Bearer {self._server.key}"} if self._server.key else {}
        answer = await self._server.post("/embeddings", body, headers)
        try:
            vectors = [item["embedding"] for item in answer["data"]]
        except (KeyError, TypeError) as error:
            raise self._server.invalid_answer("unreadable embeddings") from error
        return unit_vectors(vectors, len(texts), self.dimensions, self.name)


def make_embedder(options: Options) -> Embedder:
    """Create the embedder; called by `plugins.load`."""
    return RemoteEncoder(options)
