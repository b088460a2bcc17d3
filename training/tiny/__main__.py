"""Train a tiny version of both models on a CPU, export them and run them as pincite does: a trial of the whole recipe.

    ./run train --tiny [--out FOLDER] [--steps 80]

The texts are those of this folder, and the start is random, so nothing is downloaded. The models are of no use: two
layers that know twenty made-up towns. The command fails where a loss did not fall or an output is not finite.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
import read_train
import texts
import train
from read_prepare import pack
from vocabulary import extend_tokenizer
from weights import export

from pincite.models.bert_input import READER_OUTPUTS
from pincite.models.onnx import open_session, open_tokenizer
from pincite.models.sentence_encoder import EncoderOptions, SentenceEncoder
from pincite.models.shipped import shipped_model

LAYERS, WIDTH, INNER, POSITIONS = 2, 384, 512, 512
TEACHER_PIECES = 30_522
"""The first word pieces of the shipped tokenizer are those of gte-small."""


def random_encoder(pieces: int, seed: int = 1) -> dict[str, np.ndarray]:
    """The weights of a small BERT before any training."""
    draw = np.random.default_rng(seed)

    def some(*shape: int) -> np.ndarray:
        return draw.normal(0, 0.04, shape).astype(np.float32)

    made = {f"embeddings.{name}_embeddings.weight": some(size, WIDTH) for name, size in
            (("word", pieces), ("position", POSITIONS), ("token_type", 2))}  # fmt: skip
    linears = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
    linears |= {"attention.output.dense": (WIDTH, WIDTH)}
    linears |= {"intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        norms += [name + "attention.output.LayerNorm", name + "output.LayerNorm"]
        for part, shape in linears.items():
            made[f"{name}{part}.weight"], made[f"{name}{part}.bias"] = some(*shape), np.zeros(shape[0], np.float32)
    for norm in norms:
        made[f"{norm}.weight"], made[f"{norm}.bias"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    return made


def write_teacher(folder: Path) -> None:
    """A random teacher, and its tokenizer: the shipped one without the German pieces."""
    tokenizer = json.loads(shipped_model("pincite-embed").file("tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {piece: number for piece, number in vocabulary.items() if number < TEACHER_PIECES}
    tokenizer["normalizer"]["strip_accents"] = True
    (folder / "teacher-tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    np.savez(folder / "teacher.npz", **random_encoder(TEACHER_PIECES))


def train_embedder(towns: list[list[texts.Fact]], folder: Path, steps: int) -> dict[str, float]:
    """Prepare, extend the vocabulary, distil and export."""
    shards = folder / "shards"
    print(texts.write_shards(towns, shards), "pairs", flush=True)
    write_teacher(folder)
    extend_tokenizer(str(folder / "teacher-tokenizer.json"), str(shards))
    arguments = ["--shards", str(shards), "--out", str(folder / "embed"), "--teacher", str(folder / "teacher.npz")]
    arguments += ["--teacher-tokenizer", str(folder / "teacher-tokenizer.json"), "--no-compile", "--seed", "1"]
    found = train.train(train.parsed([*arguments, "--steps", str(steps), "--small", "96", "--keep", "1e9"]))
    export(str(folder / "embed" / "final.npz"), str(folder / "embed.onnx"), True, False)
    return found


def train_reader(towns: list[list[texts.Fact]], folder: Path, steps: int) -> dict[str, float]:
    """Prepare the examples, train from the tiny embedder and export."""
    rows = texts.examples(towns)
    data = folder / "read-data"
    data.mkdir(exist_ok=True)
    for name, held in (("train", False), ("valid", True)):
        pack([row for row in rows if row["held"] == held], tokenizer_of(folder), str(data / f"{name}.npz"))
    arguments = ["--data", str(data), "--embedder", str(folder / "embed" / "final.npz"), "--out", str(folder / "read")]
    arguments += ["--layers", ",".join(map(str, range(LAYERS))), "--tokens", "1500", "--keep", "1e9"]
    found = read_train.train(read_train.parsed([*arguments, "--steps", str(steps), "--rate", "5e-4", "--drop", "0"]))
    export(str(folder / "read" / "last.npz"), str(folder / "read.onnx"), True, True)
    return found


def tokenizer_of(folder: Path) -> str:
    return str(folder / "shards" / "tokenizer.json")


def run_embedder(towns: list[list[texts.Fact]], folder: Path) -> float:
    """The share of German sentences whose vector is nearest to the one of their English translation."""
    encoder = SentenceEncoder("tiny/1", str(folder / "embed.onnx"), Path(tokenizer_of(folder)), EncoderOptions())
    chosen = [fact for made in towns[:3] for fact in made]

    async def embed(side: int) -> np.ndarray:
        return np.array(await encoder.embed([fact.sentence[side] for fact in chosen], as_query=False))

    english, german = (asyncio.run(embed(side)) for side in (0, 1))
    for vectors in (english, german):
        if not np.isfinite(vectors).all() or abs(np.linalg.norm(vectors, axis=1) - 1).max() > 1e-3:
            sys.exit("a vector of the exported embedder is not a unit vector")
    return float(((german @ english.T).argmax(1) == np.arange(len(chosen))).mean())


def run_reader(towns: list[list[texts.Fact]], folder: Path) -> None:
    """Read a few pairs with the exported reader."""
    session = open_session(str(folder / "read.onnx"), basic_optimization=True)
    pieces = open_tokenizer(Path(tokenizer_of(folder)))
    for fact in towns[0][:5]:
        question, passage = (
            pieces.encode(text, add_special_tokens=False).ids for text in (fact.question[0], fact.sentence[1])
        )
        ids = np.array([[train.CLS, *question, train.SEP, *passage, train.SEP]], np.int64)
        types = (np.arange(ids.shape[1]) >= len(question) + 2).astype(np.int64)[None]
        found = session.run(list(READER_OUTPUTS), {"ids": ids, "types": types})
        wanted = [ids.shape, ids.shape, (1, 1), (1, 3), (1, 3)]
        if [one.shape for one in found] != wanted or not all(np.isfinite(one).all() for one in found):
            sys.exit("an output of the exported reader is not finite or has another shape")


def check_fell(name: str, found: dict[str, float]) -> None:
    """Say what the loss was at first and at last; end where it did not fall."""
    print(f"{name}: loss {found['first loss']:.3f} at first, {found['last loss']:.3f} at last", flush=True)
    if not found["last loss"] < 0.9 * found["first loss"]:
        sys.exit(f"{name}: the loss did not fall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="keep the weights and graphs here")
    parser.add_argument("--steps", type=int, default=80, help="steps of each model")
    options = parser.parse_args()
    began = time.time()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        towns = texts.facts()
        check_fell("embedder", train_embedder(towns, folder, options.steps))
        print(f"embedder: right translation first {run_embedder(towns, folder):.2f}", flush=True)
        check_fell("reader", train_reader(towns, folder, options.steps))
        run_reader(towns, folder)
    print(f"both models were trained, exported and run; {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
