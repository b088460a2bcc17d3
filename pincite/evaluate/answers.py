"""Ask questions with expected answers, and judge the answers."""

import hashlib
import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.documents.document import Progress
from pincite.core.evaluations import AnswerQuestion, AnswerResult, EvaluationOutcome
from pincite.core.query.answer import Answer
from pincite.core.query.question import Exchange, Question
from pincite.engine.app import AsyncPincite
from pincite.errors import BadRequest, OverBudget
from pincite.evaluate.compare import Comparison, Trial
from pincite.evaluate.measure import bootstrap
from pincite.evaluate.measure.answer_match import GivenAnswer, judge_answer
from pincite.evaluate.measure.answer_shares import AnswerSummary, summarise, verdict_scores
from pincite.evaluate.questions.answer_sets import AnswerSet
from pincite.evaluate.runner import Report, count_notes, percentile
from pincite.evaluate.temporary_library import Corpus, temporary_library
from pincite.evaluate.variants import Variant
from pincite.text import lang
from pincite.text.terms import question_language


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A question, the result of its answer, the answer's text, and notes on degraded stages."""

    question: AnswerQuestion
    result: AnswerResult
    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """The answers of each configuration on a set, and their comparison."""

    comparison: Comparison
    answers: tuple[tuple[JudgedAnswer, ...], ...]

    @property
    def summaries(self) -> tuple[AnswerSummary, ...]:
        """The shares of each configuration."""
        return tuple(summarise([one.result for one in answers]) for answers in self.answers)


async def answer_all(
    pincite: AsyncPincite,
    questions: Sequence[AnswerQuestion],
    settings: Settings,
    *,
    caller: Caller = LOCAL,
    report: Report,
) -> AsyncIterator[JudgedAnswer]:
    """Ask each question with these settings and judge its answer; the first one is asked once more beforehand.

    The answer cache is not used. Earlier questions of a conversation are asked first, and are not timed.
    """
    for question in questions[:1]:
        await _answer(pincite, question, settings, caller)
    for number, question in enumerate(questions, start=1):
        yield await _answer(pincite, question, settings, caller)
        report(Progress("asking", number, len(questions), 0.0, of="question"))


async def compare_answers(
    questions: AnswerSet, variants: Sequence[Variant], *, keep: Path | None, report: Report
) -> AnswerComparison:
    """Ask the questions with every variant in a temporary library of the set's documents."""
    digest = hashlib.sha256()
    for name, path in questions.files.items():
        digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    corpus = Corpus(questions.name, questions.files, digest.hexdigest())
    answers: dict[str, tuple[JudgedAnswer, ...]] = {}
    trials: dict[str, Trial] = {}
    for index in dict.fromkeys(variant.index for variant in variants):
        same_index = [variant for variant in variants if variant.index == index]
        async with temporary_library(corpus, same_index[0], keep=keep, report=report) as (pincite, left_out):
            notes = tuple(f"not indexed: {one}" for one in left_out)
            for variant in same_index:
                asking = answer_all(pincite, questions.questions, variant.settings, report=report)
                answers[variant.name] = tuple([one async for one in asking])
                trials[variant.name] = trial_of(variant, answers[variant.name], notes)
    ordered = [variant.name for variant in variants]
    comparison = Comparison(
        questions.name, len(questions.files), len(questions.questions), tuple(trials[name] for name in ordered)
    )
    return AnswerComparison(comparison, tuple(answers[name] for name in ordered))


def trial_of(variant: Variant, answers: Sequence[JudgedAnswer], notes: Sequence[str] = ()) -> Trial:
    """Return the verdicts of a configuration as measures, to be compared with others."""
    results = [one.result for one in answers]
    said = count_notes(note for one in answers for note in one.notes)
    times = tuple(one.ms for one in results)
    return Trial(variant.name, verdict_scores(results), times, (*variant.missing, *notes, *said))


def outcome_of(answers: Sequence[JudgedAnswer]) -> EvaluationOutcome:
    """Return the outcome of a run, without any text of the answers."""
    results = [one.result for one in answers]
    times = [one.ms for one in results]
    return EvaluationOutcome(
        {name: bootstrap.mean(values) for name, values in verdict_scores(results).items()},
        {},
        percentile(times, 0.5),
        percentile(times, 0.95),
        count_notes(note for one in answers for note in one.notes),
        answers={one.question.id: one.result for one in answers},
    )


async def _answer(pincite: AsyncPincite, question: AnswerQuestion, settings: Settings, caller: Caller) -> JudgedAnswer:
    """Ask one question after its earlier turns; a question without an answer is wrong."""
    asked = Question(question.text, fresh=True)
    started = time.perf_counter()
    try:
        for turn in question.turns:
            before = await pincite.ask(replace(asked, text=turn), caller=caller, settings=settings)
            exchange = Exchange(turn, before.metadata.rewritten_query or turn, before.text)
            asked = replace(asked, conversation=(*asked.conversation, exchange))
        started = time.perf_counter()
        answer = await pincite.ask(asked, caller=caller, settings=settings)
    except (BadRequest, OverBudget) as error:
        ms = round((time.perf_counter() - started) * 1000, 3)
        result = AnswerResult("wrong", error.code, question.kind, question.language, 0, "low", ms)
        return JudgedAnswer(question, result, "", (f"questions without an answer: {error.code}",))
    ms = round((time.perf_counter() - started) * 1000, 3)
    given = given_answer(answer)
    verdict, reason = judge_answer(question, given)
    words, level = len(given.text.split()), answer.confidence.level
    result = AnswerResult(verdict, reason, question.kind, question.language, words, level, ms)
    return JudgedAnswer(question, result, answer.text, tuple(f"{one.stage}: {one.reason}" for one in answer.degraded))


def given_answer(answer: Answer) -> GivenAnswer:
    """Return an answer as it is judged: without citation marks, with the names of the cited files.

    It refuses if it cites nothing and says that it does not know.
    """
    text = answer.text
    for citation in sorted(answer.citations, key=lambda one: -one.start):
        text = text[: citation.start].rstrip(" ") + text[citation.end :] if citation.text else text
    cited = {source.document_name for source in answer.sources if source.cited}
    return GivenAnswer(text, cited, not cited and _refuses(text))


def _refuses(text: str) -> bool:
    pattern = lang.regex("model_output.refusal", question_language(text), flags=re.IGNORECASE)
    return pattern.search(text) is not None
