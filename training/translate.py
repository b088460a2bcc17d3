"""Translate the English training text into German with a language model.

    python training/translate.py lines --base READ/train.jsonl.gz --texts TEXTS --out LINES.txt.xz [--most 160000]
    python training/translate.py write --model PARTS --lines LINES.txt.xz --texts TEXTS --seconds 300
    python training/translate.py check --texts TEXTS --embedder RUN/final.npz --tokenizer SHARDS/tokenizer.json
    python training/translate.py pairs --base READ/train.jsonl.gz --texts TEXTS --out SHARDS
    python training/translate.py examples --base READ/train.jsonl.gz --texts TEXTS --tokenizer TOKENIZER.json --out OUT

`lines` lists the questions, claims and sentences of READ that no `translated-*.jsonl.gz` in TEXTS has yet, claims and
their evidence first; with `--most`, so many lines of examples drawn by `DRAWN`, each example whole. `write` runs on a GPU and translates them in this order until the time is up. `check` measures each
translation with an earlier embedder; those too far from their original are not used. `pairs` makes shards
for `train.py`: sentences of a passage in their order, and questions; texts of SQuAD articles are left out.
`examples` makes examples for the reader, with the question, the passage or both in German.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import random
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prepare import rows
from read_prepare import pack, sentences

GROUP = 24_000  # lines a file
LEAST = 0.92  # cosine of a translation to its original, by an earlier embedder
ORDER = ("claim", "yesno", "span")
DRAWN = {
    "VitaminC": 0.3,
    "FEVER": 0.4,
    "Fool-Me-Twice": 0.8,
    "WiCE": 0.0,
    "SNLI": 0.25,
    "MNLI": 0.3,
    "SCITAIL": 0.3,
    "BoolQ": 0.3,
    "QAMR": 0.3,
    "AdversarialQA": 0.6,
    "Natural Questions (QED, CLAPnq)": 0.8,
    "IIRC": 0.5,
    "FairytaleQA": 0.1,
    "MedQuAD": 0.15,
    "PubMedQA": 0.3,
    "PolicyQA": 0.15,
    "DoQA": 0.1,
    "COVID-QA": 0.3,
}
"""Shares of the English examples that are translated whole."""
ENGLISH_ONLY = {"AdversarialQA"}  # rests on SQuAD articles, as an evaluation set does


MINE = {
    "en": set(
        "the of is what how who when which does do are in to for and many much long where why can must was".split()
    ),
    "de": set(
        "der die das ist wie wer wann welche welcher welches wird werden sind in zu für und viele viel lange wo warum kann muss was den dem ein eine von bis war im".split()
    ),
}


def chat(text: str, begin: str = "") -> str:
    return (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n{begin}"
    )


def translation_prompt(text: str) -> str:
    if text.endswith("?"):
        return chat(f"Translate this question into German. Do not answer it, write only the German question.\n\n{text}")
    return chat(f"Translate into German. Write only the translation.\n\n{text}")


def language_of(text: str) -> str:
    words = re.findall(r"[\wäöüß]+", text.lower())
    german = sum(word in MINE["de"] for word in words) + 2 * len(re.findall("[äöüß]", text.lower()))
    return "de" if german > sum(word in MINE["en"] for word in words) else "en"


def good_translation(english: str, german: str) -> bool:
    """Whether the numbers are the same and the length is plausible."""
    if (
        "\n" in german
        or english.endswith("?") != german.endswith("?")
        or not 0.6 < (len(german) + 8) / (len(english) + 8) < 2.2
    ):
        return False
    digits = [sorted(re.findall(r"\d+", text.replace(",", "").replace(".", ""))) for text in (english, german)]
    return digits[0] == digits[1] and (len(english) < 25 or language_of(german) == "de")


def translated_passage(row: dict, words: dict[str, str]) -> tuple[str, tuple[int, int] | None] | None:
    """The passage and its answer in German; no span where the answer's translation does not stand in its sentence."""
    text, span, made, found = row["p"], row["span"], "", None
    answer = text[span[0] : span[1]] if span else ""
    for a, b in sentences(text):
        part = text[a:b].strip()
        german = part if len(part) <= 3 else words.get(part)
        if german is None:
            return None
        if span and a <= span[0] < b:
            wanted = [answer, words.get(answer, answer)]
            if re.fullmatch(r"[\d.,]+\D*", answer):
                wanted.append(re.match(r"[\d.,]+", answer)[0].replace(",", "#").replace(".", ",").replace("#", "."))
            for one in wanted:
                at = german.lower().find(one.lower()) if one else -1
                if at >= 0:
                    found = (len(made) + at, len(made) + at + len(one))
                    break
            else:
                if len(answer) > 0.7 * len(part):
                    found = (len(made), len(made) + len(german))
        made += german + text[a:b][len(text[a:b].rstrip()) :]
    return made.rstrip(), found


