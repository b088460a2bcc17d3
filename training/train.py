"""Distil an English and German student from gte-small on one GPU.

    python training/train.py --shards SHARDS --teacher TEACHER.onnx --eval EVAL --out OUT --seconds 1200

SHARDS is what `prepare.py` wrote. The student starts as the teacher with a larger vocabulary. Each step takes
one kind of batch (sentence pairs, passage pairs made of consecutive sentences, English texts), asks the teacher
for the vector of the English text, and pulls the student's vector of that text and of its German translation
towards it: cosine, and the KL divergence between the rankings of the batch. The learning rate follows the clock,
so a run ends when its seconds do; or the steps, where `--steps` is given. A checkpoint is kept every `--keep` seconds;
`--resume` continues from one. Without `--eval` nothing is measured on the way.
"""

from __future__ import annotations

import argparse
import glob
import json
import lzma
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from evaluate import evaluate
from weights import load

CLS, SEP = 101, 102
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # the CPU only to try the script
HEADS = 12
# How often a source is drawn, a pair of it against a pair of msdocs.
SENTENCES = {
    "msdocs": 1.0,
    "msdocs-machine": 0.5,
    "mdn": 0.7,
    "tatoeba": 3.0,
    "tatoeba-pivot": 3.0,
    "libreoffice": 1.0,
    "php": 1.0,
    "omosqa": 5.0,
    "ntrex": 6.0,
    "translated": 1.5,
    "questions": 3.0,
    "records": 5.0,
}
PASSAGES = {
    "msdocs": 1.0,
    "msdocs-machine": 0.6,
    "mdn": 0.7,
    "tatoeba": 1.2,
    "tatoeba-pivot": 1.2,
    "libreoffice": 0.8,
    "php": 1.0,
    "omosqa": 6.0,
    "ntrex": 8.0,
    "translated": 3.0,
    "questions": 0.5,
    "records": 1.0,
}


class Bert(torch.nn.Module):
    """The encoder with mean pooling and normalised output."""

    def __init__(self, parameters: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.names = {name: name.replace(".", "_") for name in parameters}
        self.layers = len({name.split(".")[2] for name in parameters if name.startswith("encoder.layer.")})
        for name, array in parameters.items():
            self.register_parameter(self.names[name], torch.nn.Parameter(torch.tensor(np.array(array, np.float32))))

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, plain).detach().float().cpu().numpy() for name, plain in self.names.items()}

    def one(self, name: str) -> torch.Tensor:
        return getattr(self, self.names[name])

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        one = self.one
        x = F.embedding(ids, one("embeddings.word_embeddings.weight"))
        x = (
            x
            + one("embeddings.position_embeddings.weight")[: ids.shape[1]]
            + one("embeddings.token_type_embeddings.weight")[0]
        )
        x = F.layer_norm(x, (384,), one("embeddings.LayerNorm.weight"), one("embeddings.LayerNorm.bias"), 1e-12)
        x = x.to(torch.get_autocast_dtype(DEVICE)) if torch.is_autocast_enabled(DEVICE) else x
        bias = mask[:, None, None, :]
        for at in range(self.layers):
            p = f"encoder.layer.{at}."
            parts = [p + "attention.self." + part for part in ("query", "key", "value")]
            x = layer(
                x,
                bias,
                torch.cat([one(part + ".weight") for part in parts]),
                torch.cat([one(part + ".bias") for part in parts]),
                one(p + "attention.output.dense.weight"),
                one(p + "attention.output.dense.bias"),
                one(p + "attention.output.LayerNorm.weight"),
                one(p + "attention.output.LayerNorm.bias"),
                one(p + "intermediate.dense.weight"),
                one(p + "intermediate.dense.bias"),
                one(p + "output.dense.weight"),
                one(p + "output.dense.bias"),
                one(p + "output.LayerNorm.weight"),
                one(p + "output.LayerNorm.bias"),
            )
        keep = mask[..., None].float()
        mean = (x.float() * keep).sum(1) / keep.sum(1)
        return F.normalize(mean, dim=-1)


