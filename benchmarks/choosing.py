"""Fit the weights that choose sentences and refuse questions, and plot the cost of refusing.

    ./run bench choosing --data DIR [--set abstention] [--more xquad-en-de] [--plot FILE.svg] [--every 4] [--across]

Each question runs through the whole pipeline up to the answerer, whose features are recorded. On every other article
two models are fitted: which sentence contains the gold answer (a choice among all sentences of a question), and whether
there is one at all (a logistic regression). The other articles are for testing. `--more` names a set whose library has
the paragraphs of all questions: questions of the tuning articles without a paragraph in `--set` are asked there, which
doubles the training data for choosing sentences. With `--across` each question is also asked of the documents in the
other language alone.
"""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._tradeoff import plot
from benchmarks.answers import fill, held_out, questions_of
from benchmarks.calibrate import fit as logistic
from pincite import AsyncPincite
from pincite.config.settings import Settings
from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Filters, Question
from pincite.core.run import Kit
from pincite.extractive import abstain
from pincite.extractive.question import QuestionTerms, question_terms
from pincite.extractive.score import WEIGHTS, ScoredSentence, rank_candidates, score_sentences, term_shares
from pincite.extractive.sentences import sentences_of
from pincite.models.calibration import FITTED as FITTED_CALIBRATION
from pincite.models.calibration import known_calibration, to_common_scale
from pincite.providers.extractive import MAX_EMBEDDED_SENTENCES, readable

BY_HAND = frozenset({"reason", "defines"})
"""Measures of questions that are too rare in these sets."""
FITTED = [name for name in WEIGHTS if name not in BY_HAND]
SHRINK = 10.0
"""How much large weights cost."""
STEPS, RATE = 600, 0.05


class Listener:
    """Answers nothing and takes down the prompt: what the answerer would have been given."""

    name = "extractive"
    window = 32_768

    def __init__(self) -> None:
        self.heard: Prompt | None = None

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.heard = prompt
        yield StreamPart("–", finish_reason="stop", model=self.name)


@dataclass(frozen=True, slots=True)
class Case:
    """A question, its sentences by meaning and by words alone, and which of the former hold the gold answer."""

    kind: str
    across: bool
    held_out: bool
    asked: QuestionTerms
    found: list[ScoredSentence]
    by_words: list[ScoredSentence]
    gold: np.ndarray


async def take_down(
    pincite: AsyncPincite,
    questions: Sequence[dict[str, Any]],
    *,
    covered: bool = False,
    twins: Mapping[str, dict[str, Any]] | None = None,
) -> list[Case]:
    """Ask every question up to the answerer; `covered` says that the library has the paragraphs of all of them.

    With `twins`, the same questions in the other language by id, only the documents in that language are asked.
    """
    make, cases = pincite.services.kit_factory.kit, []
    for question in questions:
        listener = Listener()

        def kit(settings: Settings, listener: Listener = listener) -> Kit:
            return replace(make(settings), llm=listener, extractive=listener)

        pincite.services.kit_factory.kit = kit  # type: ignore[method-assign]
        twin = twins[question["_id"]] if twins else None
        await pincite.ask(Question(question["text"], filters=Filters(folder=twin["lang"] if twin else None)))
        sources = listener.heard.sources if listener.heard else ()
        cases.append(await _case(pincite, question, twin, sources, "covered" if covered else question["kind"]))
    pincite.services.kit_factory.kit = make  # type: ignore[method-assign]
    return cases


async def _case(
    pincite: AsyncPincite,
    question: dict[str, Any],
    twin: dict[str, Any] | None,
    sources: Sequence[Hit],
    kind: str,
) -> Case:
    sentences = sentences_of(sources)
    asked = question_terms(question["text"], sentences)
    kit = pincite.services.kit_factory.kit(pincite.services.live_settings.settings)
    numbers = sorted({sentence.source for sentence in sentences})
    texts_read = [readable(sources[number - 1].chunk) for number in numbers]
    read = await kit.reader.read(asked.text, texts_read) if kit.reader and numbers else []
    readings = dict(zip(numbers, read, strict=True))
    sentences = rank_candidates(asked, sentences, readings)[:MAX_EMBEDDED_SENTENCES]
    embedder = kit.embedder
    [wanted] = await embedder.embed([asked.text], as_query=True)
    texts = [embedder.windows(sentence.embedded_text)[0] for sentence in sentences]
    vectors = await embedder.embed(texts, as_query=False) if texts else []
    scale = known_calibration(embedder) or FITTED_CALIBRATION
    cosines = [to_common_scale(scale, float(np.dot(wanted, vector))) or 0.0 for vector in vectors]
    found = score_sentences(asked, sentences, cosines, readings)
    gold = [kind == "covered" and _holds(twin or question, sources[one.sentence.source - 1], one) for one in found]
    words = score_sentences(asked, sentences, term_shares(asked, sentences))
    return Case(kind, twin is not None, held_out(question), asked, found, words, np.array(gold, bool))


def _holds(question: dict[str, Any], source: Hit, one: ScoredSentence) -> bool:
    chunk = source.chunk
    start = question["answer_start"][0] - chunk.start_char
    same = f"{chunk.folder}:{chunk.document_name.removesuffix('.txt')}" == question["document"]
    return same and one.sentence.start <= start < one.sentence.end


