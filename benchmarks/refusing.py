"""Fit the weights of refusal and of sentences on several kinds of sets, and measure them on the other halves.

    ./run bench refusing --data DIR [--answers DIR ...] [--every 12] [--records 4] [--work DIR] [--keep FILE]

Asks every so-manyth question of XQuAD with removed paragraphs (`DIR/abstention`), of the held-out records of
`training/records` (in their language and in the other one), and all questions of sets with expected answers
(`--answers`, docs/evaluating.md). Each question runs through the whole pipeline up to the answerer, whose features are
taken down. `--keep` stores them, or reads them if the file exists. One half of the articles, records and questions is
fitted on, the other half measures. An answer is *right* if the best sentence has the gold answer.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks._observed import Seen, SeenSentence, read_seen, see_answers, see_records, see_xquad
from pincite.extractive import abstain
from pincite.extractive.score import WEIGHTS, WHOLE_FORMS

BY_HAND = frozenset({"reason", "defines"})
"""Features of sentences that are too rare in these sets to be fitted."""
SHRINK = 3.0
"""How much large weights cost."""
STEPS, RATE = 800, 0.05

Weights = Mapping[str, float]


def best_first(seen: Seen, weights: Weights) -> list[SeenSentence]:
    """The sentences in the order of their scores by these weights."""
    return sorted(seen.sentences, key=lambda one: -score_of(one, weights))


def score_of(one: SeenSentence, weights: Weights) -> float:
    """The weighted sum of a sentence's features."""
    return sum(weights[name] * value for name, value in one.features.items())


def refusal_features(seen: Seen, weights: Weights = WEIGHTS) -> dict[str, float]:
    """The features of a refusal with the best sentence by these weights."""
    ordered = best_first(seen, weights)
    meaning = max(one.refusal["meaning"] for one in ordered)
    return {**ordered[0].refusal, "meaning": meaning, "fit": score_of(ordered[0], weights)}


def is_across(seen: Seen) -> bool:
    """Whether the best sentence is in another language than the question."""
    return not best_first(seen, WEIGHTS)[0].features["language"]


def is_right(seen: Seen, weights: Weights = WEIGHTS) -> bool:
    """Whether the best sentence has the gold answer."""
    return best_first(seen, weights)[0].gold


def fit_sentences(cases: Sequence[Seen]) -> dict[str, float]:
    """The weights under which the right sentences are likeliest, each question being a choice among its sentences."""
    names = [name for name in WEIGHTS if name not in BY_HAND]
    usable = [case for case in cases if any(one.gold for one in case.sentences)]
    rows = np.array([[one.features.get(name, 0.0) for name in names] for case in usable for one in case.sentences])
    gold = np.array([one.gold for case in usable for one in case.sentences])
    sizes = [len(case.sentences) for case in usable]
    starts, which = np.cumsum([0, *sizes])[:-1], np.repeat(np.arange(len(usable)), sizes)
    in_use, spread = np.array([WEIGHTS[name] for name in names]), rows.std(0) + 1e-9

    def slope(weights: np.ndarray) -> np.ndarray:
        scores = rows @ (weights / spread)
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[which])
        guess = raised / np.add.reduceat(raised, starts)[which]
        right = raised * gold / np.add.reduceat(raised * gold, starts)[which]
        drawn = SHRINK * (weights - in_use * spread)
        return ((rows / spread).T @ (right - guess) - drawn) / len(usable)  # type: ignore[no-any-return]

    fitted = _climb(slope, in_use * spread) / spread
    return {**WEIGHTS, **dict(zip(names, fitted.round(2).tolist(), strict=True))}


def fit_refusal(cases: Sequence[Seen], names: Sequence[str], weights: Weights = WEIGHTS) -> dict[str, float]:
    """What speaks for an answer that is right; each set counts as much, however many questions it has."""
    features = [refusal_features(case, weights) for case in cases]
    rows = np.array([[1.0, *(one[name] for name in names)] for one in features])
    right = np.array([is_right(case, weights) for case in cases], float)
    groups = [case.set.split()[0] for case in cases]
    share = np.array([len(cases) / len(set(groups)) / groups.count(group) for group in groups])
    spread = np.append(1.0, rows[:, 1:].std(0) + 1e-9)

    def slope(at: np.ndarray) -> np.ndarray:
        guess = 1 / (1 + np.exp(-np.clip(rows @ (at / spread), -60, 60)))
        shrink = SHRINK * np.append(0.0, at[1:])
        return ((rows / spread).T @ (share * (right - guess)) - shrink) / len(cases)  # type: ignore[no-any-return]

    fitted = _climb(slope, np.zeros(len(names) + 1)) / spread
    return dict(zip(["bias", *names], fitted.round(2).tolist(), strict=True))


