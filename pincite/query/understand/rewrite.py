"""A follow-up becomes a question that can be understood alone; on any doubt it stays as it was asked."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.prompt import Prompt
from pincite.core.query.question import Exchange, Question
from pincite.core.run import Run
from pincite.models.facts import facts_of
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt
from pincite.query.understand.coreference import make_standalone
from pincite.query.understand.followup import is_follow_up
from pincite.text.terms import question_language, terms, words

MAX_MESSAGES = 6
"""Messages a model is shown, each cut to `CUT` characters."""
MAX_MESSAGE_CHARS = 500
MAX_ANSWER_CHARS = 4000
"""Characters of an earlier answer that are looked at for what a question points at."""
REWRITE_TIMEOUT_S = 20.0
"""A model that takes longer to put a question into other words is not waited for."""
MAX_REWRITE_TOKENS, MAX_REWRITE_CHARS = 120, 600

_LABEL = re.compile(
    r"^\W*(?:standalone question|question|rewritten question|eigenständige frage|frage)\s*:\s*", re.IGNORECASE
)
_TALK = re.compile(
    r"\bas an ai\b|\bi(?:'m| am) (?:sorry|unable|not able)|\bi (?:cannot|can't|don't have)\b|\bhere is\b|\bsure[,!]|\bstandalone\b|"
    r"\brewrit|\bassistant\b|</?think|\bes tut mir leid\b|\bich kann (?:leider )?nicht\b|\bals ki\b|\bgerne[,!]|\bhier ist die\b|"
    r"\bumformulier|\[source",
    re.IGNORECASE,
)  # fmt: skip
"""What a model says about its task instead of doing it."""


async def query_rewriting(run: Run, question: Question) -> Question:
    """The question with what it means on its own, where it leans on the conversation and that is beyond doubt."""
    longest = run.settings.guard.max_query_chars
    conversation = resolve_follow_ups(question.conversation, longest)
    wanted = run.settings.conversation.query_rewriting_enabled and is_follow_up(question.text, conversation)
    run.observe(follow_up=wanted)
    if not wanted:
        return replace(question, conversation=conversation)
    read = [_truncate_turn(turn, longest) for turn in conversation]
    prompt = _prompt(run, question, read)
    if prompt is None:
        guess = make_standalone(question.text, read)
        run.observe(rewritten_by="words", changed=guess != question.text)
        return _with_standalone(question, conversation, guess, guessed=True)
    text = _first_line(
        await complete(prompt, Bounds(REWRITE_TIMEOUT_S, MAX_REWRITE_TOKENS, MAX_REWRITE_CHARS), run=run)
    )
    doubt = find_doubt(text, question.text, read)
    run.observe(rewritten_by="model", doubt=doubt)
    return _with_standalone(question, conversation, question.text if doubt else text)


def _with_standalone(
    question: Question, conversation: tuple[Exchange, ...], text: str, *, guessed: bool = False
) -> Question:
    same = text.strip() == question.text.strip()
    searchable = bool(terms(question.text, question_language(question.text)))  # `Why?` finds nothing by itself
    return replace(
        question,
        conversation=conversation,
        standalone=None if same else text,
        guessed=guessed and not same and searchable,
    )


def resolve_follow_ups(conversation: Sequence[Exchange], longest: int) -> tuple[Exchange, ...]:
    """The conversation with every follow-up in it understood; a caller who keeps it himself sends it as it was asked."""
    whole: list[Exchange] = []
    read: list[Exchange] = []
    for turn in conversation:
        seen = _truncate_turn(turn, longest)
        if turn.standalone == turn.question and is_follow_up(seen.question, read):
            seen = replace(seen, standalone=make_standalone(seen.question, read))
            turn = replace(turn, standalone=seen.standalone)
        whole.append(turn)
        read.append(seen)
    return tuple(whole)


def _truncate_turn(turn: Exchange, longest: int) -> Exchange:
    """A turn as far as it is looked at: a caller may send along what no question or answer here could be."""
    return Exchange(turn.question[:longest], turn.standalone[:longest], turn.answer[:MAX_ANSWER_CHARS])


def _prompt(run: Run, question: Question, conversation: Sequence[Exchange]) -> Prompt | None:
    """What the model is asked, the oldest lines left out until it fits; None for a model too small for it, or none."""
    if run.kit.llm is run.kit.extractive or facts_of(run.model_of(question)).tier == "up_to_3b":
        return None
    lines, bounds = transcript_lines(conversation), Bounds(REWRITE_TIMEOUT_S, MAX_REWRITE_TOKENS, MAX_REWRITE_CHARS)
    while lines:
        fills = {"conversation": "\n".join(lines), "question": question.text}
        if prompt := render_prompt("rewrite", question, fills, bounds, run=run):
            return prompt
        lines.pop(0)
    return None


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _LABEL.sub("", line).strip().strip("\"'„“”«»` ")


def transcript_lines(conversation: Sequence[Exchange]) -> list[str]:
    """The last messages, oldest first, one a line."""
    lines: list[str] = []
    for turn in conversation:
        lines.append(f"User: {' '.join(turn.question.split())[:MAX_MESSAGE_CHARS]}")
        if turn.answer:
            lines.append(f"Assistant: {' '.join(turn.answer.split())[:MAX_MESSAGE_CHARS]}")
    return lines[-MAX_MESSAGES:]


def find_doubt(written: str, asked: str, conversation: Sequence[Exchange]) -> str | None:
    """Why a rewritten question is not to be trusted, or nothing."""
    said = (
        " ".join(part for turn in conversation for part in (turn.question, turn.standalone, turn.answer)) + f" {asked}"
    )
    language = question_language(f"{asked} {conversation[-1].standalone}")
    content = set(terms(asked, language))
    checks = {
        "empty": not written,
        "too long": len(written) > max(300, 3 * len(asked) + 200),
        "not a question": asked.rstrip().endswith("?") and not written.endswith("?"),
        "talks about the task": bool(_TALK.search(written)),
        "another language": question_language(written) != language,
        "lost the question": bool(content) and not content & set(terms(written, language)),
        "invented": bool(_invented_terms(written, said)),
    }
    return next((reason for reason, holds in checks.items() if holds), None)


def _invented_terms(written: str, said: str) -> list[str]:
    """Numbers and names that nobody has mentioned; part of a compound counts as mentioned."""
    known = " ".join(words(said))
    tokens = re.findall(r"[^\W_][\w.,-]*", written)
    special = [token for n, token in enumerate(tokens) if any(map(str.isdigit, token)) or (n and token[0].isupper())]
    return [token for token in special for word in words(token) if word not in known and word[:5] not in known]
