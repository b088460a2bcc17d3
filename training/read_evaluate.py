"""The reader on XQuAD, OMoS-QA's test files and the records that were held out, none of them trained on.

    python training/read_evaluate.py MODEL.onnx|READER.npz TOKENIZER.json DATA/questions [--every 1] [--threads 2] [--out FILE]

XQuAD, English, German and across: F1 and exact match of the best span given the right paragraph, the share where the
sentence that holds the best span also holds the right answer, the area under the curve of `answerable` for the right
paragraph against another one of the same article, and how often the right one scores higher. OMoS-QA: the area under
the curve of `answerable` of questions with and without an answer on the page (the best of its windows). Records
(`training/records`), by language of question and text: the area under the curve of `answerable`, the share of answers
found and of yes/no questions and claims judged rightly, of claims told apart from their opposites (only the claim is
supported), and of claims scored above their opposites.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import random
import re
import string
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prepare import rows
from read_records import is_held, place

ROOM, LIMIT = 320, 40
SENTENCE = re.compile(r"(?<=[.!?])[\"”'’)]*\s+(?=[\"“„'(\[]?[A-ZÄÖÜ0-9])|\n+")
ARTICLES = {"en": r"\b(a|an|the)\b", "de": r"\b(ein|eine|einen|eines|einem|einer|der|die|das|den|dem|des)\b"}


RECORDS = Path(__file__).parent / "records"
OUTPUTS = ("start", "end", "answerable", "polarity", "claim")


def torch_runner(path: str):
    """Runs trained weights (`.npz`) with torch, on a GPU where there is one."""
    import torch
    from read_model import Reader as Model

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Model(dict(np.load(path))).to(device)

    def run(ids: np.ndarray, types: np.ndarray) -> list[np.ndarray]:
        ids, types = (torch.from_numpy(item).to(device) for item in (ids, types))
        with torch.no_grad():
            return [item.cpu().numpy() for item in model(ids, types, torch.ones_like(ids).bool())]

    return run


def onnx_runner(path: str, threads: int):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(ids: np.ndarray, types: np.ndarray) -> list[np.ndarray]:
        return session.run(list(OUTPUTS), {"ids": ids, "types": types})

    return run


class Reader:
    def __init__(self, model: str, tokenizer: str, threads: int = 2) -> None:
        from tokenizers import Tokenizer

        self.run = torch_runner(model) if model.endswith(".npz") else onnx_runner(model, threads)
        self.pieces = Tokenizer.from_file(tokenizer)
        self.pieces.no_padding()
        self.pieces.no_truncation()

    def read(self, question: str, passage: str) -> dict:
        """The outputs, the best span (characters of the passage) and its score; one pair at a time, as pincite reads."""
        asked = self.pieces.encode(question, add_special_tokens=False).ids[:96]
        coded = self.pieces.encode(passage, add_special_tokens=False)
        read, offsets = coded.ids[: ROOM - len(asked) - 3], coded.offsets
        ids = np.array([[101, *asked, 102, *read, 102]], np.int64)
        types = (np.arange(ids.shape[1]) >= len(asked) + 2).astype(np.int64)[None]
        found = dict(zip(OUTPUTS, (item[0] for item in self.run(ids, types)), strict=True))
        found["answerable"] = found["answerable"].item()
        low, high = len(asked) + 2, len(asked) + 2 + len(read)
        sums = found["start"][low:high, None] + found["end"][None, low:high]
        sums = np.where(np.tril(np.triu(np.ones_like(sums)), LIMIT - 1) > 0, sums, -1e9)
        first, last = divmod(int(sums.argmax()), len(read))
        found["span"] = (offsets[first][0], offsets[last][1])
        found["span_score"] = float(sums[first, last])
        return found


def bare(text: str, language: str) -> list[str]:
    text = "".join(c for c in text.lower() if c not in string.punctuation + "„“”–")
    return re.sub(ARTICLES[language], " ", text).split()


def overlap(found: str, wanted: str, language: str) -> float:
    one, two = bare(found, language), bare(wanted, language)
    common = sum((collections.Counter(one) & collections.Counter(two)).values())
    return 2 * common / (len(one) + len(two)) if common else float(one == two)


def area(scores, labels) -> float:
    scores, labels = np.array(scores), np.array(labels)
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    good = int(labels.sum())
    return float((ranks[labels == 1].sum() - good * (good + 1) / 2) / (good * (len(labels) - good)))


def sentence_of(text: str, at: int) -> tuple[int, int]:
    edges = [0, *(match.end() for match in SENTENCE.finditer(text)), len(text)]
    return next((a, b) for a, b in itertools.pairwise(edges) if a <= at < b or b == len(text))


def xquad(reader: Reader, folder: str, every: int, pairs=("en-en", "de-de", "de-en", "en-de")) -> dict[str, float]:
    texts = {
        code: json.loads(Path(folder, "qa", f"xquad.{code}.json").read_text(encoding="utf-8"))["data"]
        for code in ("en", "de")
    }
    results = {}
    for pair in pairs:
        asked, held = pair.split("-")
        kept, scores, labels, number = collections.defaultdict(list), [], [], 0
        generator = random.Random(4)
        for questions, article in zip(texts[asked], texts[held], strict=True):
            for at, paragraph in enumerate(article["paragraphs"]):
                other = generator.choice([i for i in range(len(article["paragraphs"])) if i != at])
                wrong = article["paragraphs"][other]["context"]
                for question, twin in zip(questions["paragraphs"][at]["qas"], paragraph["qas"], strict=True):
                    number += 1
                    if number % every:
                        continue
                    text, answer = paragraph["context"], twin["answers"][0]
                    found = reader.read(question["question"], text)
                    kept["F1"].append(overlap(text[slice(*found["span"])], answer["text"], held))
                    kept["EM"].append(float(bare(text[slice(*found["span"])], held) == bare(answer["text"], held)))
                    low, high = sentence_of(text, found["span"][0])
                    kept["sentence"].append(float(low <= answer["answer_start"] < high))
                    against = reader.read(question["question"], wrong)
                    kept["right one first"].append(float(found["answerable"] > against["answerable"]))
                    scores += [found["answerable"], against["answerable"]]
                    labels += [1, 0]
        results |= {f"xquad {pair} {name}": float(np.mean(values)) for name, values in kept.items()}
        results[f"xquad {pair} answerable AUC"] = area(scores, labels)
        results[f"xquad {pair} answerable accuracy"] = float(np.mean((np.array(scores) > 0) == np.array(labels)))
    return results


def windows(lines: list[str], size: int = 900) -> list[tuple[int, int]]:
    """Runs of lines of up to `size` characters."""
    found, first, length = [], 0, 0
    for at, line in enumerate(lines):
        if length + len(line) > size and at > first:
            found.append((first, at))
            first, length = at, 0
        length += len(line) + 1
    return [*found, (first, len(lines))]


def omosqa(reader: Reader, folder: str, every: int) -> dict[str, float]:
    results = {}
    for code in ("de", "en"):
        scores, labels, right = [], [], []
        for row in list(rows(os.path.join(folder, "omosqa", f"test_{code}.jsonl")))[::every]:
            lines, answers = row["context"].split("\n"), row["answers"]
            best = None
            for first, last in windows(lines):
                text = "\n".join(lines[first:last])
                if text.strip():
                    found = reader.read(row["question"], text)
                    if best is None or found["answerable"] > best[0]:
                        best = (float(found["answerable"]), first + text[: found["span"][0]].count("\n"))
            scores.append(best[0])
            labels.append(int(bool(answers)))
            if answers:
                right.append(float(best[1] in answers))
        results[f"omosqa {code} answerable AUC"] = area(scores, labels)
        results[f"omosqa {code} line"] = float(np.mean(right))
    return results


def chances(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()


def records(reader: Reader, _folder: str, every: int) -> dict[str, float]:
    files = sorted(RECORDS.glob("*.jsonl.gz"))
    return {name: value for file in files for name, value in records_of(reader, file, every).items()}


def records_of(reader: Reader, file: Path, every: int) -> dict[str, float]:
    results = {}
    held = [row for row in rows(str(file)) if is_held(row)][::every]
    name = file.name.partition(".")[0]
    for language, code in itertools.product(("en", "de"), repeat=2):
        scores, labels, kept = [], [], collections.defaultdict(list)

        def read(question: str, row: dict) -> dict:
            return reader.read(question, f"{row['title']}\n{row['text']}")

        for row in (one for one in held if one["language"] == language):
            for kind, label in (("questions", 1), ("unanswerable", 0)):
                for item in row[kind]:
                    found = read(item[code], row)
                    scores.append(found["answerable"])
                    labels.append(label)
                    if label:
                        low, high = (at - len(row["title"]) - 1 for at in found["span"])
                        first, last = place(row["text"], item["answer"], item[language])
                        kept["answer found"].append(float(low < last and high > first))
            for item in row["yesno"]:
                told = read(item[code], row)["polarity"][:2].argmax()
                kept["yes/no"].append(float(told == (item["answer"] == "no")))
            for item in row["claims"]:
                one, other = (chances(read(item[f"{side}_{code}"], row)["claim"]) for side in ("true", "false"))
                kept["claim"] += [float(one.argmax() == 0), float(other.argmax() == 1)]
                kept["told apart"].append(float(one[0] >= 0.5 > other[0]))
                kept["above"].append(float(one[0] > other[0]))
            kept["claim"] += [float(read(item[code], row)["claim"].argmax() == 2) for item in row["not_stated"]]
        results[f"{name} {code}-{language} answerable AUC"] = area(scores, labels)
        results |= {f"{name} {code}-{language} {what}": float(np.mean(values)) for what, values in kept.items()}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("tokenizer")
    parser.add_argument("folder")
    parser.add_argument("--every", type=int, default=1, help="only every so many questions")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    reader = Reader(options.model, options.tokenizer, options.threads)
    results = {}
    for what in (xquad, omosqa, records):
        began = time.time()
        found = what(reader, options.folder, options.every)
        results |= {name: round(value, 4) for name, value in found.items()}
        print(
            json.dumps({name: round(value, 3) for name, value in found.items()}, indent=1),
            f"{time.time() - began:.0f} s",
            flush=True,
        )
    passage = json.loads(Path(options.folder, "qa", "xquad.en.json").read_text(encoding="utf-8"))["data"][0][
        "paragraphs"
    ][0]["context"]
    began = time.time()
    for _ in range(20):
        reader.read("How many points did the Panthers defense surrender?", passage)
    results["pair_ms"] = round((time.time() - began) / 20 * 1000, 1)
    if options.out:
        Path(options.out).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
