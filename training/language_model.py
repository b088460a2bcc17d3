"""Run a Qwen2 language model from its GGUF file on a GPU, in large batches, to write training text.

    python training/language_model.py MODEL.gguf OUT_DIR [--megabytes 56]

cuts the file into parts for a machine that takes only small files: `index.json`, `tokenizer.json` and
`weights-NN.bin`, still quantised (Q4_K and Q6_K; `gguf` and `tokenizers` needed). `LanguageModel(OUT_DIR)` reads them
with torch alone.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np

END = (151645, 151643)
PAD = 151643
BLOCK = {"Q4_K": 144, "Q6_K": 210}
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def cut(path: str, folder: str, megabytes: int) -> None:
    """The file's tensors in parts. The output matrix serves as word embeddings too: the two are tied."""
    from gguf import GGUFReader

    reader = GGUFReader(path)
    os.makedirs(folder, exist_ok=True)
    index, part, size = [], [], 0
    number = 0

    def write() -> None:
        nonlocal number, part, size
        Path(folder, f"weights-{number:02}.bin").write_bytes(b"".join(part))
        number, part, size = number + 1, [], 0

    for tensor in reader.tensors:
        if tensor.name == "token_embd.weight":
            continue
        data, at = tensor.data.tobytes(), 0
        places = []
        while at < len(data):
            room = megabytes * 1_000_000 - size
            piece = data[at : at + room]
            places.append((number, size, len(piece)))
            part.append(piece)
            size += len(piece)
            at += len(piece)
            if size >= megabytes * 1_000_000:
                write()
        shape = [int(n) for n in reversed(tensor.shape)]
        index.append({"name": tensor.name, "kind": tensor.tensor_type.name, "shape": shape, "places": places})
    write()
    Path(folder, "index.json").write_text(json.dumps(index))
    tokenizer(reader, os.path.join(folder, "tokenizer.json"))


def tokenizer(reader, path: str) -> None:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(merge.split(" ")) for merge in reader.fields["tokenizer.ggml.merges"].contents()]
    kinds = reader.fields["tokenizer.ggml.token_type"].contents()
    made = Tokenizer(models.BPE({token: at for at, token in enumerate(tokens)}, merges))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(
        [AddedToken(token, special=True) for token, kind in zip(tokens, kinds, strict=True) if kind == 3]
    )
    made.save(path)


def unpacked(raw, kind: str, shape: list[int]):
    """The numbers of a quantised tensor (torch, on the device of `raw`)."""
    import torch

    if kind == "F32":
        return raw.view(torch.float32).reshape(shape)
    blocks = raw.view(-1, BLOCK[kind])
    count = len(blocks)
    if kind == "Q4_K":
        d, least = blocks[:, :4].contiguous().view(torch.float16).float().split(1, 1)
        packed, nibbles = blocks[:, 4:16].int(), blocks[:, 16:].int().view(count, 4, 32)
        scale = torch.cat([packed[:, :4] & 63, (packed[:, 8:] & 15) | ((packed[:, :4] >> 6) << 4)], 1)
        offset = torch.cat([packed[:, 4:8] & 63, (packed[:, 8:] >> 4) | ((packed[:, 4:8] >> 6) << 4)], 1)
        values = torch.stack([nibbles & 15, nibbles >> 4], 2).view(count, 8, 32)
        numbers = (d * scale).unsqueeze(2) * values - (least * offset).unsqueeze(2)
    else:
        low, high = blocks[:, :128].int().view(count, 2, 64), blocks[:, 128:192].int().view(count, 2, 32)
        scale = blocks[:, 192:208].contiguous().view(torch.int8).float()
        d = blocks[:, 208:].contiguous().view(torch.float16).float()
        parts = [
            (low[:, :, :32] & 15) | ((high & 3) << 4),
            (low[:, :, 32:] & 15) | (((high >> 2) & 3) << 4),
            (low[:, :, :32] >> 4) | (((high >> 4) & 3) << 4),
            (low[:, :, 32:] >> 4) | (((high >> 6) & 3) << 4),
        ]
        values = torch.stack(parts, 2).view(count, 16, 16) - 32
        numbers = (d * scale).unsqueeze(2) * values
    return numbers.reshape(shape)