def joined(row: dict, words: dict[str, str]) -> list[dict]:
    """The example with its question, its passage or both in German."""
    made = []
    asked = words.get(row["q"])
    if asked and random.random() < 0.6:
        made.append(row | {"q": asked, "language": "de"})
    read = translated_passage(row, words)
    if read is None:
        return made
    passage, span = read
    held = {"p": passage, "span": span, "language": "de"}
    if asked and (row["span"] is None or span or random.random() < 0.6):
        made.append(row | held | {"q": asked})
    if random.random() < 0.5:
        made.append(row | held)
    return made


def parts(text: str) -> list[str]:
    """The sentences of a passage."""
    return [part for a, b in sentences(text) if len(part := text[a:b].strip()) > 3]


def known(folder: str) -> dict[str, str]:
    """Every translation made so far that seems right."""
    paths = sorted(Path(folder).glob("translated-*.jsonl.gz"))
    found = (row for path in paths for row in rows(str(path)))
    return {
        row["en"]: row["de"]
        for row in found
        if (row["cosine"] >= LEAST if "cosine" in row else good_translation(row["en"], row["de"]))
    }


def lines(options: argparse.Namespace) -> None:
    base = [row for row in rows(options.base) if row["language"] == "en"]
    wanted: dict[str, None] = {}
    if options.most:
        random.seed(9)
        drawn = [row for row in base if random.random() < DRAWN.get(row["source"], 0.0)]
        random.shuffle(drawn)
        for row in drawn:
            found = [row["q"], *parts(row["p"])]
            if len(found) <= 6 and max(map(len, found)) < 400 and len(wanted) < options.most:
                wanted.update(dict.fromkeys(found))
    else:
        base.sort(key=lambda row: ORDER.index(row["task"]))
        wanted = dict.fromkeys(row["q"] for row in base)
        for row in base:
            wanted.update(dict.fromkeys(part for part in parts(row["p"]) if len(part) < 600))
    done = known(options.texts)
    todo = [line for line in wanted if line not in done and "\n" not in line]
    with lzma.open(options.out, "wt", encoding="utf-8", preset=2) as file:
        file.writelines(line + "\n" for line in todo)
    print(f"{len(todo)} lines, {sum(map(len, todo)) / 1e6:.1f} million characters")


def write(options: argparse.Namespace) -> None:
    from language_model import LanguageModel

    began = time.time()
    model = LanguageModel(options.model)
    with lzma.open(options.lines, "rt", encoding="utf-8") as file:
        todo = file.read().split("\n")[:-1]
    print(f"{time.time() - began:.0f} s: model and {len(todo)} lines read", flush=True)
    number = len(list(Path(options.texts).glob("translated-more-*.jsonl.gz")))
    for at in range(0, len(todo), GROUP):
        if time.time() > began + options.seconds:
            break
        group = todo[at : at + GROUP]
        prompts = [translation_prompt(line) for line in group]
        found = model.write(prompts, 0, 0, 1536, began + options.seconds)
        path = os.path.join(options.texts, f"translated-more-{number + at // GROUP:02}.jsonl.gz")
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=5) as file:
            for english, german in zip(group, found, strict=True):
                if german:
                    file.write(json.dumps({"en": english, "de": german}, ensure_ascii=False) + "\n")
        print(f"{time.time() - began:.0f} s: {at + len(group)} lines", flush=True)


