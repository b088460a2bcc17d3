"""How much is done for an answer, and who decided it: the level of a question, in words."""

from dataclasses import dataclass

from pincite.config.levels import levels
from pincite.config.settings import Settings
from pincite.core.query.answer import Degraded
from pincite.core.query.plan import QuestionAnalysis
from pincite.core.query.question import EffortLevel, Question


def level_of(question: Question, settings: Settings) -> EffortLevel | None:
    """The level whose values a question is answered by; None where the settings are used as they are."""
    configured = settings.answers.level
    return question.intelligence_level or (None if configured == "standard" else configured)


def missing_features(level: EffortLevel) -> list[Degraded]:
    """What a level would use but this installation does not have."""
    return [
        Degraded(stage, f"{reason}; the level {level} went without it")
        for stage, reason in levels()[level].waiting.items()
    ]


def uses_chain_of_thought(settings: Settings, reading: QuestionAnalysis) -> bool:
    """Whether the model is to reason step by step: always, never, or where that serves a question of this kind."""
    wished = settings.answers.chain_of_thought
    return wished == "on" or (wished == "auto" and reading.hints.chain_of_thought)


@dataclass(frozen=True, slots=True)
class LevelSummary:
    """A question's level, why it is that one, and what is done at it beyond a search and a direct answer.

    `left_out` is what the level switches on and the question's mode goes without.
    """

    level: EffortLevel
    because: str
    done: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def decides(self) -> bool:
        """Whether somebody named it: else it is the settings as they are."""
        return self.because != LEVEL_NOT_SET

    def told(self, reading: QuestionAnalysis) -> str:
        """All of it in one line, and what would serve a question of this kind beside it."""
        hints = {CHAIN_OF_THOUGHT: reading.hints.chain_of_thought, "a graph": reading.hints.graph}
        wished = [hint for hint, wish in hints.items() if wish and hint not in self.done]
        done = f"; {', '.join(self.done)}" if self.done else ""
        return f"level {self.level}: {self.because}{done}" + (
            f"; would be served by {', '.join(wished)}" if wished else ""
        )


LEVEL_NOT_SET, CHAIN_OF_THOUGHT = "the settings as they are", "chain of thought"
RULE_VERIFICATION, CLAIM_JUDGING = "verification by rules", "claims judged by the model"


def summarize_level(question: Question, settings: Settings, reading: QuestionAnalysis, *, looks: bool) -> LevelSummary:
    """The level a question is answered at, with what its settings switch on; `looks` is whether documents are looked into.

    Whoever looks things up step by step judges by rules what each search finds, and words every search and its answer itself.
    """
    rag, answers = settings.rag, settings.answers
    configured = LEVEL_NOT_SET if answers.level == "standard" else "answers.level says so"
    switched = {
        "other wordings": rag.query_expansion_enabled,
        "the question behind it": rag.step_back_enabled,
        "a supposed answer": rag.hyde_enabled,
        RULE_VERIFICATION: rag.verification_enabled and rag.verification_by == "rules",
        "verification by the model": rag.verification_enabled and rag.verification_by == "model",
        "a second look": rag.second_look,
        CHAIN_OF_THOUGHT: uses_chain_of_thought(settings, reading),
        "extended thinking": answers.extended_thinking,
        f"{answers.drafts} drafts that vote": answers.ensemble_voting,
        CLAIM_JUDGING: settings.grounding.judge == "model",
    }
    because = "the request says so" if question.intelligence_level else configured
    on = tuple(what for what, wished in switched.items() if wished)
    if question.mode != "agent":
        return LevelSummary(answers.level, because, on if looks else ())
    kept = (*([RULE_VERIFICATION] if rag.verification_enabled else []), *(what for what in on if what == CLAIM_JUDGING))
    return LevelSummary(answers.level, because, kept, tuple(what for what in on if what not in kept))
