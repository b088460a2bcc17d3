"""The effort level of a question: which features it enables, who chose it, and a summary for the plan."""

from dataclasses import dataclass

from pincite.config.settings import Settings
from pincite.core.query.plan import QuestionAnalysis
from pincite.core.query.question import EffortLevel, Question
from pincite.query.understand.strategy import is_abstract


def level_of(question: Question, settings: Settings) -> EffortLevel | None:
    """The level whose settings apply to a question; None where the settings are used unchanged."""
    configured = settings.answers.level
    return question.intelligence_level or (None if configured == "standard" else configured)


def uses_chain_of_thought(settings: Settings, analysis: QuestionAnalysis) -> bool:
    """Whether the model shall reason step by step; with `auto`, where the kind of question benefits from it."""
    chosen = settings.answers.chain_of_thought
    return chosen == "on" or (chosen == "auto" and analysis.hints.chain_of_thought)


@dataclass(frozen=True, slots=True)
class LevelSummary:
    """The level of a question, who chose it, and the features it enables beyond a search and a direct answer.

    `left_out` are features that the level enables and the mode of the question does not use.
    """

    level: EffortLevel
    reason: str
    features: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def is_chosen(self) -> bool:
        """Whether the request or the settings name the level."""
        return self.reason != LEVEL_NOT_SET

    def to_text(self, analysis: QuestionAnalysis) -> str:
        """The summary in one line, with further features that this kind of question would benefit from."""
        hints = {CHAIN_OF_THOUGHT: analysis.hints.chain_of_thought, GRAPH: analysis.hints.graph}
        unused = [hint for hint, useful in hints.items() if useful and hint not in self.features]
        features = f"; {', '.join(self.features)}" if self.features else ""
        return f"level {self.level}: {self.reason}{features}" + (
            f"; would benefit from {', '.join(unused)}" if unused else ""
        )


LEVEL_NOT_SET, CHAIN_OF_THOUGHT, GRAPH = "the settings as they are", "chain of thought", "a graph"
RULE_VERIFICATION, CLAIM_JUDGING = "verification by rules", "claims judged by the model"


def summarize_level(
    question: Question, settings: Settings, analysis: QuestionAnalysis, *, retrieval: bool
) -> LevelSummary:
    """The level of a question with its enabled features; `retrieval` says whether documents are searched.

    In agent mode, passages are verified by rules, and the model writes every query and the answer itself: no other
    feature but the judging of claims applies.
    """
    rag, answers = settings.rag, settings.answers
    configured = LEVEL_NOT_SET if answers.level == "standard" else "answers.level says so"
    enabled = {
        "query variations": rag.query_expansion_enabled,
        "step-back question": rag.step_back_enabled,
        "hypothetical answer": rag.hyde_enabled and is_abstract(question.search_text, analysis),
        RULE_VERIFICATION: rag.verification_enabled and rag.verification_by == "rules",
        "verification by the model": rag.verification_enabled and rag.verification_by == "model",
        "second pass": rag.second_look,
        GRAPH: rag.knowledge_graph_enabled,
        "dual-level retrieval": rag.dual_level,
        "tree of summaries": rag.tree,
        "late interaction": rag.late_interaction,
        CHAIN_OF_THOUGHT: uses_chain_of_thought(settings, analysis),
        "extended thinking": answers.extended_thinking,
        f"{answers.drafts} drafts that vote": answers.ensemble_voting,
        CLAIM_JUDGING: settings.grounding.judge == "model",
    }
    reason = "the request says so" if question.intelligence_level else configured
    active = tuple(feature for feature, chosen in enabled.items() if chosen)
    if question.mode != "agent":
        return LevelSummary(answers.level, reason, active if retrieval else ())
    kept = (
        *([RULE_VERIFICATION] if rag.verification_enabled else []),
        *(feature for feature in active if feature == CLAIM_JUDGING),
    )
    return LevelSummary(answers.level, reason, kept, tuple(feature for feature in active if feature not in kept))