def check(options: argparse.Namespace) -> None:
    """Add to each translation its cosine to the original, by an embedder that knows both languages."""
    import numpy as np
    from train import DEVICE, Bert, encoder

    weights = {name: array.astype(np.float32) for name, array in np.load(options.embedder).items()}
    encode = encoder(Bert(weights).to(DEVICE).eval(), options.tokenizer)
    kept = total = 0
    for path in sorted(Path(options.texts).glob("translated-*.jsonl.gz")):
        found = [row for row in rows(str(path)) if good_translation(row["en"], row["de"])]
        cosines = (encode([row["en"] for row in found]) * encode([row["de"] for row in found])).sum(1)
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=5) as file:
            for row, cosine in zip(found, cosines.tolist(), strict=True):
                file.write(json.dumps(row | {"cosine": round(cosine, 3)}, ensure_ascii=False) + "\n")
        kept, total = kept + int((cosines >= LEAST).sum()), total + len(found)
    print(f"{kept} of {total} translations have a cosine of {LEAST} or more", flush=True)


def pairs(options: argparse.Namespace) -> None:
    done = known(options.texts)
    asked: dict[str, None] = {}
    passages: dict[str, None] = {}
    for row in rows(options.base):
        if row["language"] == "en" and row["source"] not in ENGLISH_ONLY:
            asked[row["q"]] = passages[row["p"]] = None
    counts = [0, 0]
    seen: set[str] = set()
    with lzma.open(Path(options.out, "pairs-translated.txt.xz"), "wt", encoding="utf-8", preset=1) as file:
        for passage in passages:
            found = [part for part in parts(passage) if part in done]
            if any(part not in seen for part in found):
                seen.update(found)
                file.writelines(f"{part}\t{done[part]}\n" for part in found)
                file.write("\n")
                counts[0] += len(found)
    with lzma.open(Path(options.out, "pairs-questions.txt.xz"), "wt", encoding="utf-8", preset=1) as file:
        for question in asked:
            if question in done:
                file.write(f"{question}\t{done[question]}\n\n")
                counts[1] += 1
    print(f"{counts[0]} sentences ({len(seen)} different), {counts[1]} questions and claims")


def joined_packed(job: tuple) -> int:
    base, words, tokenizer, path, seed = job
    random.seed(seed)
    made = [new for row in base for new in joined(row, words)]
    for row in made:
        if random.random() < 0.2:
            row["q"] = row["q"].rstrip("?")
    return len(pack(made, tokenizer, path)) if made else 0


def pack_joined(base: list[dict], german: dict[str, str], tokenizer: str, out: str, count: int) -> int:
    """Pack the English examples with German in their place, in `count` processes."""
    random.shuffle(base)
    jobs = []
    for number in range(count):
        share = base[number::count]
        wanted = {row["q"] for row in share}
        wanted |= {row["p"][a:b].strip() for row in share for a, b in sentences(row["p"])}
        wanted |= {row["p"][slice(*row["span"])] for row in share if row["span"]}
        words = {part: german[part] for part in wanted if part in german}
        jobs.append((share, words, tokenizer, os.path.join(out, f"train-translated-{number}.npz"), number))
    with ProcessPoolExecutor(count) as pool:
        return sum(pool.map(joined_packed, jobs))


def examples(options: argparse.Namespace) -> None:
    os.makedirs(options.out, exist_ok=True)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    base = [row for row in rows(options.base) if row["language"] == "en"]
    made = pack_joined(base, known(options.texts), options.tokenizer, options.out, options.processes)
    print(f"{made} examples with German of {len(base)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("lines", "write", "check", "pairs", "examples"))
    for name in ("base", "texts", "out", "model", "lines", "embedder", "tokenizer"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--most", type=int, default=0, help="lines to translate")
    parser.add_argument("--processes", type=int, default=14)
    options = parser.parse_args()
    chosen = {"lines": lines, "write": write, "check": check, "pairs": pairs, "examples": examples}
    chosen[options.what](options)


if __name__ == "__main__":
    main()
