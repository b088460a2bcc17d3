"""Train the reader on the cores of a CPU, in bf16.

    python training/read_train.py --data DATA --embedder EMBEDDER.npz --out OUT --seconds 4200

DATA is what `read_prepare.py` wrote. The reader starts with layers of the embedder; the word embeddings stay as they
are. In every step each process takes examples of like length, up to `--tokens` word pieces, and the gradients are
averaged: on a busy machine one process a core is faster than threads, which wait for each other at every operation.
The learning rate follows the clock. `OUT/last.npz` is written every `--keep` seconds, `OUT/model_int8.onnx` every
second time and at the end; `--resume` continues.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from read_model import EMBEDDINGS, Reader, from_embedder

LAYERS = "0,2,4,6,8,10"
SPAN, CLAIM, YESNO = range(3)
LANGUAGES = ("en", "switched", "de")


class Examples:
    def __init__(self, path: str) -> None:
        arrays = np.load(path)
        self.arrays = {name: arrays[name] for name in arrays.files}
        self.ids = self.arrays["ids"].astype(np.int64)
        self.length = self.arrays["length"]
        self.offset = np.concatenate([[0], np.cumsum(self.length)])

    def __len__(self) -> int:
        return len(self.length)

    def batch(self, chosen: np.ndarray) -> dict[str, torch.Tensor]:
        width = int(self.length[chosen].max())
        grid = {name: np.zeros((len(chosen), width), np.int64) for name in ("ids", "types", "sentence")}
        for row, at in enumerate(chosen):
            low, high = self.offset[at], self.offset[at + 1]
            grid["ids"][row, : high - low] = self.ids[low:high]
            grid["sentence"][row, : high - low] = self.arrays["sentence"][low:high]
            grid["types"][row, self.arrays["question"][at] : high - low] = 1
        out = {name: torch.from_numpy(values) for name, values in grid.items()}
        out["mask"] = torch.from_numpy(np.arange(width)[None] < self.length[chosen][:, None])
        for name in ("start", "end", "task", "language", "answerable", "polarity", "claim"):
            out[name] = torch.from_numpy(self.arrays[name][chosen].astype(np.int64))
        return out

    def groups(self, chosen: np.ndarray, tokens: int) -> list[np.ndarray]:
        """The chosen examples by length, in groups of up to `tokens` pieces."""
        order, found, group = chosen[np.argsort(self.length[chosen], kind="stable")], [], []
        for at in order:
            if group and (len(group) + 1) * self.length[at] > tokens:
                found.append(np.array(group))
                group = []
            group.append(at)
        return [*found, np.array(group)]

    def forever(self, tokens: int, seed: int):
        random = np.random.default_rng(seed)
        while True:
            order = random.permutation(len(self))
            for at in range(0, len(order), 1500):
                found = self.groups(order[at : at + 1500], tokens)
                for number in random.permutation(len(found)):
                    yield self.batch(found[number])


def loss(found, batch) -> tuple[torch.Tensor, dict[str, float]]:
    start, end, answerable, polarity, claim = found
    parts = {}
    has = batch["start"] >= 0
    if has.any():
        parts["span"] = (
            F.cross_entropy(start[has], batch["start"][has]) + F.cross_entropy(end[has], batch["end"][has])
        ) / 2
    has = batch["answerable"] >= 0
    if has.any():
        parts["answerable"] = F.binary_cross_entropy_with_logits(answerable[has], batch["answerable"][has].float())
    for kind, weight in ((YESNO, 1.0), (SPAN, 0.2)):
        has = (batch["polarity"] >= 0) & (batch["task"] == kind)
        if has.any():
            parts[("polarity", "ordinary")[kind == SPAN]] = (
                F.cross_entropy(polarity[has], batch["polarity"][has]) * weight
            )
    has = batch["claim"] >= 0
    if has.any():
        chance = claim[has].log_softmax(-1)
        either = torch.cat([chance, chance[:, 1:].logsumexp(-1, keepdim=True)], 1)  # contradicted or not stated
        parts["claim"] = F.nll_loss(either, batch["claim"][has])
    size = len(has)
    counts = {"span": batch["start"] >= 0, "answerable": batch["answerable"] >= 0, "claim": has}
    counts["polarity"] = (batch["polarity"] >= 0) & (batch["task"] == YESNO)
    counts["ordinary"] = (batch["polarity"] >= 0) & (batch["task"] == SPAN)
    share = {name: float(counts[name].sum()) / size for name in parts}
    total = sum(part * share[name] for name, part in parts.items())
    return total, {name: float(part.detach()) for name, part in parts.items()}


def best_span(start: np.ndarray, end: np.ndarray, limit: int = 40) -> tuple[int, int]:
    """The best pair of ends not more than `limit` pieces apart."""
    sums = start[:, None] + end[None]
    sums = np.where(np.triu(np.ones_like(sums)) * np.tril(np.ones_like(sums), limit - 1) > 0, sums, -1e9)
    return divmod(int(sums.argmax()), len(end))


def area(scores: np.ndarray, labels: np.ndarray) -> float:
    """Area under the ROC curve."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    good = int(labels.sum())
    return float((ranks[labels == 1].sum() - good * (good + 1) / 2) / max(1, good * (len(labels) - good)))


