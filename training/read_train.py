"""Train the reader on a GPU, or on a CPU for a small trial.

    python training/read_train.py --data DATA [DATA ...] --embedder EMBEDDER.npz --out OUT --seconds 240
    python training/read_train.py ... --teacher OUT12/last.npz        learn from a deeper reader as well

DATA are folders or files that `read_prepare.py` and `read_generate.py` wrote (`train*.npz`, `valid.npz`). The reader
starts with layers of the embedder; the word embeddings stay as they are. A step takes examples of like length, up to
`--tokens` word pieces. `--frozen 6` trains the layers above the sixth only; what the lower ones give is computed once,
which makes a training of a few hundred thousand pieces possible on a CPU. The learning rate follows the clock, or the steps where `--steps` is given. `OUT/last.npz` is
written every `--keep` seconds and at the end.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from read_model import EMBEDDINGS, WIDTH, Reader, from_embedder

LAYERS = "0,2,4,6,8,10"
SPAN, CLAIM, YESNO = range(3)
LANGUAGES = ("en", "switched", "de")
OUTPUTS = 7
"""Logits of a teacher (`read_teacher.py`) for an example: answerable, polarity (3), claim (3); nan without a teacher."""
COLUMNS = ("length", "question", "start", "end", "task", "language", "answerable", "polarity", "claim")


class Examples:
    """Word pieces and labels, on the device that trains."""

    def __init__(self, paths: list[str], device: str) -> None:
        files = [np.load(path) for path in paths]
        self.length = np.concatenate([file["length"] for file in files])
        self.offset = torch.from_numpy(np.concatenate([[0], np.cumsum(self.length)])).to(device)
        self.ids, self.sentence = (
            torch.from_numpy(np.concatenate([file[name] for file in files]).astype(np.int32)).to(device)
            for name in ("ids", "sentence")
        )
        self.columns = {
            name: torch.from_numpy(np.concatenate([file[name] for file in files]).astype(np.int64)).to(device)
            for name in COLUMNS
        }
        taught = [
            file["taught"] if "taught" in file.files else np.full((len(file["length"]), OUTPUTS), np.nan, np.float16)
            for file in files
        ]
        self.taught = torch.from_numpy(np.concatenate(taught)).to(device)
        self.device = device
        self.states: torch.Tensor | None = None

    def remember(self, model: Reader, frozen: int, tokens: int) -> None:
        """Compute the states of the frozen layers once, for every piece."""
        self.states = torch.empty(len(self.ids), WIDTH, dtype=torch.bfloat16, device=self.device)
        with torch.no_grad(), torch.autocast(self.device, torch.bfloat16):
            for group in self.groups(np.arange(len(self)), tokens):
                batch = self.batch(group)
                state = model.encode(model.embed(batch["ids"], batch["types"]), batch["mask"], range(frozen))
                self.states[batch["at"][batch["mask"]]] = state[batch["mask"]].to(torch.bfloat16)

    def __len__(self) -> int:
        return len(self.length)

    def batch(self, chosen: np.ndarray) -> dict[str, torch.Tensor]:
        width = int(self.length[chosen].max())
        rows = torch.from_numpy(chosen).to(self.device)
        out = {name: column[rows] for name, column in self.columns.items()}
        places = torch.arange(width, device=self.device)[None]
        out["mask"] = places < out["length"][:, None]
        at = (self.offset[rows][:, None] + places).clamp(max=len(self.ids) - 1)
        out["ids"], out["sentence"] = ((grid[at] * out["mask"]).long() for grid in (self.ids, self.sentence))
        out["at"] = at
        out["taught"] = self.taught[rows].float()
        if self.states is not None:
            out["state"] = self.states[at]
        out["types"] = ((places >= out["question"][:, None]) & out["mask"]).long()
        return out

    def groups(self, chosen: np.ndarray, tokens: int) -> list[np.ndarray]:
        """The chosen examples by length, in groups of up to `tokens` pieces."""
        order, found, first = chosen[np.argsort(self.length[chosen], kind="stable")], [], 0
        for at in range(1, len(order) + 1):
            if at == len(order) or (at + 1 - first) * self.length[order[at]] > tokens:
                found.append(order[first:at])
                first = at
        return found

    def forever(self, tokens: int, seed: int):
        random = np.random.default_rng(seed)
        while True:
            order = random.permutation(len(self))
            size = max(64, tokens // 4)
            for at in range(0, len(order), size):
                found = self.groups(order[at : at + size], tokens)
                for number in random.permutation(len(found)):
                    yield self.batch(found[number])


def mean(values: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    return (values * counted).sum() / len(counted)


def loss(found, batch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Every part is a sum over its examples, divided by the size of the batch."""
    start, end, answerable, polarity, claim = found
    has = batch["start"] >= 0
    parts = {
        "span": mean(
            F.cross_entropy(start, batch["start"].clamp(min=0), reduction="none")
            + F.cross_entropy(end, batch["end"].clamp(min=0), reduction="none"),
            has,
        )
        / 2
    }
    has = batch["answerable"] >= 0
    parts["answerable"] = mean(
        F.binary_cross_entropy_with_logits(answerable, batch["answerable"].clamp(min=0).float(), reduction="none"), has
    )
    weight = (batch["polarity"] >= 0) * torch.where(batch["task"] == YESNO, 1.0, 0.2)
    parts["polarity"] = mean(F.cross_entropy(polarity, batch["polarity"].clamp(min=0), reduction="none"), weight)
    chance = claim.log_softmax(-1)
    either = torch.cat([chance, chance[:, 1:].logsumexp(-1, keepdim=True)], 1)  # contradicted or not stated
    parts["claim"] = mean(F.nll_loss(either, batch["claim"].clamp(min=0), reduction="none"), batch["claim"] >= 0)
    parts["judged"] = judged(answerable, polarity, claim, batch)
    return sum(parts.values()), parts


