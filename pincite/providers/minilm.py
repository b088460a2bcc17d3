"""all-MiniLM-L6-v2 on the CPU, for libraries that were indexed with it; English only."""

from dataclasses import dataclass, field
from pathlib import Path

from pincite.config.settings import cache_folder
from pincite.core.protocols import Embedder
from pincite.errors import SettingsError
from pincite.models.sentence_encoder import EncoderOptions, SentenceEncoder
from pincite.providers.minilm_files import (
    GRAPH_VERSION,
    TOKENIZER,
    WEIGHTS,
    Variant,
    find_weights,
    load_graph,
    verify,
)


@dataclass(frozen=True)
class Options(EncoderOptions):
    """The folder of the weights and the limits of the computation."""

    path: str = ""
    allow_download: bool = False
    cache: Path | str = field(default_factory=cache_folder)
    variant: Variant = "int8"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in ("int8", "fp32"):
            raise SettingsError(f"minilm: variant must be int8 or fp32 (was {self.variant!r})")


def make_embedder(options: Options) -> Embedder:
    """Load the model; at the first start on a machine its graph is built, which takes about a second."""
    cache = Path(options.cache)
    folder = find_weights(options.path, options.allow_download, cache)
    verify(folder / TOKENIZER)
    graph = load_graph(folder / WEIGHTS, cache, options.variant)
    return SentenceEncoder(f"minilm-l6-v2/{options.variant}.{GRAPH_VERSION}", graph, folder / TOKENIZER, options)