def validate(model: Reader, examples: Examples, limit: int) -> dict[str, float]:
    """Figures on held-out documents, by language."""
    chosen = np.random.default_rng(1).permutation(len(examples))[:limit]
    kept: dict[str, list] = {}

    def keep(name: str, language: int, value) -> None:
        kept.setdefault(f"{name} {LANGUAGES[language]}", []).append(value)

    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for group in examples.groups(chosen, 8000):
            batch = examples.batch(group)
            found = [item.float().numpy() for item in model(batch["ids"], batch["types"], batch["mask"])]
            label = {name: values.numpy() for name, values in batch.items()}
            for row in range(len(group)):
                language = label["language"][row]
                if label["answerable"][row] >= 0 and label["task"][row] == SPAN:
                    keep("answerable", language, (found[2][row], label["answerable"][row]))
                if label["start"][row] >= 0:
                    low, high = best_span(found[0][row], found[1][row])
                    a, b = label["start"][row], label["end"][row]
                    common = max(0, min(high, b) - max(low, a) + 1)
                    keep("span F1", language, 2 * common / (high - low + 1 + b - a + 1))
                    keep("sentence", language, float(label["sentence"][row][low] == label["sentence"][row][a]))
                if label["task"][row] == YESNO and label["polarity"][row] < 2 and label["polarity"][row] >= 0:
                    keep("yes/no", language, float(found[3][row][:2].argmax() == label["polarity"][row]))
                if label["task"][row] == YESNO:
                    keep("yes/no/neither", language, float(found[3][row].argmax() == label["polarity"][row]))
                if 0 <= label["claim"][row] < 3:
                    keep("claim", language, float(found[4][row].argmax() == label["claim"][row]))
    results = {}
    for name, values in sorted(kept.items()):
        if name.startswith("answerable"):
            scores, labels = (np.array(side) for side in zip(*values, strict=True))
            results[name.replace("answerable", "answerable AUC")] = area(scores, labels)
            results[name.replace("answerable", "answerable accuracy")] = float(((scores > 0) == labels).mean())
        else:
            results[name] = float(np.mean(values))
    return {name: round(value, 4) for name, value in results.items()}


