"""The best size of a text for one vector, and the best fusion of dense and lexical scores; in memory.

    ./run bench ranking --data DIR --set scifact --split train [--part 100 --part 200 …] [--sentences]

Uses the product's own windows, vectors, terms and metrics, and scores every document by every engine, so that the
ranking itself is compared, without candidate selection. The baseline of all differences is the first line.
"""

import argparse
import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pincite.evaluate.measure.bootstrap import difference
from pincite.evaluate.measure.metrics import ndcg
from pincite.evaluate.questions.datasets import QuestionSet, load_set
from pincite.providers.minilm import Options, make_embedder
from pincite.text.sentences import sentences
from pincite.text.terms import query_terms, terms

WHOLE = 254
"""As much as the model sees at once."""
K1, B = 1.2, 0.75
CANDIDATES = 100
ALPHA = 0.5
Scores = np.ndarray


async def by_meaning(questions: QuestionSet, part: int) -> tuple[Scores, float]:
    """The cosine of each question and each document's nearest part, and how many parts a document has.

    Part 0 is a sentence with the title.
    """
    embedder = make_embedder(Options(threads=0, part=part or WHOLE))
    parts: list[str] = []
    owner: list[int] = []
    for number, (title, text) in enumerate(questions.corpus.values()):
        lead = f"{title}\n" if title else ""
        pieces = [text] if part else [text[start:end] for start, end in sentences(text)] or [text]
        windows = [window for piece in pieces for window in embedder.windows(piece, lead)]
        parts += windows
        owner += [number] * len(windows)
    vectors = np.asarray(await embedder.embed(parts, as_query=False), dtype=np.float32)
    asked = np.asarray(await embedder.embed(list(questions.queries.values()), as_query=True), dtype=np.float32)
    firsts = np.flatnonzero(np.diff([-1, *owner]))
    return np.maximum.reduceat(asked @ vectors.T, firsts, axis=1), len(parts) / len(questions.corpus)


def by_words(questions: QuestionSet, title_counts: int) -> tuple[Scores, Scores]:
    """BM25 of each question and document, and the most it could have been for each question."""
    postings: dict[str, dict[int, int]] = defaultdict(dict)
    lengths = np.zeros(len(questions.corpus))
    for number, (title, text) in enumerate(questions.corpus.values()):
        counts = Counter(terms(text, "en") + terms(title, "en") * title_counts)
        lengths[number] = counts.total()
        for term, count in counts.items():
            postings[term][number] = count
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    scores, most = np.zeros((len(questions.queries), len(lengths))), np.zeros(len(questions.queries))
    for row, question in enumerate(questions.queries.values()):
        for term, weight in query_terms(question, ["en"]).items():
            if held := postings.get(term):
                idf = weight * math.log(1 + (len(lengths) - len(held) + 0.5) / (len(held) + 0.5))
                where, often = np.fromiter(held, int), np.fromiter(held.values(), float)
                scores[row, where] += idf * often * (K1 + 1) / (often + norm[where])
                most[row] += idf * (K1 + 1)
    return scores, np.maximum(most, 1e-9)[:, None]


def relative_to_found(scores: Scores) -> Scores:
    """0 for the last candidate and everything below it, 1 for the best."""
    ordered = np.sort(scores, axis=1)[:, ::-1]
    low, high = ordered[:, [min(CANDIDATES, scores.shape[1]) - 1]], ordered[:, [0]]
    relative: Scores = (scores - low) / np.maximum(high - low, 1e-9)
    return relative.clip(min=0)


def judged(questions: QuestionSet, scores: Scores) -> list[float]:
    """nDCG@10 of each question."""
    names = np.array(list(questions.corpus))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    relevant = (questions.qrels[key] for key in questions.queries)
    return [ndcg(list(names[row]), one) for row, one in zip(best, relevant, strict=True)]


def print_table(lines: Mapping[str, Sequence[float]]) -> None:
    """Every line with its difference from the first."""
    print("| what | nDCG@10 | against the first line |\n|---|---|---|")
    first = next(iter(lines.values()))
    for name, gains in lines.items():
        change = difference(first, gains)
        told = "" if gains is first else f"{change.value:+.4f} [{change.low:+.4f}, {change.high:+.4f}]"
        print(f"| {name} | {sum(gains) / len(gains):.4f} | {told} |")


async def measure(questions: QuestionSet, parts: Sequence[int]) -> dict[str, list[float]]:
    """Every line of the table."""
    lines: dict[str, list[float]] = {}
    words = {counts: by_words(questions, counts) for counts in (1, 2)}
    for part in parts:
        cosines, vectors = await by_meaning(questions, part)
        name = f"parts of {part} pieces" if part else "sentences"
        print(f"{name}: {vectors:.2f} vectors a document", flush=True)
        for counts, (scores, most) in words.items():
            of = f"{name}, title counted {'twice' if counts > 1 else 'once'}"
            found = ALPHA * relative_to_found(cosines) + (1 - ALPHA) * relative_to_found(scores)
            lines[f"{of}, relative to what was found"] = judged(questions, found)
            possible = ALPHA * cosines + (1 - ALPHA) * scores / most
            lines[f"{of}, relative to what is possible"] = judged(questions, possible)
        lines[f"{name}, meaning alone"] = judged(questions, cosines)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="scifact")
    parser.add_argument("--split", default="")
    parser.add_argument("--part", type=int, action="append", help="word pieces a vector stands for at most")
    parser.add_argument("--sentences", action="store_true", help="a vector for each sentence, too")
    arguments = parser.parse_args()
    questions = load_set(arguments.data / arguments.set, arguments.split)
    parts = [*(arguments.part or [WHOLE, 200]), *([0] if arguments.sentences else [])]
    print_table(asyncio.run(measure(questions, parts)))


if __name__ == "__main__":
    main()