def twins_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The question in the other language, by the id of each question."""
    by_id = {question["_id"]: question for question in questions_of(folder, 1)}
    other = {"en": "de", "de": "en"}
    return {key: by_id[f"{other[key[:2]]}{key[2:]}"] for key in by_id}


def fit_choice(cases: Sequence[Case]) -> dict[str, float]:
    """The weights under which the right sentences are likeliest, each question being a choice among its sentences."""
    usable = [case for case in cases if case.gold.any()]
    rows = np.concatenate([[[one.features.get(name, 0.0) for name in FITTED] for one in case.found] for case in usable])
    gold = np.concatenate([case.gold for case in usable])
    starts = np.cumsum([0, *(len(case.found) for case in usable)])[:-1]
    which = np.repeat(np.arange(len(usable)), [len(case.found) for case in usable])
    spread = rows.std(0) + 1e-9
    scaled = (rows - rows.mean(0)) / spread
    weights, first, second = (np.zeros(len(FITTED)) for _ in range(3))
    for step in range(1, STEPS + 1):
        scores = scaled @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[which])
        guess = raised / np.add.reduceat(raised, starts)[which]
        right = raised * gold / np.add.reduceat(raised * gold, starts)[which]
        slope = (scaled.T @ (right - guess) - SHRINK * weights) / len(usable)
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights += RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return dict(zip(FITTED, (weights / spread).round(2).tolist(), strict=True))


def fit_refusal(cases: Sequence[Case], names: Sequence[str], *, words: bool = False) -> dict[str, float]:
    """What speaks for an answer, from the questions that have sources at all."""
    usable = [case for case in cases if case.found]
    rows = [abstain.answer_features(case.asked, case.by_words if words else case.found) for case in usable]
    columns = np.array([[row[name] for name in names] for row in rows])
    weights = logistic(columns, np.array([case.kind == "covered" for case in usable], float))
    return dict(zip(["bias", *names], weights.round(2).tolist(), strict=True))


def shares(cases: Sequence[Case]) -> dict[str, np.ndarray]:
    """By kind of question, how likely an answer is with the weights in use."""
    kinds = {kind: [case for case in cases if case.kind == kind] for kind in ("covered", "near", "far")}
    return {
        kind: np.array([abstain.answer_probability(c.asked, c.found) for c in rows])
        for kind, rows in kinds.items()
        if rows
    }


def report(cases: Sequence[Case], more: Sequence[Case]) -> list[str]:
    """The weights beside those in use, and what is refused at several thresholds."""
    across, cases = [case for case in cases if case.across], [case for case in cases if not case.across]
    tuning = [case for case in cases if not case.held_out]
    choice = fit_choice([*(case for case in tuning if case.kind == "covered"), *more])
    lines = ["| measure | fitted | in use |", "|---|---|---|"]
    lines += [f"| {name} | {choice.get(name, 'by hand')} | {weight} |" for name, weight in WEIGHTS.items()]
    fits = [
        ("refusal", abstain.WEIGHTS, False, tuning),
        ("by words", abstain.WEIGHTS_WITHOUT_EMBEDDER, True, tuning),
    ]
    if across:
        first, three = (
            np.mean([case.gold[:count].any() for case in across if case.kind == "covered"]) for count in (1, 3)
        )
        lines += ["", f"Across languages: gold sentence first {first:.3f}, among the first three {three:.3f}."]
        unseen = [case for case in across if not case.held_out]
        fits.append(("across languages", abstain.WEIGHTS_ACROSS, False, unseen))
    for title, used, words, chosen in fits:
        fitted = fit_refusal(chosen, [name for name in used if name != "bias"], words=words)
        lines += ["", f"| {title} | fitted | in use |", "|---|---|---|"]
        lines += [f"| {name} | {fitted[name]} | {weight} |" for name, weight in used.items()]
    lines += _refused_at(cases)
    return [*lines, "", "Across languages:", *_refused_at(across)] if across else lines


def _refused_at(cases: Sequence[Case]) -> list[str]:
    """What is refused at several thresholds, on the tuning articles and on the others."""
    lines = [
        "",
        "| threshold | covered | near | far | held out: covered | near | far |",
        "|---|---|---|---|---|---|---|",
    ]
    sides = shares([case for case in cases if not case.held_out]), shares([case for case in cases if case.held_out])
    for threshold in (0.2, 0.25, 0.3, 0.35, abstain.MIN_PROBABILITY, 0.4, 0.45, 0.5):
        refused = [f"{(side[kind] < threshold).mean():.3f}" for side in sides for kind in side]
        lines.append(f"| {threshold:g} | {' | '.join(refused)} |")
    return lines


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="abstention")
    parser.add_argument("--more", help="a set with all paragraphs, to choose sentences for more questions")
    parser.add_argument("--plot", type=Path, help="where to draw what refusing costs")
    parser.add_argument("--across", action="store_true", help="ask also the documents in the other language alone")
    parser.add_argument("--every", type=int, default=1, help="ask every so-manyth question only")
    arguments = parser.parse_args()
    folder, more = arguments.data / arguments.set, list[Case]()
    questions = questions_of(folder, arguments.every)
    with tempfile.TemporaryDirectory() as temporary:
        async with AsyncPincite(Path(temporary)) as pincite:
            await fill(pincite, folder)
            cases = await take_down(pincite, questions)
            if arguments.across:
                cases += await take_down(pincite, questions, twins=twins_of(folder))
    if arguments.more:
        lost = [one for one in questions if one["kind"] != "covered" and not held_out(one)]
        with tempfile.TemporaryDirectory() as temporary:
            async with AsyncPincite(Path(temporary)) as pincite:
                await fill(pincite, arguments.data / arguments.more)
                more = await take_down(pincite, lost, covered=True)
    print("\n".join(report(cases, more)))
    if arguments.plot:
        arguments.plot.write_text(
            plot(shares([case for case in cases if case.held_out]), abstain.MIN_PROBABILITY), encoding="utf-8"
        )


if __name__ == "__main__":
    asyncio.run(main())
