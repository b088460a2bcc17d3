"""Open tokenizers and ONNX models for inference on the CPU, without telemetry."""

from pathlib import Path

from tokenizers import Tokenizer

from pincite.config.settings import forbid_telemetry

forbid_telemetry()
import onnxruntime  # noqa: E402 - it sends telemetry unless disabled before the import


def open_tokenizer(file: Path) -> Tokenizer:
    """Open a `tokenizer.json` without truncation and padding; special tokens in a text are encoded as plain text."""
    tokenizer = Tokenizer.from_file(str(file))
    # The files often ask for truncation, which would silently drop the end of a long text.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # A document may contain the text "[SEP]".
    tokenizer.encode_special_tokens = True
    return tokenizer


def open_session(model: str | bytes, *, basic_optimization: bool = False) -> onnxruntime.InferenceSession:
    """Open an ONNX model, by its path or its bytes, that computes each input on one thread.

    Inputs are computed in parallel on a thread pool, which is faster than sharing one input between threads.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    if basic_optimization:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