class LanguageModel:
    """Qwen2 with a key-value cache; prompts are padded on the left."""

    LAYERS, HEADS, GROUPS, SIZE, THETA, EPSILON = 28, 12, 2, 128, 1e6, 1e-6

    def __init__(self, folder: str, device: str = "cuda", dtype=None) -> None:
        import torch
        from tokenizers import Tokenizer

        self.torch, self.device, self.dtype = torch, device, dtype or torch.bfloat16
        self.tokens = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        parts = [np.fromfile(path, np.uint8) for path in sorted(Path(folder).glob("weights-*.bin"))]
        self.weights = {}
        for item in json.loads(Path(folder, "index.json").read_text()):
            raw = np.concatenate([parts[number][at : at + size] for number, at, size in item["places"]])
            numbers = unpacked(torch.from_numpy(raw).to(device), item["kind"], item["shape"])
            self.weights[item["name"]] = numbers.to(self.dtype)
        for at in range(self.LAYERS):
            for kind in ("weight", "bias"):
                self.weights[f"{at}.qkv.{kind}"] = torch.cat(
                    [self.weights.pop(f"blk.{at}.attn_{part}.{kind}") for part in "qkv"]
                )
            self.weights[f"{at}.up"] = torch.cat(
                [self.weights.pop(f"blk.{at}.ffn_{part}.weight") for part in ("gate", "up")]
            )
        rates = self.THETA ** (-torch.arange(0, self.SIZE, 2, device=device, dtype=torch.float32) / self.SIZE)
        angles = torch.outer(torch.arange(2048, device=device, dtype=torch.float32), rates)
        self.cos, self.sin = (torch.cat([f(angles)] * 2, 1).to(self.dtype) for f in (torch.cos, torch.sin))

    def norm(self, x, name: str):
        return self.torch.nn.functional.rms_norm(x, x.shape[-1:], self.weights[name], self.EPSILON)

    def turned(self, x, cos, sin):
        first, second = x.chunk(2, -1)
        return x * cos + self.torch.cat([-second, first], -1) * sin

    def run(self, ids, places, mask, cache, at=None):
        """Logits of the last position. `cache` holds keys and values of each layer.

        New keys and values are written at the beginning, or at the position in the tensor `at` (then all of the cache
        is read, as far as the mask allows).
        """
        F, w = self.torch.nn.functional, self.weights
        b, n = ids.shape
        x = F.embedding(ids, w["output.weight"])
        cos, sin = self.cos[places][:, None], self.sin[places][:, None]
        mask = mask.repeat(1, 1, self.HEADS // self.GROUPS, 1)
        for layer in range(self.LAYERS):
            p = f"blk.{layer}."
            h = F.linear(self.norm(x, p + "attn_norm.weight"), w[f"{layer}.qkv.weight"], w[f"{layer}.qkv.bias"])
            q, k, v = h.split([self.HEADS * self.SIZE, *[self.GROUPS * self.SIZE] * 2], -1)
            q = self.turned(q.view(b, n, self.HEADS, self.SIZE).transpose(1, 2), cos, sin)
            k = self.turned(k.view(b, n, self.GROUPS, self.SIZE).transpose(1, 2), cos, sin)
            v = v.view(b, n, self.GROUPS, self.SIZE).transpose(1, 2)
            keys, values = cache[layer]
            if at is None:
                keys[:, :, :n], values[:, :, :n] = k, v
                keys, values = keys[:, :, :n], values[:, :, :n]
            else:
                keys.index_copy_(2, at, k)
                values.index_copy_(2, at, v)
            # The heads of a group stand one after the other as queries, so that keys and values are read once.
            a = F.scaled_dot_product_attention(q.reshape(b, self.GROUPS, -1, self.SIZE), keys, values, mask)
            a = a.view(b, self.HEADS, n, self.SIZE).transpose(1, 2).reshape(b, n, -1)
            x = x + F.linear(a, w[p + "attn_output.weight"])
            gate, up = F.linear(self.norm(x, p + "ffn_norm.weight"), w[f"{layer}.up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, w[p + "ffn_down.weight"])
        return F.linear(self.norm(x[:, -1], "output_norm.weight"), w["output.weight"])

    def write(self, prompts: list[str], limit: int, warmth: float, batch: int, deadline: float = 0.0) -> list[str]:
        """The continuation of each prompt, "" for those the deadline left out; prompts of like length go together.

        A limit of 0 leaves room for a translation: as many tokens as the longest prompt of the group.
        """
        import time

        torch = self.torch
        coded = [one.ids for one in self.tokens.encode_batch(prompts, add_special_tokens=False)]
        order = sorted(range(len(coded)), key=lambda at: len(coded[at]))
        groups = [order[at : at + batch] for at in range(0, len(order), batch)]
        np.random.default_rng(0).shuffle(groups)
        found = [""] * len(prompts)
        with torch.no_grad():
            for group in groups:
                if deadline and time.time() > deadline:
                    break
                room = limit or max(len(coded[at]) for at in group)
                written = self.continued([coded[at] for at in group], room, warmth)
                for at, text in zip(group, self.tokens.decode_batch(written), strict=True):
                    found[at] = text
        return found

    def continued(self, prompts: list[list[int]], limit: int, warmth: float) -> list[list[int]]:
        torch = self.torch
        b, n = len(prompts), max(len(prompt) for prompt in prompts)
        room = (n + limit + 7) // 8 * 8
        ids = torch.full((b, n), PAD)
        for row, prompt in enumerate(prompts):
            ids[row, n - len(prompt) :] = torch.tensor(prompt)
        ids = ids.to(self.device)
        before = torch.tensor([n - len(prompt) for prompt in prompts], device=self.device)
        order = torch.arange(room, device=self.device)
        seen = order[None] >= before[:, None]
        shape = (b, self.GROUPS, room, self.SIZE)
        cache = [
            [torch.zeros(shape, device=self.device, dtype=self.dtype) for _ in range(2)] for _ in range(self.LAYERS)
        ]
        places = (order[None, :n] - before[:, None]).clamp(min=0)
        causal, own = order[:n, None] >= order[None, :n], order[:n, None] == order[None, :n]
        step = max(1, 60_000 // n)  # prompts a forward pass: bounds the memory of the feed-forward layer
        logits = []
        for low in range(0, b, step):
            rows = slice(low, low + step)
            mask = (causal & seen[rows, None, :n] | own)[:, None]
            logits.append(self.run(ids[rows], places[rows], mask, [[k[rows], v[rows]] for k, v in cache]))
        scores, ended = torch.cat(logits), torch.zeros(b, device=self.device, dtype=torch.bool)
        token, at = torch.zeros(b, 1, device=self.device, dtype=torch.long), torch.tensor([n], device=self.device)

        def next_scores():
            mask = (seen & (order[None] <= at))[:, None, None]
            return self.run(token, (at - before[:, None]), mask, cache, at)

        graph = None
        if self.device == "cuda":  # recorded once: starting hundreds of kernels takes longer than running them
            next_scores()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                recorded = next_scores()
        written = []
        for number in range(limit):
            chosen = torch.where(ended, PAD, self.chosen(scores, warmth))
            written.append(chosen)
            ended |= (chosen == END[0]) | (chosen == END[1])
            if number == limit - 1 or (number % 8 == 7 and bool(ended.all())):
                break
            token.copy_(chosen[:, None])
            at.fill_(n + number)
            if graph is None:
                scores = next_scores()
            else:
                graph.replay()
                scores = recorded
        return torch.stack(written, 1).cpu().tolist()

    def chosen(self, scores, warmth: float):
        torch = self.torch
        if not warmth:
            return scores.argmax(-1)
        best, places = (scores.float() / warmth).topk(40)
        chance = best.softmax(-1)
        chance = chance * (chance.cumsum(-1) - chance < 0.92)
        return places.gather(1, torch.multinomial(chance, 1))[:, 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder")
    parser.add_argument("--megabytes", type=int, default=56)
    options = parser.parse_args()
    cut(options.model, options.folder, options.megabytes)


if __name__ == "__main__":
    main()
