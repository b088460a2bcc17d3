"""Questions to go on with that the documents can really answer."""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from pincite.core.query.hits import Evidence, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import Unavailable
from pincite.models.calibration import known_calibration, learn_calibration
from pincite.query.ground.question_templates import about, defined
from pincite.query.rank.relevance import relevance
from pincite.text.sentences import sentences
from pincite.text.terms import question_language, terms

MOST = 3
NEAREST = 3
"""Passages that a suggested question is compared with."""
LEAD = 300
"""Characters at its beginning in which a passage may define something."""
FEWEST = 12
"""Words of a passage that has something to tell beside its heading."""

_FORM = frozenset({"said", "steht"})
"""Words that are the question's own and not its subject's."""


async def suggestions(
    plan: Plan, evidence: Evidence, cited: Collection[int], written: Sequence[str], *, run: Run
) -> tuple[str, ...]:
    """The model's suggestions that a search finds passages for; without any, what else was found is asked about."""
    wanted = run.settings.answers.suggestions
    if wanted == "off":
        return ()
    if wanted == "model":
        return tuple(written)
    if written:
        return await _answerable(run, plan, written)
    return tuple(islice(_made(plan, evidence, cited), MOST))


async def _answerable(run: Run, plan: Plan, questions: Sequence[str]) -> tuple[str, ...]:
    """Those that the same documents say something relevant about, by meaning and by words."""
    try:
        calibration = known_calibration(run.kit.embedder) or await learn_calibration(run.kit.embedder)
        vectors = await run.embed(questions)
        near = [
            await run.kit.index.dense(vector, scope=run.scope, filters=plan.question.filters, limit=NEAREST)
            for vector in vectors
        ]
        keys = list(dict.fromkeys(match.key for found in near for match in found))
        fetched = await run.kit.index.fetch(keys, vectors, scope=run.scope, filters=plan.question.filters)
    except Unavailable as error:
        run.degrade("suggestions", f"suggested questions were not checked: {error}")
        return tuple(questions)
    least = run.settings.rag.similarity_threshold
    return tuple(
        question
        for question, found in zip(questions, near, strict=True)
        if any(
            relevance([question], fetched.chunks[match.key], match.score, calibration) >= least
            for match in found
            if match.key in fetched.chunks
        )
    )


def _made(plan: Plan, evidence: Evidence, cited: Collection[int]) -> Iterator[str]:
    """Questions that passages found but not cited answer, in the language of the one that was asked, best first."""
    language = question_language(plan.text)
    asked = frozenset(terms(plan.text, language))
    made = set[str]()
    seen = {_section(hit.chunk) for number, hit in enumerate(evidence.hits, start=1) if number in cited}
    for number, hit in enumerate(evidence.hits, start=1):
        chunk = hit.chunk
        if number in cited or _section(chunk) in seen or chunk.language != language or len(chunk.text.split()) < FEWEST:
            continue
        seen.add(_section(chunk))
        question = about(chunk.heading_path, chunk.title, language) or _about_a_definition(chunk)
        if question and question not in made and not frozenset(terms(question, language)) - _FORM <= asked:
            made.add(question)
            yield question


def _section(chunk: RetrievedChunk) -> tuple[str, tuple[str, ...]]:
    return chunk.document_id, chunk.heading_path


def _about_a_definition(chunk: RetrievedChunk) -> str | None:
    """What a passage begins to define."""
    lead = chunk.text[:LEAD]
    found = next((made for start, end in sentences(lead) if (made := defined(lead[start:end], chunk.language))), None)
    return found[0] if found else None
