"""Input checks: length, number of queries, mode, prompt injection."""

from dataclasses import replace

from pincite.core.protocols import Discoverable
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.errors import Invalid
from pincite.text.injection import notices


async def guardrails(
    run: Run, question: Question, *, answered: bool = True, max_queries: int | None = None
) -> Question:
    """Refuse a question that is empty or too long, or too many queries; remove NUL characters.

    With `answered`, a model will answer the question: then mode and prompt injection are checked as well.
    `max_queries` takes the place of the setting, for a tool with a limit of its own.
    """
    max_chars, limit = run.settings.guard.max_query_chars, max_queries or run.settings.rag.max_queries
    texts = [_clean(text) for text in (question.text, *question.also)]
    if len(texts) > limit:
        raise Invalid(f"{len(texts)} queries at once are too many; send at most {limit} (rag.max_queries)")
    query = None if question.query is None else _clean(question.query)
    for text in (*texts, *(() if query is None else (query,))):
        if not text:
            raise Invalid("the question is empty; ask something", code="empty_query")
        if len(text) > max_chars:
            raise Invalid(
                f"the question has {len(text)} characters; ask in at most {max_chars} (guard.max_query_chars)",
                code="query_too_long",
            )
    if answered:
        _check_mode(question)
        _check_injection(run, texts[0] if query is None else f"{texts[0]}\n{query}")
    run.observe(characters=sum(map(len, texts)), queries=len(texts))
    return replace(question, text=texts[0], also=tuple(texts[1:]), query=query)


def _clean(text: str) -> str:
    return text.replace("\0", " ").strip()


def _check_mode(question: Question) -> None:
    """Refuse pictures in another mode than `vision`, and the mode `vision` without pictures."""
    if question.mode == "vision" and not question.pictures:
        raise Invalid("the mode 'vision' needs pictures; send some (images), or use the mode 'chat'", code="no_images")
    if question.pictures and question.mode != "vision":
        raise Invalid(
            f"the mode '{question.mode}' does not use pictures; use the mode 'vision'", code="images_not_seen"
        )


def _check_injection(run: Run, text: str) -> None:
    """Warn of a question that looks like a prompt injection, or refuse it, as `guard.injection` says."""
    mode = run.settings.guard.injection
    found = () if mode == "off" else notices(text)
    if found and mode == "block":
        raise Invalid(
            f"the question {found[0]}; ask about the documents in other words (guard.injection)", code="query_refused"
        )
    run.warnings.extend(f"the question {what}" for what in found)


async def model_lookup(run: Run) -> None:
    """Ask the model's server once for its model and context window; without an answer, the defaults are used."""
    if isinstance(run.kit.llm, Discoverable):
        await run.kit.llm.discover()
