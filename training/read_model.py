"""The reader in torch: a cross-encoder over `[CLS] question [SEP] passage [SEP]`.

Outputs: `start` and `end` (logits a piece, -1e4 outside the passage), `answerable` (logit), `polarity` (yes, no,
neither) and `claim` (supported, contradicted, not stated). The last three read the first piece, the mean of the
question's pieces and a weighted mean of the passage's pieces.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

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
        return {name: getattr(self, plain).detach().float().cpu().numpy() for name, plain in self.names.items()}

    def one(self, name: str) -> torch.Tensor:
        return getattr(self, self.names[name])

    def linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, self.one(name + ".weight"), self.one(name + ".bias"))

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self.one(name + ".weight"), self.one(name + ".bias")
        return F.layer_norm(x, (WIDTH,), weight.to(x.dtype), bias.to(x.dtype), 1e-12)

    def forward(self, ids, types, mask, drop: float = 0.0, frozen: int = 0, state=None):
        """start, end, answerable, polarity, claim. The mask is boolean; `state` is what `encode` gave up to `frozen`."""
        if state is None:
            state = self.encode(self.embed(ids, types, drop), mask, range(frozen), drop)
        return self.judge(self.encode(state, mask, range(frozen, self.layers), drop), ids, types, mask, drop)

    def embed(self, ids, types, drop: float = 0.0):
        """The sum of word, position and type embeddings, normalised."""
        words, places, kinds = (self.one(name) for name in EMBEDDINGS)
        x = F.embedding(ids, words) + places[: ids.shape[1]] + F.embedding(types, kinds)
        x = F.layer_norm(
            x, (WIDTH,), self.one("embeddings.LayerNorm.weight"), self.one("embeddings.LayerNorm.bias"), 1e-12
        )
        x = F.dropout(x, drop)
        return x.to(torch.bfloat16) if torch.is_autocast_enabled(x.device.type) else x

    def encode(self, x, mask, layers: range, drop: float = 0.0):
        """The output of the last of these layers."""
        b, n, d = x.shape
        bias = torch.where(mask, 0.0, OUTSIDE).to(x.dtype)[:, None, None, :]
        for at in layers:
            p = f"layer.{at}."
            q, k, v = self.linear(x, p + LINEARS[0]).view(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
            if x.is_cuda:
                a = F.scaled_dot_product_attention(q, k, v, bias)
            else:  # Written out: on a CPU the fused attention takes five times as long backwards.
                a = ((q * (d // HEADS) ** -0.5) @ k.transpose(-1, -2) + bias).softmax(-1, dtype=x.dtype) @ v
            a = self.linear(a.transpose(1, 2).reshape(b, n, d), p + LINEARS[1])
            x = self.norm(x + F.dropout(a, drop), p + NORMS[0])
            h = self.linear(F.gelu(self.linear(x, p + LINEARS[2])), p + LINEARS[3])
            x = self.norm(x + F.dropout(h, drop), p + NORMS[1])
        return x

    def judge(self, x, ids, types, mask, drop: float = 0.0):
        """The outputs of the heads."""
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
