"""Rewrite a follow-up as a question that can be understood alone; a doubtful rewriting is not used."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.prompt import Prompt
from pincite.core.query.question import Exchange, Question
from pincite.core.run import Run
from pincite.models.facts import facts_of
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt
from pincite.query.prompt.structured import REWRITTEN_SCHEMA, parse_object
from pincite.query.understand.followup import is_bare, is_follow_up, is_sentence
from pincite.query.understand.standalone.coreference import make_standalone, place_beside
from pincite.text import lang
from pincite.text.terms import may_be_in, question_language, terms, words

MAX_MESSAGES = 6
"""Messages of the conversation in the prompt."""
MAX_MESSAGE_CHARS = 500
"""Characters of each of these messages."""
MAX_ANSWER_CHARS = 4000
"""Characters of an earlier answer that are searched for the antecedent of a reference."""
REWRITE_TIMEOUT_S = 20.0
"""Timeout of the model for rewriting a question, in seconds."""
MAX_REWRITE_TOKENS, MAX_REWRITE_CHARS = 120, 600
"""Limits of the rewritten question."""

_BRACKETED = re.compile(r"\(([^()]+)\)")
_LABEL = r"^\W*%s\s*:\s*"
_TALK = r"%s|</?think|\[source"
"""What a model says about its task instead of doing it."""


async def query_rewriting(run: Run, question: Question) -> Question:
    """The question with its standalone form, where it is a follow-up and the rewriting is not doubtful.

    Where the caller gave a query to search for, that is rewritten, or is itself the standalone form of a follow-up.
    """
    max_chars = run.settings.guard.max_query_chars
    conversation = resolve_follow_ups(question.conversation, max_chars)
    text = question.query or question.text
    rewrite = run.settings.conversation.query_rewriting_enabled and is_follow_up(text, conversation)
    run.observe(follow_up=rewrite)
    if not rewrite:
        stands_for = question.query if is_follow_up(question.text, conversation) else None
        return replace(question, conversation=conversation, standalone=stands_for or question.standalone)
    truncated = [_truncate_turn(turn, max_chars) for turn in conversation]
    prompt = _prompt(run, question, truncated)
    if prompt is None:
        made = make_standalone(text, truncated)
        run.observe(rewritten_by="words", changed=made is not None)
        guess = made or place_beside(text, truncated)
        return _with_standalone(question, conversation, guess, guessed=True)
    written = _first_line(
        await complete(prompt, Bounds(REWRITE_TIMEOUT_S, MAX_REWRITE_TOKENS, MAX_REWRITE_CHARS), run=run)
    )
    doubt = find_doubt(written, text, truncated)
    run.observe(rewritten_by="model", doubt=doubt)
    return _with_standalone(question, conversation, text if doubt else written)


def _with_standalone(
    question: Question, conversation: tuple[Exchange, ...], text: str, *, guessed: bool = False
) -> Question:
    asked = question.query or question.text
    same = text.strip() == asked.strip()
    language = question_language(asked)
    searchable = bool(terms(asked, language)) and not is_bare(asked, language)  # `Why?` finds nothing
    if text.endswith(f" {asked}") and not is_sentence(asked, language):
        searchable = False  # `And Kassel?` alone would find anything about Kassel
    return replace(
        question,
        conversation=conversation,
        standalone=None if same else text,
        guessed=guessed and not same and searchable,
    )


def resolve_follow_ups(conversation: Sequence[Exchange], max_chars: int) -> tuple[Exchange, ...]:
    """The conversation with a standalone form of every follow-up; callers send their conversations without these."""
    resolved: list[Exchange] = []
    truncated: list[Exchange] = []
    for turn in conversation:
        shortened = _truncate_turn(turn, max_chars)
        if turn.standalone == turn.question and is_follow_up(shortened.question, truncated):
            guess = make_standalone(shortened.question, truncated) or place_beside(shortened.question, truncated)
            shortened = replace(shortened, standalone=guess)
            turn = replace(turn, standalone=shortened.standalone)
        resolved.append(turn)
        truncated.append(shortened)
    return tuple(resolved)


def _truncate_turn(turn: Exchange, max_chars: int) -> Exchange:
    """A turn cut to the limits; a conversation that the caller sends may hold texts of any length."""
    return Exchange(turn.question[:max_chars], turn.standalone[:max_chars], turn.answer[:MAX_ANSWER_CHARS])


def _prompt(run: Run, question: Question, conversation: Sequence[Exchange]) -> Prompt | None:
    """The prompt, without the oldest lines where it would not fit; None without a model or for a small one."""
    if run.kit.llm is run.kit.extractive or facts_of(run.model_of(question)).tier == "up_to_3b":
        return None
    lines, bounds = transcript_lines(conversation), Bounds(REWRITE_TIMEOUT_S, MAX_REWRITE_TOKENS, MAX_REWRITE_CHARS)
    while lines:
        fills = {"conversation": "\n".join(lines), "question": question.query or question.text}
        if prompt := render_prompt("rewrite", question, fills, bounds, run=run, schema=REWRITTEN_SCHEMA):
            return prompt
        lines.pop(0)
    return None


def _first_line(text: str) -> str:
    """The rewritten question: the field of a JSON object, or else the first line without a label."""
    text = str((parse_object(text) or {}).get("question", text))
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return (
        lang.regex("model_output.rewrite_labels", template=_LABEL, flags=re.IGNORECASE)
        .sub("", line)
        .strip()
        .strip("\"'„“”«»` ")
    )


def transcript_lines(conversation: Sequence[Exchange]) -> list[str]:
    """The last messages of the conversation, one per line, oldest first."""
    lines: list[str] = []
    for turn in conversation:
        lines.append(f"User: {' '.join(turn.question.split())[:MAX_MESSAGE_CHARS]}")
        if turn.answer:
            lines.append(f"Assistant: {' '.join(turn.answer.split())[:MAX_MESSAGE_CHARS]}")
    return lines[-MAX_MESSAGES:]


def find_doubt(written: str, asked: str, conversation: Sequence[Exchange]) -> str | None:
    """The reason why a rewritten question is doubtful; None where it can be used."""
    conversation_text = (
        " ".join(part for turn in conversation for part in (turn.question, turn.standalone, turn.answer)) + f" {asked}"
    )
    language = question_language(f"{asked} {conversation[-1].standalone}")
    talk = lang.regex("model_output.rewrite_talk", language, _TALK, re.IGNORECASE)
    content = set(terms(asked, language))
    checks = {
        "empty": not written,
        "too long": len(written) > max(300, 3 * len(asked) + 200),
        "not a question": asked.rstrip().endswith("?") and not written.endswith("?"),
        "talks about the task": bool(talk.search(written)),
        "another language": not any(may_be_in(written, one) for one in (language, question_language(asked))),
        "lost the question": bool(content) and not content & set(terms(written, language)),
        "repeats a question in brackets": _repeats_in_brackets(written, asked, conversation),
        "invented": bool(_invented_terms(written, conversation_text)),
    }
    return next((reason for reason, holds in checks.items() if holds), None)


def _repeats_in_brackets(written: str, asked: str, conversation: Sequence[Exchange]) -> bool:
    """Whether words of an earlier question were added in brackets, which makes no question of a follow-up."""
    before = {" ".join(words(text)) for turn in conversation for text in (turn.question, turn.standalone)}
    added = [" ".join(words(inner)) for inner in _BRACKETED.findall(written) if inner not in asked]
    return any(inner and inner in text for inner in added for text in before)


def _invented_terms(written: str, conversation_text: str) -> list[str]:
    """Numbers and names of the rewritten question that are not in the conversation, not even inside a word."""
    known = " ".join(words(conversation_text))
    tokens = re.findall(r"[^\W_][\w.,-]*", written)
    special = [token for n, token in enumerate(tokens) if any(map(str.isdigit, token)) or (n and token[0].isupper())]
    return [token for token in special for word in words(token) if word not in known and word[:5] not in known]