def plain_layer(x, bias, qkv_w, qkv_b, out_w, out_b, n1_w, n1_b, up_w, up_b, down_w, down_b, n2_w, n2_b):
    b, n, d = x.shape
    q, k, v = F.linear(x, qkv_w, qkv_b).view(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
    a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    a = F.linear(a.transpose(1, 2).reshape(b, n, d), out_w, out_b)
    x = F.layer_norm((x + a).float(), (d,), n1_w, n1_b, 1e-12).to(x.dtype)
    h = F.linear(F.gelu(F.linear(x, up_w, up_b)), down_w, down_b)
    return F.layer_norm((x + h).float(), (d,), n2_w, n2_b, 1e-12).to(x.dtype)


layer = plain_layer


# ---------------------------------------------------------------- data


def tokenise(job):
    """Ids of many texts in one flat array with offsets (no special tokens)."""
    path, texts = job
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(path)
    pieces.no_truncation()
    pieces.no_padding()
    coded = [item.ids for item in pieces.encode_batch(texts, add_special_tokens=False)]
    flat = np.concatenate([np.array(ids, np.uint16) for ids in coded])
    return flat, np.array([len(ids) for ids in coded], np.int64)


def coded(pool, path: str, texts: list[str]):
    size = 8000
    parts = list(pool.map(tokenise, [(path, texts[at : at + size]) for at in range(0, len(texts), size)]))
    flat = np.concatenate([part[0] for part in parts]).astype(np.int32)
    return flat, np.concatenate([[0], np.cumsum(np.concatenate([part[1] for part in parts]))])


class Texts:
    """Flat ids on the GPU; any run of consecutive texts is one slice of them."""

    def __init__(self, flat: np.ndarray, offsets: np.ndarray) -> None:
        self.flat = torch.tensor(flat, device=DEVICE)
        self.offsets = offsets

    def batch(self, first: np.ndarray, last: np.ndarray, room: int):
        """Padded ids and mask of the texts first..last-1, cut at `room` pieces with the special ones."""
        starts, ends = self.offsets[first], self.offsets[last]
        lengths = np.minimum(ends - starts, room - 2)
        width = int(min(room, -(-(lengths.max() + 2) // 16) * 16))
        s = torch.tensor(starts, device=DEVICE)[:, None]
        n = torch.tensor(lengths, device=DEVICE)[:, None]
        at = torch.arange(width, device=DEVICE)[None]
        ids = self.flat[(s + at - 1).clamp(0, len(self.flat) - 1)].long()
        ids = torch.where(at == 0, CLS, torch.where(at == n + 1, SEP, torch.where(at > n + 1, 0, ids)))
        return ids, at <= n + 1


def read_pairs(path: str):
    english, german, page, number = [], [], [], 0
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if not line:
                number += 1
                continue
            left, _, right = line.partition("\t")
            english.append(left)
            german.append(right)
            page.append(number)
    return english, german, page


class Data:
    def __init__(self, shards: str, teacher_tokenizer: str, student_tokenizer: str, seed: int) -> None:
        english, german, page, sentence, passage = [], [], [], [], []
        generator = np.random.default_rng(5)
        for path in sorted(glob.glob(os.path.join(shards, "pairs-*.txt.xz"))):
            source = os.path.basename(path)[6:-7]
            one, two, pages = read_pairs(path)
            if source.startswith("tatoeba"):  # stored by alphabet: shuffle, so that joined rows are varied
                order = generator.permutation(len(one))
                one, two = [one[i] for i in order], [two[i] for i in order]
            key = "libreoffice" if source.startswith("libreoffice") else source
            pages = np.array(pages, np.int64) + (page[-1][-1] + 1 if page else 0)
            english += one
            german += two
            page.append(pages)
            sentence.append(np.full(len(one), SENTENCES.get(key, 1.0)))
            passage.append(np.full(len(one), PASSAGES.get(key, 1.0)))
            print(source, len(one), "pages", len(np.unique(pages)))
        with lzma.open(os.path.join(shards, "english.txt.xz"), "rt", encoding="utf-8") as file:
            alone = file.read().split("\n")[:-1]
        old, new = teacher_tokenizer, student_tokenizer
        jobs = [(old, english), (new, english), (new, german), (old, alone), (new, alone)]
        with ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 1)) as pool:  # before anything touches the GPU
            arrays = [coded(pool, *job) for job in jobs]
        self.en_teacher, self.en, self.de, self.alone_teacher, self.alone = (Texts(*one) for one in arrays)
        pages = np.concatenate(page)
        self.page_end = np.searchsorted(pages, pages, side="right")
        self.sentence = np.cumsum(np.concatenate(sentence))
        self.passage = np.cumsum(np.concatenate(passage))
        lengths = np.diff(self.alone_teacher.offsets)
        self.by_length = np.argsort(lengths, kind="stable")
        self.sorted_lengths = lengths[self.by_length]
        self.random = np.random.default_rng(seed)
        print(
            f"{len(english)} pairs, {len(alone)} English texts; pieces",
            [len(one.flat) for one in (self.en, self.de, self.alone)],
        )

    def draw(self, weights: np.ndarray, size: int) -> np.ndarray:
        return np.searchsorted(weights, self.random.random(size) * weights[-1], side="right")

    def sentences(self, size: int):
        first = self.draw(self.sentence, size)
        return self.pair(first, first + 1, 96)

    def passages(self, size: int, room: int):
        """Runs of rows of a page whose German has nearly `room` pieces, or the rest of the page."""
        first = self.draw(self.passage, size)
        length = self.random.integers(room // 2, room - 2, size)
        last = np.searchsorted(self.de.offsets, self.de.offsets[first] + length, side="right") - 1
        last = np.minimum(np.maximum(last, first + 1), self.page_end[first])
        return self.pair(first, last, room)

    def pair(self, first, last, room):
        return self.en_teacher.batch(first, last, room), [
            self.en.batch(first, last, room),
            self.de.batch(first, last, room),
        ]

    def english(self, size: int, low: int, high: int, room: int):
        low, high = np.searchsorted(self.sorted_lengths, [low, high])
        chosen = self.by_length[self.random.integers(low, high, size)]
        return self.alone_teacher.batch(chosen, chosen + 1, room), [self.alone.batch(chosen, chosen + 1, room)]

    def step(self, small: int = 1):
        kind = self.random.random()
        if kind < 0.30:
            return "sentences", self.sentences(1536 // small)
        if kind < 0.45:
            return "short", self.passages(768 // small, 96)
        if kind < 0.62:
            return "passages", self.passages(512 // small, 176)
        if kind < 0.74:
            return "long", self.passages(320 // small, 272)
        if kind < 0.82:
            return "questions", self.english(1536 // small, 3, 40, 64)
        if kind < 0.92:
            return "english", self.english(768 // small, 40, 140, 144)
        return "articles", self.english(512 // small, 120, 400, 304)


# ---------------------------------------------------------------- training


def ranking_loss(student: torch.Tensor, teacher: torch.Tensor, scale: float) -> torch.Tensor:
    wanted = F.softmax(scale * teacher @ teacher.T, -1)
    found = F.log_softmax(scale * student @ teacher.T, -1)
    return F.kl_div(found, wanted, reduction="batchmean")


def encoder(model: Bert, tokenizer: str):
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(tokenizer)
    pieces.no_padding()
    pieces.enable_truncation(512)

    def encode(texts):
        ids = [item.ids for item in pieces.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        out = np.zeros((len(ids), 384), np.float32)
        with torch.no_grad(), torch.autocast(DEVICE, torch.float16 if DEVICE == "cuda" else torch.bfloat16):
            for at in range(0, len(order), 256):
                chosen = order[at : at + 256]
                width = -(-max(len(ids[i]) for i in chosen) // 16) * 16
                grid = torch.tensor([ids[i] + [0] * (width - len(ids[i])) for i in chosen], device=DEVICE)
                mask = torch.tensor(
                    [[1] * len(ids[i]) + [0] * (width - len(ids[i])) for i in chosen], device=DEVICE
                ).bool()
                out[chosen] = model(grid, mask).cpu().numpy()
        return out

    return encode


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("shards", "teacher", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--eval", default="")
    parser.add_argument("--teacher-tokenizer", required=True)
    parser.add_argument("--seconds", type=float, default=1200, help="training time, tokenising not counted")
    parser.add_argument("--steps", type=int, default=0, help="or: end after so many steps")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--until", type=float, default=0, help="or: end at this Unix time")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--warm", type=float, default=0.03)
    parser.add_argument("--scale", type=float, default=40.0)
    parser.add_argument("--cosine", type=float, default=15.0)
    parser.add_argument("--keep", type=float, default=240)
    parser.add_argument("--resume", default="")
    parser.add_argument("--small", type=int, default=1, help="divide the batches by this (to try the script)")
    parser.add_argument("--no-compile", action="store_true")
    return parser.parse_args(arguments)


def train(options: argparse.Namespace) -> dict[str, float]:
    """The figures of the evaluation, and 1 - cosine of German texts over the first and the last ten steps with any."""
    global layer
    os.makedirs(options.out, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = True
    if not options.no_compile:
        torch._dynamo.config.cache_size_limit = 64
        layer = torch.compile(plain_layer, dynamic=True)
    student_tokenizer = os.path.join(options.shards, "tokenizer.json")

    began = time.time()
    data = Data(options.shards, options.teacher_tokenizer, student_tokenizer, options.seed)
    print(f"data {time.time() - began:.0f} s", flush=True)
    parameters = dict(np.load(options.teacher)) if options.teacher.endswith(".npz") else load(options.teacher)
    teacher = Bert(parameters).to(DEVICE).eval().requires_grad_(False)

    def measure(model: Bert, tokenizer: str) -> dict[str, float]:
        return evaluate(encoder(model, tokenizer), options.eval) if options.eval else {}

    began = time.time()
    found = measure(teacher, options.teacher_tokenizer)
    print("teacher", {k: round(v, 4) for k, v in found.items()}, f"{time.time() - began:.0f} s", flush=True)

    start = json.loads(Path(options.shards, "new_pieces.json").read_text(encoding="utf-8"))
    words = parameters["embeddings.word_embeddings.weight"]
    parameters["embeddings.word_embeddings.weight"] = np.concatenate(
        [words, *(words[ids].mean(0)[None] for ids in start)]
    )
    if options.resume:
        parameters = {key: value.astype(np.float32) for key, value in np.load(options.resume).items()}
    student = Bert(parameters).to(DEVICE)
    optimiser = torch.optim.AdamW(
        student.parameters(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True
    )

    def keep(name: str) -> dict[str, float]:
        half = {key: value.astype(np.float16) for key, value in student.arrays().items()}
        path = os.path.join(options.out, name + ".npz")
        np.savez(path + ".part.npz", **half)
        os.replace(path + ".part.npz", path)
        return measure(student, student_tokenizer)

    began = kept = time.time()
    total = options.until - began if options.until else options.seconds
    steps, means, every = 0, {}, []
    while True:
        now = time.time()
        done = steps / options.steps if options.steps else (now - began) / total
        if done >= 1:
            break
        if now - kept > options.keep:
            kept = now
            print(f"{now - began:.0f} s, step {steps}", {k: round(v, 4) for k, v in keep("last").items()}, flush=True)
        rate = options.rate * min(1.0, done / options.warm) * min(1.0, (1 - done) / (1 - options.warm)) + 1e-7
        for group in optimiser.param_groups:
            group["lr"] = rate
        kind, ((ids, mask), inputs) = data.step(options.small)
        with torch.no_grad(), torch.autocast(DEVICE, torch.float16 if DEVICE == "cuda" else torch.bfloat16):
            wanted = teacher(ids, mask)
        total_loss = 0.0
        with torch.autocast(DEVICE, torch.bfloat16):
            vectors = [student(ids, mask) for ids, mask in inputs]
        with torch.autocast(DEVICE, enabled=False):
            losses = []
            for vector in vectors:
                near = (1 - (vector * wanted).sum(-1)).mean()
                total_loss = total_loss + options.cosine * near + ranking_loss(vector, wanted, options.scale)
                losses.append(near.detach())
        optimiser.zero_grad(set_to_none=True)
        total_loss.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        steps += 1
        every += losses[1:]
        means.setdefault(kind, []).append(torch.stack([*losses, total_loss.detach()]))
        if steps in (5, 20, 100) or steps % 500 == 0:
            said = {k: [round(x, 4) for x in torch.stack(v[-60:]).mean(0).tolist()] for k, v in means.items()}
            print(f"{time.time() - began:.0f} s, step {steps}, rate {rate:.2e}", said, flush=True)
            means = {}
    results = keep("final")
    print("student", steps, {k: round(v, 4) for k, v in results.items()}, flush=True)
    with open(os.path.join(options.out, "done.json"), "w") as file:
        json.dump({"steps": steps, "seconds": total, "gpu": results}, file)
    first, last = (float(torch.stack(values).mean()) for values in (every[:10], every[-10:]))
    return results | {"first loss": first, "last loss": last}


def main() -> None:
    train(parsed())


if __name__ == "__main__":
    main()