def divergence(mine: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
    return F.kl_div(mine.log_softmax(-1), theirs.log_softmax(-1), reduction="none", log_target=True).sum(-1)


def judged(answerable, polarity, claim, batch) -> torch.Tensor:
    """The distance from what a language model said of the examples that it judged."""
    has = ~batch["taught"][:, 0].isnan()
    taught = batch["taught"].nan_to_num()
    claims, asked = batch["task"] == CLAIM, batch["task"] == YESNO
    chance = taught[:, 0].sigmoid()
    apart = F.binary_cross_entropy_with_logits(answerable, chance, reduction="none")
    apart = apart - F.binary_cross_entropy(chance, chance, reduction="none")
    return (
        mean(apart, has & ~claims)
        + mean(divergence(polarity, taught[:, 1:4]), has & asked)
        + mean(divergence(claim, taught[:, 4:7]), has & claims)
    )


def distance(found, taught, batch) -> torch.Tensor:
    """From the teacher's outputs, for the outputs that an example has a label for."""
    total = mean(divergence(found[0], taught[0]) + divergence(found[1], taught[1]), batch["start"] >= 0) / 2
    chance = taught[2].sigmoid()
    total = total + mean(
        F.binary_cross_entropy_with_logits(found[2], chance, reduction="none"), batch["answerable"] >= 0
    )
    total = total + mean(divergence(found[3], taught[3]), batch["polarity"] >= 0)
    return total + mean(divergence(found[4], taught[4]), batch["claim"] >= 0)


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


def outputs(model: Reader, batch, frozen: int = 0, drop: float = 0.0) -> list[torch.Tensor]:
    with torch.autocast(batch["ids"].device.type, torch.bfloat16):
        found = model(batch["ids"], batch["types"], batch["mask"], drop, frozen, batch.get("state"))
        return [item.float() for item in found]


def validate(model: Reader, examples: Examples, limit: int, frozen: int = 0) -> dict[str, float]:
    """Figures on held-out documents, by language."""
    chosen = np.random.default_rng(1).permutation(len(examples))[:limit]
    kept: dict[str, list] = {}

    def keep(name: str, language: int, value) -> None:
        kept.setdefault(f"{name} {LANGUAGES[language]}", []).append(value)

    with torch.no_grad():
        for group in examples.groups(chosen, 8000):
            batch = examples.batch(group)
            found = [item.cpu().numpy() for item in outputs(model, batch, frozen)]
            label = {name: batch[name].cpu().numpy() for name in (*COLUMNS, "sentence")}
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


def found_files(data: list[str], name: str) -> list[str]:
    return [
        path
        for place in data
        for path in (sorted(glob.glob(os.path.join(place, name + "*.npz"))) if os.path.isdir(place) else [place])
        if os.path.basename(path).startswith(name)
    ]


def train(options: argparse.Namespace) -> dict[str, float]:
    """The losses of the first and the last ten steps, and the figures on held-out documents."""
    device = options.device
    os.makedirs(options.out, exist_ok=True)
    examples = Examples(found_files(options.data, "train"), device)
    valid = Examples(found_files(options.data, "valid"), device)
    size = examples.length.sum() / 1e6
    print(f"{len(examples)} examples, {size:.1f} million pieces, median {np.median(examples.length):.0f}", flush=True)
    if options.resume:
        parameters = {name: array.astype(np.float32) for name, array in np.load(options.resume).items()}
    else:
        parameters = from_embedder(options.embedder, [int(at) for at in options.layers.split(",")])
    model = Reader(parameters).to(device)
    teacher = Reader(dict(np.load(options.teacher))).to(device).requires_grad_(False) if options.teacher else None
    below = tuple(f"layer.{at}." for at in range(options.frozen))
    for name in model.names:
        if name == EMBEDDINGS[0] or (options.frozen and name.startswith(("embeddings.", *below))):
            model.one(name).requires_grad_(False)
    if options.frozen:
        for kept in (examples, valid):
            kept.remember(model, options.frozen, 8000)
        print("The states of the frozen layers are computed", flush=True)
    heads = [p for name, p in model.named_parameters() if name.startswith("head_")]
    body = [p for name, p in model.named_parameters() if not name.startswith("head_") and p.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": body, "times": 1.0}, {"params": heads, "times": 3.0}],
        lr=options.rate,
        betas=(0.9, 0.98),
        weight_decay=0.01,
    )
    log: list[dict] = []

    def keep(seconds: float, limit: int) -> dict[str, float]:
        path = os.path.join(options.out, "last.npz")
        np.savez(path + ".part.npz", **{name: array.astype(np.float16) for name, array in model.arrays().items()})
        os.replace(path + ".part.npz", path)
        found = validate(model, valid, limit, options.frozen)
        log.append({"seconds": round(seconds), "steps": step, "pieces": pieces, "valid": found})
        print(f"{seconds:.0f} s, step {step}, {pieces / 1e6:.1f} million pieces", found, flush=True)
        with open(os.path.join(options.out, "progress.json"), "w") as file:
            json.dump(log, file, indent=1)
        return found

    began = kept = time.time()
    pieces, means, every = 0, {}, []
    for step, batch in enumerate(examples.forever(options.tokens, options.seed)):
        now = time.time()
        done = step / options.steps if options.steps else (now - began) / options.seconds
        if done >= 1:
            break
        if now - kept > options.keep:
            kept = now
            keep(now - began, options.valid)
        found = outputs(model, batch, options.frozen, options.drop)
        value, parts = loss(found, batch)
        if teacher is not None:
            with torch.no_grad():
                taught = outputs(teacher, batch)
            parts["taught"] = distance(found, taught, batch)
            value = options.hard * value + parts["taught"]
        optimiser.zero_grad(set_to_none=True)
        value.backward()
        rate = options.rate * min(1.0, done / options.warm) * min(1.0, (1 - done) / (1 - options.warm)) + 1e-7
        for group in optimiser.param_groups:
            group["lr"] = rate * group["times"]
        torch.nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimiser.step()
        pieces += int(batch["ids"].numel())
        every.append(value.detach())
        for name, part in parts.items():
            means.setdefault(name, []).append(part.detach())
        if step in (4, 19) or step % 200 == 199:
            said = {name: round(float(torch.stack(values).mean()), 3) for name, values in means.items()}
            seconds = time.time() - began
            print(
                f"{seconds:.0f} s, step {step + 1}, rate {rate:.1e}, {pieces / seconds:.0f} pieces/s", said, flush=True
            )
            means = {}
    found = keep(time.time() - began, len(valid))
    first, last = (float(torch.stack(values).mean()) for values in (every[:10], every[-10:]))
    return found | {"first loss": first, "last loss": last}


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--embedder", default="", help="the weights to start from")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--warm", type=float, default=0.05)
    parser.add_argument("--drop", type=float, default=0.1)
    parser.add_argument("--tokens", type=int, default=24000, help="word pieces a step")
    parser.add_argument("--layers", default=LAYERS, help="the embedder's layers to start from")
    parser.add_argument("--frozen", type=int, default=0, help="layers, from the first, that stay as they are")
    parser.add_argument("--teacher", default="", help="a deeper reader to learn from")
    parser.add_argument("--hard", type=float, default=0.5, help="weight of the labels beside a teacher")
    parser.add_argument("--keep", type=float, default=60)
    parser.add_argument("--valid", type=int, default=2000, help="held-out examples measured on the way")
    parser.add_argument("--resume", default="", help="or: the reader to continue from")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args(arguments)


def main() -> None:
    train(parsed())


if __name__ == "__main__":
    main()
