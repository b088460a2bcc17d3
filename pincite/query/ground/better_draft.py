"""Whether the sentences that code quotes are better than what a model wrote, by the check of claims."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.prompt import NO_ANSWER, Draft, Prompt
from pincite.query.ground.check_claims import ClaimCheck
from pincite.query.ground.support import MIN_SUPPORT
from pincite.text.terms import question_language


def is_unsupported(prompt: Prompt, draft: Draft, check: ClaimCheck) -> bool:
    """Whether the sources support less than half of the sentences of a model's draft.

    Not where pictures may support it, or where no source is in the language of the question: rules compare words.
    """
    if draft.quotes or not check.verdicts or any(message.pictures for message in prompt.messages):
        return False
    own = question_language(prompt.question)
    same_language = any(hit.chunk.language == own for hit in prompt.sources)
    sentences = check.groundedness.sentences
    unsupported = sum(one.support < MIN_SUPPORT for one in sentences)
    return same_language and 2 * unsupported > len(sentences)


def is_better(quoted: Draft, quoted_check: ClaimCheck, check: ClaimCheck) -> bool:
    """Whether a quoted draft is better supported; a refusal is, where the sources contradict the model's draft."""
    if quoted.finish_reason == NO_ANSWER:
        return any(verdict.refuted for verdict in check.verdicts.values())
    return quoted_check.groundedness.score > check.groundedness.score


def replaced(draft: Draft, quoted: Draft) -> Draft:
    """The quoted draft, with the model's name, tokens and suggestions."""
    suggested = draft.suggested_questions
    return replace(quoted, replaces=draft.model, usage=draft.usage, suggested_questions=suggested)


def replacement_warning(draft: Draft, quoted: Draft, check: ClaimCheck) -> str:
    """What is said of a draft that was replaced, with the first reason."""
    reason = _first_reason([verdict.reason for verdict in check.verdicts.values()])
    shown = "the refusal" if quoted.finish_reason == NO_ANSWER else "sentences quoted from the documents"
    return f"the sources do not support the answer of {draft.model or 'the model'}{reason}; this is {shown} instead"


def _first_reason(reasons: Sequence[str | None]) -> str:
    found = next((reason for reason in reasons if reason), "")
    return f" (it {found})" if found.startswith(("says ", "names ", "is about ")) else ""
