"""The built-in embedder, pincite-embed, on the CPU: English and German in one space, without torch and a network."""

from dataclasses import dataclass

from pincite.core.protocols import Embedder
from pincite.errors import SettingsError
from pincite.models.sentence_encoder import EncoderOptions, SentenceEncoder
from pincite.models.shipped import shipped_model


@dataclass(frozen=True)
class Options(EncoderOptions):
    """The limits of the computation; `path` belongs to other embedders and must be empty."""

    path: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.path:
            raise SettingsError(
                "embedding.path is set, but the embedder pincite_embed reads only the weights it is shipped with; "
                "set embedding.provider=minilm for a folder with the weights of all-MiniLM-L6-v2, or clear embedding.path"
            )


def make_embedder(options: Options) -> Embedder:
    """Load the model."""
    model = shipped_model("pincite-embed")
    graph = model.file("model.onnx")
    return SentenceEncoder(f"{model.name}/{model.version}", str(graph), model.file("tokenizer.json"), options)
