"""Fine-tune a language model as a teacher of the reader: it writes questions and claims about passages and judges them.

    python training/read_teacher.py --model PARTS --rows ROWS.jsonl.gz [ROWS ...] --records RECORDS.jsonl.gz [...] \
        --passages PASSAGES.jsonl.gz --near NEAR.jsonl.gz --out OUT --seconds 260 --writing 130 --judging 170

The model is the one of `language_model.py`. It reads a passage and a question or claim as text; seven outputs are read
from its last state: answerable, yes/no/neither, supported/contradicted/not stated. Adapters of low rank (LoRA) and the
outputs are trained on ROWS with their labels, and on writing what the records hold. Then the model writes about PASSAGES
and judges what it wrote and the pairs of NEAR, each until its time is up: `OUT/judged-NN.jsonl.gz` has the pairs with
their seven logits under "taught".
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from language_model import END, LanguageModel
from prepare import rows
from read_pairs import save, training_records, writing_prompt, writing_rows, written_pairs
from read_train import area

WIDTH, MOST = 1536, 640
"""The width of the model's states; the most tokens of a pair."""
LINEARS = {"qkv": (1536, 2048), "attn_output": (1536, 1536), "up": (1536, 17920), "ffn_down": (8960, 1536)}
SAID = {"span": "Question", "yesno": "Question", "claim": "Statement"}


def shown(row: dict) -> str:
    return f"Text:\n{row['p']}\n\n{SAID[row['task']]}: {row['q']}\nVerdict:"


