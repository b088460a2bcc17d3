"""What may come in."""

from dataclasses import replace

from pincite.core.answers import Question
from pincite.core.run import Run
from pincite.errors import Invalid


async def guard_in(run: Run, question: Question) -> Question:
    """Refuse a question that is empty, too long or one of too many; drop what a database cannot hold."""
    limit, most = run.settings.guard.max_query_chars, run.settings.rag.max_queries
    texts = [text.replace("\0", " ").strip() for text in (question.text, *question.also)]
    if len(texts) > most:
        raise Invalid(f"{len(texts)} queries at once are too many; send at most {most} (rag.max_queries)")
    for text in texts:
        if not text:
            raise Invalid("the question is empty; ask something", code="empty_query")
        if len(text) > limit:
            raise Invalid(
                f"the question has {len(text)} characters; ask in at most {limit} (guard.max_query_chars)",
                code="query_too_long",
            )
    run.observe(characters=sum(map(len, texts)), queries=len(texts))
    return replace(question, text=texts[0], also=tuple(texts[1:]))
