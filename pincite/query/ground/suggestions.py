"""Questions to go on with that the documents can really answer."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.hits import Evidence, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import Unavailable
from pincite.models.calibration import known_calibration, learn_calibration
from pincite.query.ground.sentence_questions import sentence_question
from pincite.query.rank.relevance import relevance
from pincite.text import lang
from pincite.text.sentences import sentences
from pincite.text.terms import question_language, terms, words

MAX_SUGGESTIONS = 3
COMPARED_PASSAGES = 3
"""Passages that a suggested question is compared with."""
MAX_LEAD_CHARS = 400
"""Characters at its beginning from which a passage's questions are made."""
MIN_PASSAGE_WORDS = 12
"""Words of a passage that has something to tell beside its heading."""


async def suggested_questions(
    run: Run, plan: Plan, evidence: Evidence, cited: Collection[int], written: Sequence[str]
) -> tuple[str, ...]:
    """Questions to ask next: the model's own that the documents can answer, else made from passages not cited."""
    wanted = run.settings.answers.suggestions
    if wanted == "off":
        return ()
    if wanted == "model":
        return tuple(written)
    if written:
        return await _answerable(run, plan, written)
    return tuple(islice(_questions_from_passages(plan, evidence, cited), MAX_SUGGESTIONS))


async def _answerable(run: Run, plan: Plan, questions: Sequence[str]) -> tuple[str, ...]:
    """Those that the same documents say something relevant about, by meaning and by words."""
    try:
        calibration = known_calibration(run.kit.embedder) or await learn_calibration(run.kit.embedder)
        vectors = await run.embed(questions)
        near = [
            await run.kit.index.dense(vector, scope=run.scope, filters=plan.question.filters, limit=COMPARED_PASSAGES)
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


def _questions_from_passages(plan: Plan, evidence: Evidence, cited: Collection[int]) -> Iterator[str]:
    """Questions that passages found but not cited answer, in the language of the one that was asked, best first."""
    language = question_language(plan.text)
    asked = frozenset(terms(plan.text, language))
    made = set[str]()
    seen = {_section(hit.chunk) for number, hit in enumerate(evidence.hits, start=1) if number in cited}
    for number, hit in enumerate(evidence.hits, start=1):
        chunk = hit.chunk
        if (
            number in cited
            or _section(chunk) in seen
            or chunk.language != language
            or len(chunk.text.split()) < MIN_PASSAGE_WORDS
        ):
            continue
        seen.add(_section(chunk))
        question = passage_question(chunk.text, chunk.heading_path, language)
        if question and question not in made and not frozenset(terms(question, language)) <= asked:
            made.add(question)
            yield question


def _section(chunk: RetrievedChunk) -> tuple[str, tuple[str, ...]]:
    return chunk.document_id, chunk.heading_path


def passage_question(text: str, heading_path: Sequence[str], language: str) -> str | None:
    """A question that a passage answers: its heading, or one made from its first sentences."""
    heading = heading_path[-1] if heading_path else ""
    return heading_as_question(heading, language) or _first_question(text[:MAX_LEAD_CHARS], language)


def heading_as_question(heading: str, language: str) -> str | None:
    """A heading that is a question itself."""
    heading = _NUMBERED.sub("", heading.strip(" #*`"))
    is_question = heading.endswith("?") and len(heading) <= MAX_HEADING_CHARS
    return heading if is_question and len(terms(heading, language)) > 1 else None


def _first_question(lead: str, language: str) -> str | None:
    """What the first sentences of a passage answer or define, as a question."""
    for start, end in sentences(lead):
        if question := sentence_question(lead[start:end], language):
            return question
        definite = lang.own_regex("suggested.definite", language, r"\s*%s\b").match(lead, start)
        if not definite and (found := definition_question(lead[start:end], language)):
            return found[0]  # `What is the exception?` says nothing alone
    return None


MAX_HEADING_CHARS = 100

_NUMBERED = re.compile(r"^(?:\d++[.)]?)++\s+|^[A-Z][.)]\s+")


def heading_question(heading_path: tuple[str, ...], title: str, language: str) -> str | None:
    """A question about what stands under a heading, with the one above it where it says little alone."""
    path = tuple(part for part in heading_path if part != NO_HEADINGS)
    if not path or not lang.sequence("answers.ask_about", language):
        return None
    what, where = _clean_heading(path[-1]), _clean_heading(path[-2] if len(path) > 1 else title)
    content = terms(what, language)
    if not content or len(what) > MAX_HEADING_CHARS:
        return None
    if lang.regex("questions.heading_questions", language, r"%s\b", re.IGNORECASE).match(what):
        return f"{what}?" if len(content) > 1 else f"{where}: {what}?"
    form = "answers.ask_about" if len(content) > 1 else "answers.ask_within"
    return lang.message(form, language).format(what=what, where=where)


def _clean_heading(heading: str) -> str:
    """A heading without its number, mark-up and final stop."""
    return _NUMBERED.sub("", heading.strip(" :.?!#*`"))


def definition_question(sentence: str, language: str) -> tuple[str, list[str]] | None:
    """`X is a …` → `What is X?`, and the terms of X; None where nothing is defined that can be asked for alone."""
    found = lang.own_regex("answers.definition", language).match(sentence)
    if found is None:
        return None
    named = lang.regex("answers.definition_article", language, r"%s\b ?").sub("", found["what"], count=1)
    content = terms(named, language)
    points = lang.regex("answers.points_elsewhere", language, "%s$", re.IGNORECASE)
    if not content or points.match(named.split()[0]) or len(content) < len(words(named)):
        return None
    article = found["what"].removesuffix(named).lower()
    return lang.message("answers.ask_definition", language).format(verb=found["verb"], what=article + named), content