class Teacher(torch.nn.Module):
    """The language model with adapters; the outputs of a pair."""

    def __init__(self, model: LanguageModel, rank: int = 32) -> None:
        super().__init__()
        self.model, self.scale = model, 2.0
        self.adapters = torch.nn.ParameterDict()
        for layer in range(model.LAYERS):
            for name, (wide, out) in LINEARS.items():
                first = torch.randn(rank, wide, device=model.device) / wide**0.5
                self.adapters[f"{layer}_{name}_a"] = torch.nn.Parameter(first)
                self.adapters[f"{layer}_{name}_b"] = torch.nn.Parameter(torch.zeros(out, rank, device=model.device))
        self.head = torch.nn.Linear(WIDTH, 7, device=model.device)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)

    def linear(self, x, layer: int, name: str, weight: str, bias: str | None = None):
        w, a = self.model.weights, self.adapters
        low = F.linear(x, a[f"{layer}_{name}_a"].to(x.dtype))
        added = F.linear(low, a[f"{layer}_{name}_b"].to(x.dtype))
        return F.linear(x, w[weight], w[bias] if bias else None) + self.scale * added

    def forward(self, ids, last):
        """Seven logits for each row of tokens, read at the place of its last one. Padding stands on the right."""
        return self.head(self.states(ids)[torch.arange(len(ids), device=ids.device), last].float())

    def writing_loss(self, ids, begin, last):
        """The mean loss of the tokens after `begin` up to `last`, those that are to be written."""
        places = torch.arange(ids.shape[1] - 1, device=ids.device)[None]
        written = (places >= begin[:, None] - 1) & (places < last[:, None])
        states = self.states(ids)[:, :-1][written]
        logits = F.linear(states, self.model.weights["output.weight"])
        return F.cross_entropy(logits.float(), ids[:, 1:][written])

    def states(self, ids):
        """The normalised last state of each token."""
        m, w = self.model, self.model.weights
        b, n = ids.shape
        x = F.embedding(ids, w["output.weight"])
        cos, sin = m.cos[:n], m.sin[:n]
        for layer in range(m.LAYERS):
            p = f"blk.{layer}."
            h = self.linear(m.norm(x, p + "attn_norm.weight"), layer, "qkv", f"{layer}.qkv.weight", f"{layer}.qkv.bias")
            q, k, v = h.split([m.HEADS * m.SIZE, *[m.GROUPS * m.SIZE] * 2], -1)
            q = m.turned(q.view(b, n, m.HEADS, m.SIZE).transpose(1, 2), cos, sin)
            k = m.turned(k.view(b, n, m.GROUPS, m.SIZE).transpose(1, 2), cos, sin)
            v = v.view(b, n, m.GROUPS, m.SIZE).transpose(1, 2)
            k, v = (side.repeat_interleave(m.HEADS // m.GROUPS, 1) for side in (k, v))
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            a = a.transpose(1, 2).reshape(b, n, -1)
            x = x + self.linear(a, layer, "attn_output", p + "attn_output.weight")
            gate, up = self.linear(m.norm(x, p + "ffn_norm.weight"), layer, "up", f"{layer}.up").chunk(2, -1)
            x = x + self.linear(F.silu(gate) * up, layer, "ffn_down", p + "ffn_down.weight")
        return m.norm(x, "output_norm.weight")

    def merge(self) -> None:
        """Add the adapters to the weights, which makes judging faster."""
        names = {"qkv": "{}.qkv.weight", "attn_output": "blk.{}.attn_output.weight", "up": "{}.up"}
        names["ffn_down"] = "blk.{}.ffn_down.weight"
        with torch.no_grad():
            for layer in range(self.model.LAYERS):
                for name in LINEARS:
                    a, b = (self.adapters[f"{layer}_{name}_{side}"] for side in "ab")
                    weight = self.model.weights[names[name].format(layer)]
                    weight += (self.scale * (b @ a)).to(weight.dtype)
                    b.zero_()


def grouped(lengths: list[int], tokens: int, chosen: list[int]) -> list[list[int]]:
    """The chosen rows by length, in groups of up to `tokens` tokens."""
    found, group = [], []
    for at in sorted(chosen, key=lambda at: lengths[at]):
        if group and (len(group) + 1) * lengths[at] > tokens:
            found.append(group)
            group = []
        group.append(at)
    return [*found, group] if group else found


def batch(coded: list[list[int]], group: list[int], device: str):
    width = -(-max(len(coded[at]) for at in group) // 8) * 8
    ids = np.zeros((len(group), width), np.int64)
    for row, at in enumerate(group):
        ids[row, : len(coded[at])] = coded[at]
    last = torch.tensor([len(coded[at]) - 1 for at in group], device=device)
    return torch.from_numpy(ids).to(device), last


def loss(found, rows_: list[dict]):
    """Each output an example has a label for, as in `read_train.py`."""
    label = {
        name: torch.tensor([row[name] for row in rows_], device=found.device)
        for name in ("answerable", "polarity", "claim")
    }
    asked = torch.tensor([row["task"] == "yesno" for row in rows_], device=found.device)
    total = (
        F.binary_cross_entropy_with_logits(found[:, 0], label["answerable"].clamp(min=0).float(), reduction="none")
        * (label["answerable"] >= 0)
    ).sum()
    polarity = F.cross_entropy(found[:, 1:4], label["polarity"].clamp(min=0), reduction="none")
    total = total + (polarity * (label["polarity"] >= 0) * torch.where(asked, 1.0, 0.1)).sum()
    chance = found[:, 4:].log_softmax(-1)
    either = torch.cat([chance, chance[:, 1:].logsumexp(-1, keepdim=True)], 1)
    total = total + (F.nll_loss(either, label["claim"].clamp(min=0), reduction="none") * (label["claim"] >= 0)).sum()
    return total / len(rows_)


def coded_rows(model: LanguageModel, chosen: list[dict]) -> list[list[int]]:
    return [one.ids for one in model.tokens.encode_batch([shown(row) for row in chosen], add_special_tokens=False)]


def figures(teacher: Teacher, held: list[dict], tokens: int) -> dict[str, float]:
    """AUC of answerable, share of yes/no and of claims judged as labelled, on rows kept out of the training."""
    coded = coded_rows(teacher.model, held)
    with torch.no_grad():
        found = np.zeros((len(held), 7), np.float32)
        for group in grouped([len(one) for one in coded], tokens, list(range(len(held)))):
            found[group] = teacher(*batch(coded, group, teacher.model.device)).float().cpu().numpy()
    out: dict[str, float] = {"rows": len(held)}
    spans = [at for at, row in enumerate(held) if row["task"] == "span"]
    if spans:
        out["answerable AUC"] = area(found[spans, 0], np.array([held[at]["answerable"] for at in spans]))
    for name, columns, task in (("polarity", slice(1, 4), "yesno"), ("claim", slice(4, 7), "claim")):
        of = [at for at, row in enumerate(held) if row["task"] == task and 0 <= row[name] < 3]
        if of:
            out[name] = float(np.mean(found[of, columns].argmax(1) == [held[at][name] for at in of]))
    return {name: round(value, 4) for name, value in out.items()}


def train(teacher: Teacher, taught: list[dict], writing: list[dict], options: argparse.Namespace) -> None:
    """Train until the time is up; a group of texts to write follows each second group to judge."""
    model, began = teacher.model, time.time()
    coded = coded_rows(model, taught)
    begins = [len(one.ids) for one in model.tokens.encode_batch([row["prompt"] for row in writing])]
    for begin, one in zip(begins, model.tokens.encode_batch([row["written"] for row in writing]), strict=True):
        coded.append([*[0] * begin, *one.ids, END[0]])
    for place, one in enumerate(model.tokens.encode_batch([row["prompt"] for row in writing])):
        coded[len(taught) + place][: begins[place]] = one.ids
    lengths = [len(one) for one in coded]
    fitting = [at for at in range(len(taught)) if lengths[at] <= MOST]
    to_write = [at for at in range(len(taught), len(coded)) if lengths[at] <= MOST]
    print(
        f"{time.time() - began:.0f} s: {len(fitting)} rows to judge, {len(to_write)} to write, "
        f"{sum(lengths[at] for at in (*fitting, *to_write)) / 1e6:.1f} million tokens",
        flush=True,
    )
    parts = [
        {"params": list(teacher.adapters.values()), "times": 1.0},
        {"params": list(teacher.head.parameters()), "times": 5.0},
    ]
    optimiser = torch.optim.AdamW(parts, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
    began, step, seen = time.time(), 0, 0
    losses: tuple[list, list] = ([], [])
    for group in forever(lengths, options.tokens, fitting, to_write):
        done = (time.time() - began) / options.seconds
        if done >= 1:
            return
        ids, last = batch(coded, group, model.device)
        if group[0] < len(taught):
            value = loss(teacher(ids, last), [taught[at] for at in group])
        else:
            begin = torch.tensor([begins[at - len(taught)] for at in group], device=model.device)
            value = teacher.writing_loss(ids, begin, last)
        optimiser.zero_grad(set_to_none=True)
        value.backward()
        for part in optimiser.param_groups:
            part["lr"] = options.rate * part["times"] * min(1.0, done / 0.05, (1 - done) / 0.95 + 1e-3)
        torch.nn.utils.clip_grad_norm_(list(teacher.parameters()), 1.0)
        optimiser.step()
        step, seen = step + 1, seen + sum(lengths[at] for at in group)
        losses[group[0] >= len(taught)].append(value.detach())
        if step in (6, 21) or step % 60 == 0:
            seconds = time.time() - began
            means = [round(float(torch.stack(side[-40:]).mean()), 3) for side in losses if side]
            print(
                f"{seconds:.0f} s, step {step}, {seen / seconds:.0f} tokens/s, judging and writing {means}", flush=True
            )


def forever(lengths: list[int], tokens: int, fitting: list[int], to_write: list[int]):
    """Groups of rows to judge, and after each second one a group of rows to write."""

    def groups(chosen: list[int], size: int):
        while chosen:
            random.shuffle(chosen)
            for at in range(0, len(chosen), 8000):
                found = grouped(lengths, size, chosen[at : at + 8000])
                random.shuffle(found)
                yield from found

    judged, written = groups(fitting, tokens), groups(to_write, tokens)
    for number, group in enumerate(judged):
        yield group
        if number % 2 and to_write:
            yield next(written)


def write(teacher: Teacher, items: list[dict], seconds: float, batch_size: int) -> list[dict]:
    """The items with what was written about them, as far as the time allows."""
    prompts = [writing_prompt(item["text"], item["kind"], item["code"]) for item in items]
    texts = teacher.model.write(prompts, 120, 0.9, batch_size, time.time() + seconds)
    return [
        item | {"written": text.partition("<|im_end|>")[0]} for item, text in zip(items, texts, strict=True) if text
    ]


def judge(teacher: Teacher, pairs: list[dict], out: str, until: float, tokens: int) -> int:
    """Write the judged pairs in files of 20,000."""
    done = 0
    for number, at in enumerate(range(0, len(pairs), 20_000)):
        chosen = pairs[at : at + 20_000]
        coded = coded_rows(teacher.model, chosen)
        lengths = [len(one) for one in coded]
        fitting = [row for row in range(len(chosen)) if lengths[row] <= MOST]
        with gzip.open(
            os.path.join(out, f"judged-{number:02}.jsonl.gz"), "wt", encoding="utf-8", compresslevel=4
        ) as file:
            for group in grouped(lengths, tokens, fitting):
                if time.time() > until:
                    break
                with torch.no_grad():
                    found = teacher(*batch(coded, group, teacher.model.device)).float().cpu().numpy()
                for row, logits in zip(group, found.tolist(), strict=True):
                    taught = [round(value, 2) for value in logits]
                    file.write(json.dumps(chosen[row] | {"taught": taught}, ensure_ascii=False) + "\n")
                done += len(group)
        if time.time() > until:
            break
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", nargs="+", required=True)
    parser.add_argument("--held", nargs="*", default=[], help="rows to measure the teacher on")
    parser.add_argument("--records", nargs="*", default=[], help="records to learn writing from")
    parser.add_argument("--passages", default="", help="what to write about")
    parser.add_argument("--near", nargs="*", default=[], help="more pairs to judge")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=280)
    parser.add_argument("--writing", type=float, default=130)
    parser.add_argument("--judging", type=float, default=220)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--tokens", type=int, default=16_000)
    parser.add_argument("--batch", type=int, default=1024, help="passages written about at a time")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    random.seed(11)
    torch.manual_seed(11)
    os.makedirs(options.out, exist_ok=True)
    began = time.time()
    teacher = Teacher(LanguageModel(options.model, options.device))
    print(f"{time.time() - began:.0f} s: model read", flush=True)
    taught = [row for path in options.rows for row in rows(path)]
    train(teacher, taught, writing_rows(training_records(options.records)), options)
    teacher.merge()
    for path in options.held:
        print(path, figures(teacher, list(rows(path)), 2 * options.tokens), flush=True)
    pairs = [row for path in options.near for row in rows(path)]
    if options.passages:
        began = time.time()
        written = write(teacher, list(rows(options.passages)), options.writing, options.batch)
        save(os.path.join(options.out, "written.jsonl.gz"), written)
        pairs += written_pairs(written)
        print(f"{time.time() - began:.0f} s: {len(written)} passages written about", flush=True)
    random.shuffle(pairs)
    began = time.time()
    done = judge(teacher, pairs, options.out, began + options.judging, 4 * options.tokens)
    print(f"{time.time() - began:.0f} s: {done} of {len(pairs)} pairs judged", flush=True)


if __name__ == "__main__":
    main()
