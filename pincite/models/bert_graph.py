"""Build BERT models as ONNX graphs: a sentence encoder, and a reader of a question with a passage.

A graph processes one text at a time, without a mask. On a CPU this is as fast as batches. Since int8 scales depend on
the activations, only this way does a text get the same vector whatever else is embedded.

Choices made by measurement (2 cores with VNNI, passages of 206 pieces): int8 weights with a scale per output column in
`DynamicQuantizeMatMul`; rows of the feed-forward's inner layer scaled to the same range before quantisation, because
single tokens are ten times larger than the rest; attention and normalisation in fp32; separate `Add` and
`LayerNormalization`, since onnxruntime's fused `SkipLayerNormalization` is several times slower. Processors without
VNNI saturate a few products; under emulation the mean cosine to fp32 fell from .995 to .993.

A change here that changes vectors changes the names of the embedders, too: `GRAPH_VERSION` of minilm_files.py, and the
version of a shipped model, which is exported with this builder.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

from pincite.models.bert_input import INPUT, READER_OUTPUTS, TYPES

Array = npt.NDArray[Any]

Tensors = Mapping[str, Array]
"""Parameters by their names in BERT; linear weights as (outputs, inputs)."""

OUTPUT = "vector"
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
        self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def apply(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.apply_many(op, 1, *inputs, domain=domain, **attributes)[0]

    def apply_many(self, op: str, outputs: int, *inputs: str, domain: str = "", **attributes: Any) -> list[str]:
        names = [f"n{len(self.nodes)}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        return names

    def name(self, result: str, output: str) -> None:
        """Make a result an output of the graph."""
        self.nodes.append(helper.make_node("Identity", [result], [output]))


Linear = Callable[[_Graph, str, Array, Array], str]


def build(tensors: Tensors, name: str, *, int8: bool) -> bytes:
    """Return the serialised graph of the encoder with these weights, rounded to int8 or as they are."""
    graph = _Graph()
    # Each text has one segment, so its type embedding is added to every position embedding.
    places = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    state = _encode(graph, tensors, _embed_pieces(graph, tensors, places, int8=int8), int8=int8)
    mean = graph.apply("ReduceMean", state, graph.constant(np.array([1])), keepdims=0)
    unit = graph.apply("LpNormalization", mean, axis=-1, p=2)
    graph.name(unit, OUTPUT)
    return _serialise(graph, name, [INPUT], {OUTPUT: [1, WIDTH]})


def build_reader(tensors: Tensors, name: str, *, int8: bool) -> bytes:
    """Return the serialised graph of a reader; its second input is 0 for the question's pieces and 1 for the passage's.

    Besides BERT's, the tensors have the heads: `head.span` (start and end of each piece), `head.weigh` (the weight of
    each piece of the passage), `head.pool` and `head.judge` (the other outputs, from the first piece, the mean of the
    question's pieces and the weighted mean of the passage's pieces). The last piece separates and is never an answer.
    """
    graph = _Graph()
    places = tensors["embeddings.position_embeddings.weight"]
    kinds = graph.apply("Gather", graph.constant(tensors["embeddings.token_type_embeddings.weight"]), TYPES)
    state = _encode(graph, tensors, _embed_pieces(graph, tensors, places, kinds, int8=int8), int8=int8)

    def head(part: str, inputs: str) -> str:
        return _linear(graph, inputs, tensors[f"head.{part}.weight"], tensors[f"head.{part}.bias"])

    def mean(weights: str) -> str:
        rows = graph.apply("Unsqueeze", weights, graph.constant(np.array([1])))
        return graph.apply("Squeeze", graph.apply("MatMul", rows, state), graph.constant(np.array([1])))

    one = graph.constant(np.array(1, np.float32))
    passage = graph.apply("Cast", TYPES, to=TensorProto.FLOAT)
    question = graph.apply("Sub", one, passage)
    is_text = graph.apply("Cast", graph.apply("Not", _is_last(graph)), to=TensorProto.FLOAT)
    readable = graph.apply("Mul", passage, is_text)
    outside = graph.apply("Mul", graph.apply("Sub", one, readable), graph.constant(np.array(_OUTSIDE, np.float32)))

    def masked(logits: str) -> str:
        return graph.apply("Add", graph.apply("Mul", logits, readable), outside)

    edges = graph.apply_many("Split", 2, head("span", state), axis=2, num_outputs=2)
    last_axis = graph.constant(np.array([2]))
    for edge, output in zip(edges, ("start", "end"), strict=True):
        graph.name(masked(graph.apply("Squeeze", edge, last_axis)), output)
    weights = graph.apply("Softmax", masked(graph.apply("Squeeze", head("weigh", state), last_axis)), axis=-1)
    asked = graph.apply("Div", question, graph.apply("ReduceSum", question, graph.constant(np.array([1])), keepdims=1))
    first = graph.apply("Gather", state, graph.constant(np.array(0)), axis=1)
    joined = graph.apply("Concat", first, mean(asked), mean(weights), axis=-1)
    pool = _int8_linear if int8 else _linear
    pooled = pool(graph, joined, tensors["head.pool.weight"], tensors["head.pool.bias"])
    judged = head("judge", graph.apply("Gelu", pooled, domain=_ORT))
    sizes = graph.constant(np.array([1, 3, 3]))
    for part, output in zip(graph.apply_many("Split", 3, judged, sizes, axis=1), READER_OUTPUTS[2:], strict=True):
        graph.name(part, output)
    shapes: dict[str, list[Any]] = {"start": [1, "pieces"], "end": [1, "pieces"]}
    return _serialise(graph, name, [INPUT, TYPES], shapes | {"answerable": [1, 1], "polarity": [1, 3], "claim": [1, 3]})


_OUTSIDE = -1e4
"""Logit of a piece that cannot be a part of the answer."""


def _is_last(graph: _Graph) -> str:
    """Whether each piece is the last one of the input."""
    length = graph.apply("Shape", INPUT, start=1, end=2)
    zero, one = graph.constant(np.array(0)), graph.constant(np.array(1))
    end = graph.apply("Squeeze", length)
    return graph.apply("Equal", graph.apply("Range", zero, end, one), graph.apply("Sub", end, one))


def _encode(graph: _Graph, tensors: Tensors, state: str, *, int8: bool) -> str:
    layers = 1 + max(int(key.split(".")[2]) for key in tensors if key.startswith("encoder.layer."))
    linear, inner = (_int8_linear, _int8_linear_by_row) if int8 else (_linear, _linear)
    for layer in range(layers):
        state = _layer(graph, tensors, f"encoder.layer.{layer}", state, linear, inner)
    return state


def _embed_pieces(graph: _Graph, tensors: Tensors, places: Array, kinds: str | None = None, *, int8: bool) -> str:
    """The sum of word and position embeddings, and of `kinds` where the input has two segments, normalised."""
    table = tensors["embeddings.word_embeddings.weight"]
    if int8:
        whole, scale = _quantise(table, axis=1)
        pieces = graph.apply("Cast", graph.apply("Gather", graph.constant(whole), INPUT), to=TensorProto.FLOAT)
        words = graph.apply("Mul", pieces, graph.apply("Gather", graph.constant(scale), INPUT))
    else:
        words = graph.apply("Gather", graph.constant(table), INPUT)
    first, axis = graph.constant(np.array([0])), graph.constant(np.array([0]))
    length = graph.apply("Shape", INPUT, start=1, end=2)
    positions = graph.apply("Slice", graph.constant(places), first, length, axis)
    total = graph.apply("Add", words, positions)
    return _normalise(
        graph, tensors, "embeddings.LayerNorm", graph.apply("Add", total, kinds) if kinds is not None else total
    )


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


def _serialise(graph: _Graph, name: str, inputs: Sequence[str], outputs: Mapping[str, Sequence[Any]]) -> bytes:
    given = [helper.make_tensor_value_info(one, TensorProto.INT64, [1, "pieces"]) for one in inputs]
    made = [helper.make_tensor_value_info(one, TensorProto.FLOAT, list(shape)) for one, shape in outputs.items()]
    whole = helper.make_graph(graph.nodes, name, given, made, graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_ORT, _ORT_OPSET)]
    data: bytes = helper.make_model(whole, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()
    return data
