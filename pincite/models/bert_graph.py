"""Build a BERT sentence encoder as an ONNX graph: input are the word pieces of one text, output is its unit vector.

The graph processes one text at a time, without a mask. On a CPU this is as fast as batches. Since int8 scales depend on
the activations, only this way does a text get the same vector whatever else is embedded.

Choices made by measurement (2 cores with VNNI, passages of 206 pieces): int8 weights with a scale per output column in
`DynamicQuantizeMatMul`; rows of the feed-forward's inner layer scaled to the same range before quantisation, because
single tokens are ten times larger than the rest; attention and normalisation in fp32; separate `Add` and
`LayerNormalization`, since onnxruntime's fused `SkipLayerNormalization` is several times slower. Processors without
VNNI saturate a few products; under emulation the mean cosine to fp32 fell from .995 to .993.

A change here that changes vectors changes the names of the embedders, too: `GRAPH_VERSION` of minilm_files.py, and the
version of a shipped model, which is exported with this builder.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]

Tensors = Mapping[str, Array]
"""Parameters by their names in BERT; linear weights as (outputs, inputs)."""

INPUT, OUTPUT = "ids", "vector"
HEADS, WIDTH = 12, 384
EPSILON = 1e-12
_ORT = "com.microsoft"
_OPSET, _ORT_OPSET, _IR_VERSION = 18, 1, 9


class _Graph:
    """Nodes and constants of a graph, in insertion order."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def apply(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.apply_many(op, 1, *inputs, domain=domain, **attributes)[0]

    def apply_many(self, op: str, outputs: int, *inputs: str, domain: str = "", **attributes: Any) -> list[str]:
        names = [f"n{len(self.nodes)}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        return names


Linear = Callable[[_Graph, str, Array, Array], str]


def build(tensors: Tensors, name: str, *, int8: bool) -> bytes:
    """Return the serialised graph of the encoder with these weights, rounded to int8 or as they are."""
    layers = 1 + max(int(key.split(".")[2]) for key in tensors if key.startswith("encoder.layer."))
    graph = _Graph()
    linear, inner = (_int8_linear, _int8_linear_by_row) if int8 else (_linear, _linear)
    state = _embed_pieces(graph, tensors, int8)
    for layer in range(layers):
        state = _layer(graph, tensors, f"encoder.layer.{layer}", state, linear, inner)
    mean = graph.apply("ReduceMean", state, graph.constant(np.array([1])), keepdims=0)
    unit = graph.apply("LpNormalization", mean, axis=-1, p=2)
    graph.nodes.append(helper.make_node("Identity", [unit], [OUTPUT]))
    return _serialise(graph, name)


def _embed_pieces(graph: _Graph, tensors: Tensors, int8: bool) -> str:
    table = tensors["embeddings.word_embeddings.weight"]
    if int8:
        whole, scale = _quantise(table, axis=1)
        pieces = graph.apply("Cast", graph.apply("Gather", graph.constant(whole), INPUT), to=TensorProto.FLOAT)
        words = graph.apply("Mul", pieces, graph.apply("Gather", graph.constant(scale), INPUT))
    else:
        words = graph.apply("Gather", graph.constant(table), INPUT)
    # Each text has one segment, so its type embedding is added to every position embedding.
    places = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    first, axis = graph.constant(np.array([0])), graph.constant(np.array([0]))
    length = graph.apply("Shape", INPUT, start=1, end=2)
    positions = graph.apply("Slice", graph.constant(places), first, length, axis)
    return _normalise(graph, tensors, "embeddings.LayerNorm", graph.apply("Add", words, positions))


def _layer(graph: _Graph, tensors: Tensors, name: str, state: str, linear: Linear, inner_linear: Linear) -> str:
    def dense(part: str) -> tuple[Array, Array]:
        return tensors[f"{name}.{part}.weight"], tensors[f"{name}.{part}.bias"]

    parts = [dense(f"attention.self.{part}") for part in ("query", "key", "value")]
    weight, bias = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    projected = graph.apply_many("Split", 3, linear(graph, state, weight, bias), axis=-1, num_outputs=3)
    mixed = graph.apply("MultiHeadAttention", *projected, domain=_ORT, num_heads=HEADS)
    attended = graph.apply("Add", linear(graph, mixed, *dense("attention.output.dense")), state)
    state = _normalise(graph, tensors, f"{name}.attention.output.LayerNorm", attended)
    inner = graph.apply("Gelu", linear(graph, state, *dense("intermediate.dense")), domain=_ORT)
    fed = graph.apply("Add", inner_linear(graph, inner, *dense("output.dense")), state)
    return _normalise(graph, tensors, f"{name}.output.LayerNorm", fed)


def _normalise(graph: _Graph, tensors: Tensors, name: str, state: str) -> str:
    gain, shift = graph.constant(tensors[f"{name}.weight"]), graph.constant(tensors[f"{name}.bias"])
    return graph.apply("LayerNormalization", state, gain, shift, axis=-1, epsilon=EPSILON)


def _linear(graph: _Graph, state: str, weight: Array, bias: Array) -> str:
    return graph.apply("Add", graph.apply("MatMul", state, graph.constant(weight.T)), graph.constant(bias))


def _int8_linear(graph: _Graph, state: str, weight: Array, bias: Array) -> str:
    return graph.apply(
        "DynamicQuantizeMatMul", state, *_int8_constants(graph, weight), graph.constant(bias), domain=_ORT
    )


def _int8_linear_by_row(graph: _Graph, state: str, weight: Array, bias: Array) -> str:
    last = graph.constant(np.array([2]))
    peaks = graph.apply("ReduceMax", graph.apply("Abs", state), last, keepdims=1)
    level = graph.apply("Div", state, peaks)
    product = graph.apply("DynamicQuantizeMatMul", level, *_int8_constants(graph, weight), domain=_ORT)
    return graph.apply("Add", graph.apply("Mul", product, peaks), graph.constant(bias))


def _int8_constants(graph: _Graph, weight: Array) -> tuple[str, str, str]:
    whole, scale = _quantise(weight.T, axis=0)
    zero = np.zeros(scale.size, np.int8)
    return graph.constant(whole), graph.constant(scale.reshape(-1)), graph.constant(zero)


def _quantise(values: Array, axis: int) -> tuple[Array, Array]:
    """Round to int8 with one symmetric scale for all values along `axis`."""
    peaks = np.abs(values).max(axis=axis, keepdims=True)
    scale = np.maximum(peaks, np.finfo(np.float32).tiny) / np.float32(127)
    return np.rint(values / scale).astype(np.int8), scale


def _serialise(graph: _Graph, name: str) -> bytes:
    ids = helper.make_tensor_value_info(INPUT, TensorProto.INT64, [1, "pieces"])
    vector = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, WIDTH])
    whole = helper.make_graph(graph.nodes, name, [ids], [vector], graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_ORT, _ORT_OPSET)]
    data: bytes = helper.make_model(whole, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()
    return data
