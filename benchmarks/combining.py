"""Candidates for additional ranking signals: other constants, feedback, sentences, proximity, and a fitted combination.

    ./run bench combining --data DIR [--set scifact --set hotpotqa100 …]

Computed in memory, over every document, with the product's own windows, vectors and terms (see `ranking`). Constants
are chosen on SciFact's training questions, which come first; the other columns show whether a gain generalizes. The
fitted lines are a linear model of the named scores over the best 150 of each training question (softmax over the
candidates, gradient descent), and are shown with their weights.
"""

import argparse
import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.ranking import Scores, judged
from pincite.evaluate.measure.bootstrap import difference
from pincite.evaluate.questions.datasets import QuestionSet, load_set
from pincite.providers.minilm import Options, make_embedder
from pincite.text.sentences import sentences
from pincite.text.terms import query_terms, terms

TRAIN, SETS = "scifact.train", ("scifact", "hotpotqa100", "musique100")
K1, B = 1.2, 0.75
CANDIDATES = 150


@dataclass(frozen=True)
class Words:
    """BM25 of each question and document as a share of what is possible."""

    postings: dict[str, dict[int, int]]
    lengths: Scores
    asked: list[Counter[str]]

    def weight(self, term: str) -> float:
        held = len(self.postings.get(term, ()))
        return math.log(1 + (len(self.lengths) - held + 0.5) / (held + 0.5)) if held else 0.0

    def share(self, k1: float = K1, b: float = B, asked: Sequence[dict[str, float]] | None = None) -> Scores:
        norm = k1 * (1 - b + b * self.lengths / self.lengths.mean())
        queries: Sequence[dict[str, float]] = asked or [dict(one) for one in self.asked]
        scores, most = np.zeros((len(queries), len(norm))), np.full(len(queries), 1e-9)
        for row, wanted in enumerate(queries):
            for term, count in wanted.items():
                if held := self.postings.get(term):
                    where, often = np.fromiter(held, int), np.fromiter(held.values(), float)
                    scores[row, where] += count * self.weight(term) * often * (k1 + 1) / (often + norm[where])
                    most[row] += count * self.weight(term) * (k1 + 1)
        shares: Scores = scores / most[:, None]
        return shares


@dataclass(frozen=True)
class Scene:
    """A set with everything that is known of its questions and documents."""

    questions: QuestionSet
    words: Words
    texts: list[list[str]]
    orders: list[list[str]]
    query: Scores
    windows: Scores
    owner: Scores
    meaning: Scores
    by_sentence: Scores

    @property
    def plain(self) -> Scores:
        return 0.5 * self.meaning + 0.5 * self.words.share()


async def scene(folder: Path, split: str, cache: dict[str, tuple[Scores, Scores, Scores, Scores]]) -> Scene:
    """Read and embed a set; what its splits have in common is embedded once."""
    questions = load_set(folder, split)
    embedder = make_embedder(Options(threads=0))
    if folder.name not in cache:
        cache[folder.name] = (*await _embedded(questions, whole=True), *await _embedded(questions, whole=False))
    windows, owner, lines, line_owner = cache[folder.name]
    query = np.asarray(await embedder.embed(list(questions.queries.values()), as_query=True), dtype=np.float32)
    texts = [terms(f"{title}\n{text}", "en") for title, text in questions.corpus.values()]
    postings: dict[str, dict[int, int]] = defaultdict(dict)
    for number, held in enumerate(texts):
        for term, count in Counter(held).items():
            postings[term][number] = count
    words = Words(
        postings, np.array([len(text) for text in texts]), [query_terms(q, ["en"]) for q in questions.queries.values()]
    )
    orders = [terms(question, "en") for question in questions.queries.values()]
    by_sentence = nearest(query, lines, line_owner)
    return Scene(questions, words, texts, orders, query, windows, owner, nearest(query, windows, owner), by_sentence)


