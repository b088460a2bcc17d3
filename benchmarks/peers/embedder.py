"""The embedder of pincite for all systems: its graph and tokenizer, in a few lines."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

WINDOW = 256
"""Word pieces that the model is shown at once; a longer text is cut there, as sentence-transformers does it."""


class Embedder:
    """Embeds texts side by side, each on one thread. A text embedded alone is a question and remembered."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(WINDOW)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        graph = str(folder / "model.onnx")
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        self._pool = ThreadPoolExecutor(threads)
        self._remembered: dict[str, np.ndarray] = {}

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """One unit vector per text."""
        return np.stack(list(self._pool.map(self._embed, texts)))

    def question(self, text: str) -> np.ndarray:
        """A question's vector; the second time it costs nothing."""
        if text not in self._remembered:
            self._remembered[text] = self._embed(text)
        return self._remembered[text]

    def _embed(self, text: str) -> np.ndarray:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        (vectors,) = self._session.run(None, {self._input: ids})
        return np.asarray(vectors[0], dtype=np.float32)
