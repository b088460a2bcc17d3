"""A second embedder, whose vectors differ from those of the scripted one."""

from collections.abc import Sequence

from pincite.providers.scripted import Options, ScriptedEmbedder

__all__ = ["Options", "make_embedder"]


class AnotherEmbedder(ScriptedEmbedder):
    """The scripted embedder with reversed vectors."""

    name = "another/1"

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        return [vector[::-1] for vector in await super().embed(texts, as_query=as_query)]


def make_embedder(options: Options) -> AnotherEmbedder:
    return AnotherEmbedder(options)