async def _embedded(questions: QuestionSet, *, whole: bool) -> tuple[Scores, Scores]:
    """The vectors of each document's windows, or of its sentences, and whose each is."""
    embedder, parts, owner = make_embedder(Options(threads=0)), list[str](), list[int]()
    for number, (title, text) in enumerate(questions.corpus.values()):
        pieces = [text] if whole else [text[start:end] for start, end in sentences(text)] or [text]
        made = [window for piece in pieces for window in embedder.windows(piece, f"{title}\n" if title else "")]
        parts += made
        owner += [number] * len(made)
    return np.asarray(await embedder.embed(parts, as_query=False), dtype=np.float32), np.array(owner)


def nearest(query: Scores, vectors: Scores, owner: Scores) -> Scores:
    """The cosine of each question and each document's nearest vector."""
    found: Scores = np.maximum.reduceat(query @ vectors.T, np.flatnonzero(np.diff([-1, *owner])), axis=1)
    return found


def fed_back(scene: Scene, count: int, share: float) -> Scores:
    """The cosines of a question moved towards the best documents."""
    firsts = np.flatnonzero(np.diff([-1, *scene.owner]))
    middles = np.add.reduceat(scene.windows, firsts, axis=0)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    plain = scene.plain
    best = np.argsort(-plain, axis=1)[:, :count]
    weights = np.take_along_axis(plain, best, axis=1)
    towards = np.einsum("qk,qkd->qd", weights / weights.sum(axis=1, keepdims=True), middles[best])
    moved = (1 - share) * scene.query + share * towards
    return nearest(moved / np.linalg.norm(moved, axis=1, keepdims=True), scene.windows, scene.owner)


def with_their_words(scene: Scene, count: int, share: float) -> Scores:
    """BM25 with twenty words of the best documents beside the question's."""
    plain, asked = scene.plain, list[dict[str, float]]()
    for row, best in enumerate(np.argsort(-plain, axis=1)[:, :count]):
        gained: Counter[str] = Counter()
        for number in best:
            for term, often in Counter(scene.texts[number]).items():
                gained[term] += plain[row, number] * often / len(scene.texts[number]) * scene.words.weight(term)
        own, total = scene.words.asked[row], sum(scene.words.asked[row].values()) or 1
        wanted = {term: (1 - share) * often / total for term, often in own.items()}
        new = gained.most_common(20)
        for term, value in new:
            wanted[term] = wanted.get(term, 0.0) + share * value / sum(value for _, value in new)
        asked.append(wanted)
    return scene.words.share(asked=asked)


def covered(scene: Scene) -> Scores:
    """The share of a question's words a document holds, the rare ones counting more."""
    return scene.words.share(k1=1e-6)


def in_a_row(scene: Scene) -> Scores:
    """The share of a question's pairs of neighbouring words that stand side by side in a document, of the best ones."""
    places = [_places(text) for text in scene.texts]
    found = np.zeros_like(scene.meaning)
    for row, best in enumerate(np.argsort(-scene.plain, axis=1)[:, :CANDIDATES]):
        pairs = [
            (a, b, scene.words.weight(a) + scene.words.weight(b)) for a, b in pairwise(scene.orders[row]) if a != b
        ]
        total = sum(weight for *_, weight in pairs) or 1
        for number in best:
            at = places[number]
            found[row, number] = (
                sum(w for a, b, w in pairs if any(x + 1 in at.get(b, ()) for x in at.get(a, ()))) / total
            )
    return found


