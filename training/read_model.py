"""The reader: a cross-encoder over `[CLS] question [SEP] passage [SEP]`, in torch and as an ONNX graph.

    python training/read_model.py READER.npz OUT_DIR     writes OUT_DIR/model.onnx and model_int8.onnx

Outputs: `start` and `end` (logits a piece, -1e4 outside the passage), `answerable` (logit), `polarity` (yes, no,
neither) and `claim` (supported, contradicted, not stated). The last three read the first piece, the mean of the
question's pieces and a weighted mean of the passage's pieces.
"""

from __future__ import annotations

import argparse
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from weights import quantise

WIDTH, HEADS, SEP, OUTSIDE = 384, 12, 102, -1e4
EMBEDDINGS = [f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type")]
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
LINEARS = ("attention.self.qkv", "attention.output.dense", "intermediate.dense", "output.dense")


def from_embedder(path: str, layers: list[int], seed: int = 0) -> dict[str, np.ndarray]:
    """Start values: embeddings and the named layers of the embedder, new heads."""
    old = {name: array.astype(np.float32) for name, array in np.load(path).items()}
    new = {name: old[name] for name in (*EMBEDDINGS, "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias")}
    new[EMBEDDINGS[1]] = new[EMBEDDINGS[1]][:320]
    for at, layer in enumerate(layers):
        for kind in ("weight", "bias"):
            p = f"encoder.layer.{layer}."
            parts = [old[f"{p}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            new[f"layer.{at}.attention.self.qkv.{kind}"] = np.concatenate(parts)
            for name in (*LINEARS[1:], *NORMS):
                new[f"layer.{at}.{name}.{kind}"] = old[f"{p}{name}.{kind}"]
    random = np.random.default_rng(seed)
    for name, out, width in (("span", 2, WIDTH), ("weigh", 1, WIDTH), ("pool", WIDTH, 3 * WIDTH), ("judge", 7, WIDTH)):
        new[f"head.{name}.weight"] = random.normal(0, 0.02, (out, width)).astype(np.float32)
        new[f"head.{name}.bias"] = np.zeros(out, np.float32)
    return new


def depth(parameters) -> int:
    return len({name.split(".")[1] for name in parameters if name.startswith("layer.")})


class Reader(torch.nn.Module):
    def __init__(self, parameters: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.names = {name: name.replace(".", "_") for name in parameters}
        self.layers = depth(parameters)
        for name, array in parameters.items():
            self.register_parameter(self.names[name], torch.nn.Parameter(torch.tensor(np.array(array, np.float32))))

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, plain).detach().float().numpy() for name, plain in self.names.items()}

    def one(self, name: str) -> torch.Tensor:
        return getattr(self, self.names[name])

    def linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, self.one(name + ".weight"), self.one(name + ".bias"))

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self.one(name + ".weight"), self.one(name + ".bias")
        return F.layer_norm(x, (WIDTH,), weight.to(x.dtype), bias.to(x.dtype), 1e-12)

    def forward(self, ids, types, mask, drop: float = 0.0):
        """start, end, answerable, polarity, claim. The mask is boolean."""
        words, places, kinds = (self.one(name) for name in EMBEDDINGS)
        x = F.embedding(ids, words) + places[: ids.shape[1]] + F.embedding(types, kinds)
        x = F.layer_norm(
            x, (WIDTH,), self.one("embeddings.LayerNorm.weight"), self.one("embeddings.LayerNorm.bias"), 1e-12
        )
        x = F.dropout(x, drop)
        x = x.to(torch.bfloat16) if torch.is_autocast_enabled("cpu") else x
        b, n, d = x.shape
        bias = torch.where(mask, 0.0, OUTSIDE).to(x.dtype)[:, None, None, :]
        for at in range(self.layers):
            p = f"layer.{at}."
            q, k, v = self.linear(x, p + LINEARS[0]).view(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
            # Written out: on a CPU the fused attention takes five times as long backwards.
            a = ((q * (d // HEADS) ** -0.5) @ k.transpose(-1, -2) + bias).softmax(-1, dtype=x.dtype) @ v
            a = self.linear(a.transpose(1, 2).reshape(b, n, d), p + LINEARS[1])
            x = self.norm(x + F.dropout(a, drop), p + NORMS[0])
            h = self.linear(F.gelu(self.linear(x, p + LINEARS[2])), p + LINEARS[3])
            x = self.norm(x + F.dropout(h, drop), p + NORMS[1])
        passage = mask & (types == 1) & (ids != SEP)
        question = (mask & (types == 0)).float()
        edges = self.linear(x, "head.span").float().masked_fill(~passage[..., None], OUTSIDE)
        weight = self.linear(x, "head.weigh").float()[..., 0].masked_fill(~passage, OUTSIDE).softmax(-1)
        x = x.float()
        asked = (x * question[..., None]).sum(1) / question.sum(1, keepdim=True)
        read = (x * weight[..., None]).sum(1)
        pooled = F.gelu(self.linear(torch.cat([x[:, 0], asked, read], -1), "head.pool"))
        judged = self.linear(F.dropout(pooled, drop), "head.judge").float()
        return edges[..., 0], edges[..., 1], judged[:, 0], judged[:, 1:4], judged[:, 4:7]


def graph(parameters: dict[str, np.ndarray]):
    """The same model as ONNX, written node by node."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, held, count = [], {}, 0

    def constant(name: str, array) -> str:
        held.setdefault(name, numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def node(kind: str, *inputs: str, out: str = "", **attributes) -> str:
        nonlocal count
        count += 1
        out = out or f"{kind.lower()}_{count}"
        nodes.append(helper.make_node(kind, list(inputs), [out], name=f"{kind}_{count}", **attributes))
        return out

    def floats(name: str) -> str:
        return constant(name, parameters[name].astype(np.float32))

    def number(value, kind=np.float32) -> str:
        return constant(f"{np.dtype(kind).name} {value}", np.array(value, kind))

    def linear(x: str, name: str, out: str = "") -> str:
        weight = constant(name + ".weight", parameters[name + ".weight"].astype(np.float32).T)
        return node("Add", node("MatMul", x, weight), floats(name + ".bias"), out=out)

    def norm(x: str, name: str) -> str:
        return node("LayerNormalization", x, floats(name + ".weight"), floats(name + ".bias"), axis=-1, epsilon=1e-12)

    def gelu(x: str) -> str:
        half = node("Mul", x, number(0.5))
        return node("Mul", half, node("Add", node("Erf", node("Div", x, number(np.sqrt(2)))), number(1.0)))

    def last(x: str) -> str:
        return node("Unsqueeze", x, number([-1], np.int64))

    shape = node("Shape", "input_ids")
    places = node(
        "Slice",
        floats(EMBEDDINGS[1]),
        number([0], np.int64),
        node("Slice", shape, number([1], np.int64), number([2], np.int64)),
        number([0], np.int64),
    )
    x = node(
        "Add",
        node("Gather", floats(EMBEDDINGS[0]), "input_ids"),
        node("Gather", floats(EMBEDDINGS[2]), "token_type_ids"),
    )
    x = norm(node("Add", x, places), "embeddings.LayerNorm")
    mask = node("Cast", "attention_mask", to=TensorProto.FLOAT)
    types = node("Cast", "token_type_ids", to=TensorProto.FLOAT)
    hidden = node("Mul", node("Sub", number(1.0), mask), number(OUTSIDE))
    hidden = node("Unsqueeze", hidden, number([1, 2], np.int64))
    split, joined = number([0, 0, HEADS, WIDTH // HEADS], np.int64), number([0, 0, WIDTH], np.int64)
    scale = number(1 / np.sqrt(WIDTH // HEADS))
    for at in range(depth(parameters)):
        p = f"layer.{at}."
        heads = []
        for part, name in enumerate(("query", "key", "value")):
            rows = slice(part * WIDTH, (part + 1) * WIDTH)
            for kind in ("weight", "bias"):
                parameters[f"{p}{name}.{kind}"] = parameters[f"{p}{LINEARS[0]}.{kind}"][rows]
            heads.append(node("Reshape", linear(x, p + name), split))
        q, k, v = (
            node("Transpose", one, perm=(0, 2, 3, 1) if at_ == 1 else (0, 2, 1, 3)) for at_, one in enumerate(heads)
        )
        scores = node("Add", node("Mul", node("MatMul", q, k), scale), hidden)
        a = node("MatMul", node("Softmax", scores, axis=-1), v)
        a = linear(node("Reshape", node("Transpose", a, perm=(0, 2, 1, 3)), joined), p + LINEARS[1])
        x = norm(node("Add", x, a), p + NORMS[0])
        x = norm(node("Add", x, linear(gelu(linear(x, p + LINEARS[2])), p + LINEARS[3])), p + NORMS[1])
    inner = node("Cast", node("Not", node("Equal", "input_ids", number(SEP, np.int64))), to=TensorProto.FLOAT)
    passage = node("Mul", node("Mul", mask, types), inner)
    question = node("Mul", mask, node("Sub", number(1.0), types))
    outside = node("Mul", node("Sub", number(1.0), passage), number(OUTSIDE))

    def masked(logits: str, out: str = "") -> str:
        return node("Add", node("Mul", logits, passage), outside, out=out)

    edges = linear(x, "head.span")
    for at, name in enumerate(("start", "end")):
        masked(node("Gather", edges, number(at, np.int64), axis=2), out=name)
    weight = node("Softmax", masked(node("Squeeze", linear(x, "head.weigh"), number([2], np.int64))), axis=-1)

    def mean(weights: str) -> str:
        return node("ReduceSum", node("Mul", x, last(weights)), number([1], np.int64), keepdims=0)

    asked = node("Div", mean(question), node("ReduceSum", question, number([1], np.int64), keepdims=1))
    first = node("Gather", x, number(0, np.int64), axis=1)
    judged = linear(gelu(linear(node("Concat", first, asked, mean(weight), axis=-1), "head.pool")), "head.judge")
    node("Gather", judged, number(0, np.int64), out="answerable", axis=1)
    for name, low, high in (("polarity", 1, 4), ("claim", 4, 7)):
        node("Slice", judged, number([low], np.int64), number([high], np.int64), number([1], np.int64), out=name)
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"])
        for n in ("input_ids", "token_type_ids", "attention_mask")
    ]
    sizes = {
        "start": ["batch", "length"],
        "end": ["batch", "length"],
        "answerable": ["batch"],
        "polarity": ["batch", 3],
        "claim": ["batch", 3],
    }
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in sizes.items()]
    made = helper.make_graph(nodes, "pincite-read", inputs, outputs, list(held.values()))
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], producer_name="pincite")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def export(parameters: dict[str, np.ndarray], folder: str) -> None:
    import onnx

    os.makedirs(folder, exist_ok=True)
    full, small = (os.path.join(folder, name) for name in ("model.onnx", "model_int8.onnx"))
    onnx.save(graph({name: array.astype(np.float32) for name, array in parameters.items()}), full)
    quantise(full, small + ".part")
    os.replace(small + ".part", small)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader")
    parser.add_argument("folder")
    options = parser.parse_args()
    export(dict(np.load(options.reader)), options.folder)


if __name__ == "__main__":
    main()