def _climb(slope: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> np.ndarray:
    """The place with the highest likelihood, by Adam's steps from `at`."""
    first, second = np.zeros_like(at), np.zeros_like(at)
    for step in range(1, STEPS + 1):
        now = slope(at)
        first, second = 0.9 * first + 0.1 * now, 0.999 * second + 0.001 * now**2
        at = at + RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return at


def probability(seen: Seen, refusal: Weights, weights: Weights = WEIGHTS) -> float:
    """The probability of a right answer."""
    features = {"bias": 1.0, **refusal_features(seen, weights)}
    return float(1 / (1 + np.exp(-sum(weight * features[name] for name, weight in refusal.items()))))


def outcomes(cases: Sequence[Seen], refusal: Weights, limit: float, weights: Weights = WEIGHTS) -> dict[str, float]:
    """Shares of answerable questions answered rightly, wrongly and refused, and of the others refused."""
    answered = [probability(case, refusal, weights) >= limit for case in cases]
    right = [is_right(case, weights) for case in cases]
    able = [n for n, case in enumerate(cases) if case.answerable]
    unable = [n for n, case in enumerate(cases) if not case.answerable]
    shares = {
        "right": [answered[n] and right[n] for n in able],
        "wrong": [answered[n] and not right[n] for n in able],
        "refused": [not answered[n] for n in able],
        "rightly refused": [not answered[n] for n in unable],
    }
    return {name: float(np.mean(rows)) if rows else float("nan") for name, rows in shares.items()}


def best_limit(cases: Sequence[Seen], refusal: Weights, cost: float, weights: Weights = WEIGHTS) -> float:
    """The limit with most right answers and refusals less `cost` for each wrong answer."""
    guesses = np.array([probability(case, refusal, weights) for case in cases])
    right = np.array([is_right(case, weights) for case in cases])
    able = np.array([case.answerable for case in cases])

    def worth(limit: float) -> float:
        answered = guesses >= limit
        return float((answered & right).sum() + (~answered & ~able).sum() - cost * (answered & ~right).sum())

    return float(max(np.arange(0.1, 0.7, 0.02), key=worth))


# --- the report ---------------------------------------------------------------------------------------------


def kinds_of(cases: Sequence[Seen]) -> dict[str, tuple[Weights, list[Seen]]]:
    """The weights in use, with the questions that each is used for."""
    usable = [case for case in cases if case.sentences and case.form not in WHOLE_FORMS]
    read = [case for case in usable if case.form != "yes_no"]
    return {
        "WEIGHTS": (abstain.WEIGHTS, [case for case in read if not is_across(case)]),
        "WEIGHTS_ACROSS": (abstain.WEIGHTS_ACROSS, [case for case in read if is_across(case)]),
        "WEIGHTS_YES_NO": (abstain.WEIGHTS_YES_NO, [case for case in usable if case.form == "yes_no"]),
    }


def report(cases: Sequence[Seen], cost: float) -> list[str]:
    """The fitted weights beside those in use, and what both do on the halves that nothing was fitted on."""
    lines = _sentence_table(cases)
    for name, (used, chosen) in kinds_of(cases).items():
        tuning = [case for case in chosen if not case.half]
        if len({is_right(case) for case in tuning}) < 2:
            continue
        lines += _refusal_table(name, used, tuning, [case for case in chosen if case.half], cost)
    return lines


def _sentence_table(cases: Sequence[Seen]) -> list[str]:
    usable = [case for case in cases if case.answerable and case.sentences and case.form not in WHOLE_FORMS]
    fitted = fit_sentences([case for case in usable if not case.half])
    lines = ["| feature of a sentence | fitted | in use |", "|---|---|---|"]
    lines += [f"| {name} | {fitted[name]} | {WEIGHTS[name]} |" for name in WEIGHTS]
    lines += ["", "| gold in the best sentence, other half | questions | fitted | in use |", "|---|---|---|---|"]
    for name in sorted({case.set for case in usable}):
        rows = [case for case in usable if case.set == name and case.half]
        shares = [np.mean([is_right(case, weights) for case in rows]) for weights in (fitted, WEIGHTS)]
        lines.append(f"| {name} | {len(rows)} | {shares[0]:.3f} | {shares[1]:.3f} |")
    return lines


def _refusal_table(name: str, used: Weights, tuning: Sequence[Seen], other: Sequence[Seen], cost: float) -> list[str]:
    fitted = fit_refusal(tuning, [one for one in used if one != "bias"])
    limit = best_limit(tuning, fitted, cost)
    lines = ["", f"| {name} | fitted | in use |", "|---|---|---|"]
    lines += [f"| {one} | {fitted[one]} | {weight} |" for one, weight in used.items()]
    lines += [f"| limit | {limit:.2f} | {abstain.MIN_PROBABILITY} |", ""]
    lines += [
        "| other half | questions | weights | right | wrong | refused | unanswerable: refused |",
        "|---" * 7 + "|",
    ]
    for group in [*sorted({case.set for case in other}), "all"]:
        rows = [case for case in other if group in (case.set, "all")]
        for label, weights, least in (("fitted", fitted, limit), ("in use", used, abstain.MIN_PROBABILITY)):
            shares = " | ".join(f"{share:.3f}" for share in outcomes(rows, weights, least).values())
            lines.append(f"| {group} | {len(rows)} | {label} | {shares} |")
    return lines


async def gather(arguments: argparse.Namespace, work: Path) -> list[Seen]:
    """Ask the questions of all sets, each in a library of its own."""
    found = [one async for one in see_xquad(arguments.data / "abstention", work / "abstention", arguments.every)]
    found += [one async for one in see_records(work / "records", arguments.records)]
    for number, folder in enumerate(arguments.answers):
        found += [one async for one in see_answers(folder, work / f"answers-{number}")]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--answers", type=Path, nargs="*", default=[], help="folders of sets with expected answers")
    parser.add_argument("--every", type=int, default=12, help="ask every so-manyth question of XQuAD only")
    parser.add_argument("--records", type=int, default=4, help="ask every so-manyth question of the records only")
    parser.add_argument("--cost", type=float, default=1.0, help="what a wrong answer costs, in right ones")
    parser.add_argument("--work", type=Path, help="data folders to keep between runs")
    parser.add_argument("--keep", type=Path, help="file with what was taken down")
    arguments = parser.parse_args()
    if arguments.keep and arguments.keep.is_file():
        cases = read_seen(arguments.keep)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            cases = asyncio.run(gather(arguments, arguments.work or Path(temporary)))
        if arguments.keep:
            arguments.keep.write_text("".join(case.to_json() + "\n" for case in cases), encoding="utf-8")
    print("\n".join(report(cases, arguments.cost)))


if __name__ == "__main__":
    main()