def _places(text: Sequence[str]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for place, term in enumerate(text):
        found[term].add(place)
    return found


PARTS: dict[str, Callable[[Scene], Scores]] = {
    "meaning": lambda scene: scene.meaning, "words": lambda scene: scene.words.share(), "covered": covered,
    "sentence": lambda scene: scene.by_sentence, "in a row": in_a_row,
}  # fmt: skip

LINES: dict[str, Callable[[Scene], Scores]] = {
    "half and half (k1 1.2, b .75)": lambda scene: scene.plain,
    **{
        f"k1 {k1}, b {b}": lambda scene, k1=k1, b=b: 0.5 * scene.meaning + 0.5 * scene.words.share(k1, b)  # type: ignore[misc]
        for k1 in (0.6, 0.9, 1.2, 1.6) for b in (0.3, 0.4, 0.75)
    },
    "a quarter by sentences": lambda scene: 0.25 * scene.meaning + 0.25 * scene.by_sentence + 0.5 * scene.words.share(),
    "+ .1 covered": lambda scene: scene.plain + 0.1 * covered(scene),
    "+ .1 in a row": lambda scene: scene.plain + 0.1 * in_a_row(scene),
    "moved towards the best 3 by .2": lambda scene: 0.5 * fed_back(scene, 3, 0.2) + 0.5 * scene.words.share(),
    "words of the best 5 by .2": lambda scene: 0.5 * scene.meaning + 0.5 * with_their_words(scene, 5, 0.2),
}  # fmt: skip

FITTED = (("meaning", "words"), ("meaning", "words", "covered"), tuple(PARTS))


def fitted(scene: Scene, names: Sequence[str], *, steps: int = 3000, rate: float = 0.05) -> Scores:
    """Weights of these scores that make the judged documents stand out among the best of each question."""
    best = np.argsort(-scene.plain, axis=1)[:, :CANDIDATES]
    parts = np.stack([np.take_along_axis(PARTS[name](scene), best, axis=1) for name in names], axis=2)
    ids, relevant = np.array(list(scene.questions.corpus)), np.zeros(best.shape)
    for row, key in enumerate(scene.questions.queries):
        relevant[row] = [scene.questions.qrels[key].get(one, 0) for one in ids[best[row]]]
    met = relevant.sum(axis=1) > 0
    parts, wanted = parts[met], relevant[met] / relevant[met].sum(axis=1, keepdims=True)
    spread = parts.std(axis=(0, 1)) + 1e-9
    parts = (parts - parts.mean(axis=(0, 1))) / spread
    weights, mean, square = np.zeros(len(names)), np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, steps + 1):
        chances = np.exp(parts @ weights - (parts @ weights).max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope = np.einsum("qc,qcf->f", chances - wanted, parts) / len(parts) + 1e-3 * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-9)
    found: Scores = weights / spread / (weights / spread)[:2].sum()
    return found


def print_line(
    name: str, scenes: Sequence[Scene], firsts: Sequence[list[float]], line: Callable[[Scene], Scores]
) -> None:
    """nDCG@10 on each set, and whether the difference from the first line is one."""
    cells = []
    for scene, first in zip(scenes, firsts, strict=True):
        gains = judged(scene.questions, line(scene))
        change = difference(first, gains)
        told = "" if gains == first else f" {change.value:+.4f}{'' if change.low <= 0 <= change.high else ' *'}"
        cells.append(f"{sum(gains) / len(gains):.4f}{told}")
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


async def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", action="append", dest="sets", help="sets beside the training questions")
    options = parser.parse_args()
    cache: dict[str, tuple[Scores, Scores, Scores, Scores]] = {}
    scenes = [await scene(options.data / "scifact", "train", cache)]
    scenes += [await scene(options.data / name, "", cache) for name in options.sets or SETS]
    print(f"| what | {' | '.join([TRAIN, *(options.sets or SETS)])} |\n|---|{'---|' * len(scenes)}")
    firsts = [judged(one.questions, one.plain) for one in scenes]
    for name, line in LINES.items():
        print_line(name, scenes, firsts, line)
    for names in FITTED:
        weights = fitted(scenes[0], names)
        shown = ", ".join(f"{weight:.2f} {name}" for name, weight in zip(names, weights, strict=True))
        print_line(f"fitted: {shown}", scenes, firsts, _weighted(names, weights))


def _weighted(names: Sequence[str], weights: Scores) -> Callable[[Scene], Scores]:
    def line(scene: Scene) -> Scores:
        scores: Scores = sum(weight * PARTS[name](scene) for name, weight in zip(names, weights, strict=True))
        return scores

    return line


if __name__ == "__main__":
    asyncio.run(main())