def run(rank: int, options: argparse.Namespace, meeting: str) -> None:
    """One of the processes; the first one also writes and measures."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=options.processes)
    train, valid = (Examples(os.path.join(options.data, name + ".npz")) for name in ("train", "valid"))
    if rank == 0:
        size = train.length.sum() / 1e6
        print(f"{len(train)} examples, {size:.1f} million pieces, median {np.median(train.length):.0f}", flush=True)
    parameters = from_embedder(options.embedder, [int(at) for at in options.layers.split(",")])
    if options.resume:
        parameters = {name: array.astype(np.float32) for name, array in np.load(options.resume).items()}
    model = Reader(parameters)
    model.one(EMBEDDINGS[0]).requires_grad_(False)
    heads = [p for name, p in model.named_parameters() if name.startswith("head_")]
    body = [p for name, p in model.named_parameters() if not name.startswith("head_") and p.requires_grad]
    trained = body + heads
    optimiser = torch.optim.AdamW(
        [{"params": body, "times": 1.0}, {"params": heads, "times": 3.0}],
        lr=options.rate,
        betas=(0.9, 0.98),
        weight_decay=0.01,
        fused=True,
    )
    log: list[dict] = []

    def keep(seconds: float, last: bool) -> None:
        path = os.path.join(options.out, "last.npz")
        np.savez(path + ".part.npz", **{name: array.astype(np.float16) for name, array in model.arrays().items()})
        os.replace(path + ".part.npz", path)
        if last or len(log) % 2 == 0:
            command = [sys.executable, os.path.join(os.path.dirname(__file__), "read_model.py"), path, options.out]
            export = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            if last:
                export.wait()
        found = validate(model, valid, len(valid) if last else options.valid)
        log.append({"seconds": round(seconds), "steps": step, "pieces": pieces, "valid": found})
        print(f"{seconds:.0f} s, step {step}", found, flush=True)
        with open(os.path.join(options.out, "progress.json"), "w") as file:
            json.dump(log, file, indent=1)

    began = kept = time.time()
    total = options.until - began if options.until else options.seconds
    pieces, means = 0, {}
    flat = torch.zeros(sum(p.numel() for p in trained) + 2)
    for step, batch in enumerate(train.forever(options.tokens, options.seed * 100 + rank)):
        now = time.time()
        if rank == 0 and (now - kept > options.keep or step == options.first):
            kept = now
            keep(now - began, False)
        with torch.autocast("cpu", torch.bfloat16):
            found = model(batch["ids"], batch["types"], batch["mask"], options.drop)
        value, parts = loss(found, batch)
        for p in trained:
            p.grad = None
        value.backward()
        # Averaged over the processes: the gradients, and how much of the time is over, so that all use the same rate.
        torch.cat([(p.grad if p.grad is not None else torch.zeros_like(p)).flatten() for p in trained], out=flat[:-2])
        flat[-2], flat[-1] = (time.time() - began) / total, float(batch["mask"].sum())
        dist.all_reduce(flat)
        flat[:-1] /= options.processes
        done, at = float(flat[-2]), 0
        if done >= 1:
            break
        for p in trained:
            p.grad = flat[at : at + p.numel()].view_as(p)
            at += p.numel()
        rate = options.rate * min(1.0, done / options.warm) * min(1.0, (1 - done) / (1 - options.warm)) + 1e-7
        for group in optimiser.param_groups:
            group["lr"] = rate * group["times"]
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        pieces += int(flat[-1])
        for name, part in parts.items():
            means.setdefault(name, []).append(part)
        if rank == 0 and (step in (4, 19) or step % 100 == 99):
            said = {name: round(float(np.mean(values)), 3) for name, values in means.items()}
            seconds = time.time() - began
            print(
                f"{seconds:.0f} s, step {step + 1}, rate {rate:.1e}, {pieces / seconds:.0f} pieces/s", said, flush=True
            )
            means = {}
    dist.destroy_process_group()
    if rank == 0:
        torch.set_num_threads(options.processes)
        keep(time.time() - began, True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "embedder", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--seconds", type=float, default=4200)
    parser.add_argument("--until", type=float, default=0, help="or: end at this Unix time")
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--warm", type=float, default=0.05)
    parser.add_argument("--drop", type=float, default=0.0)
    parser.add_argument("--tokens", type=int, default=1600, help="word pieces a process and step")
    parser.add_argument("--layers", default=LAYERS, help="the embedder's layers to start from")
    parser.add_argument("--keep", type=float, default=300)
    parser.add_argument("--first", type=int, default=25, help="the step of the first checkpoint")
    parser.add_argument("--valid", type=int, default=500, help="held-out examples measured on the way")
    parser.add_argument("--resume", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, (options, os.path.join(folder, "meeting")), options.processes)


if __name__ == "__main__":
    main()
