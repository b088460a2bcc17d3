"""Suggested follow-up questions that the documents can answer."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.hits import Evidence, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import Unavailable
from pincite.models.calibration import known, learn
from pincite.query.rank.relevance import relevance
from pincite.text.sentences import sentences
from pincite.text.terms import question_language, terms, words

MAX_SUGGESTIONS = 3
"""Questions that are suggested."""
COMPARED_PASSAGES = 3
"""Passages that a suggested question is compared with."""
MAX_DEFINITION_CHARS = 300
"""Characters at the start of a passage that are searched for a definition."""
MIN_PASSAGE_WORDS = 12
"""Words of a passage that is worth a question about it."""

_FORM = frozenset({"said", "steht"})
"""Words that are the question's own and not its subject's."""


async def suggested_questions(
    run: Run, plan: Plan, evidence: Evidence, cited: Collection[int], written: Sequence[str]
) -> tuple[str, ...]:
    """The suggested questions: answerable ones of the model, else questions made from passages not cited."""
    wanted = run.settings.answers.suggestions
    if wanted == "off":
        return ()
    if wanted == "model":
        return tuple(written)
    if written:
        return await _answerable(run, plan, written)
    return tuple(islice(_questions_from_passages(plan, evidence, cited), MAX_SUGGESTIONS))


async def _answerable(run: Run, plan: Plan, questions: Sequence[str]) -> tuple[str, ...]:
    """The questions for which the documents have a relevant passage."""
    try:
        calibration = known(run.kit.embedder) or await learn(run.kit.embedder)
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
    """Questions about the passages that were found but not cited, best first, in the language of the question."""
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
        question = heading_question(chunk.heading_path, chunk.title, language) or _first_definition(chunk)
        if question and question not in made and not frozenset(terms(question, language)) - _FORM <= asked:
            made.add(question)
            yield question


def _section(chunk: RetrievedChunk) -> tuple[str, tuple[str, ...]]:
    return chunk.document_id, chunk.heading_path


def _first_definition(chunk: RetrievedChunk) -> str | None:
    """A question about the first definition in a passage; None where there is none."""
    lead = chunk.text[:MAX_DEFINITION_CHARS]
    found = next(
        (made for start, end in sentences(lead) if (made := definition_question(lead[start:end], chunk.language))), None
    )
    return found[0] if found else None


MAX_HEADING_CHARS = 100
"""Characters of a heading that may become a question."""

_DEFINITION = {
    "en": re.compile(
        r"(?P<what>(?:(?:The|A|An) )?[\w'’-]+(?: [\w'’-]+){0,3})"
        r" (?P<verb>is|are|was|were) (?:a|an|the|one of|any|called|defined as)\b"
    ),
    "de": re.compile(
        r"(?P<what>(?:(?:Der|Die|Das|Ein|Eine) )?[A-ZÄÖÜ][\w-]*(?: [\w-]+){0,3})"
        r" (?P<verb>ist|sind|war|waren) (?:ein|eine|einer|eines|der|die|das)\b"
    ),
}
_ARTICLE = re.compile(r"(?:The|An?|Der|Die|Das|Eine?)\b ?")
_POINTS = re.compile(
    r"(?:da|hier)r?(?:an|auf|aus|bei|durch|für|gegen|her|hin|in|mit|nach|neben|über|um|unter|von|vor|zu)$|"
    r"(?:heute|jetzt|dies|solche[rs]?|beides?|alles|nichts|everything|nothing|today|everyone|another|many|most)$",
    re.IGNORECASE,
)
"""First words that mean something only together with what stands before."""
_ASK = {"en": "What {verb} {what}?", "de": "Was {verb} {what}?"}
_ABOUT = {"en": "What is said about {what}?", "de": "Was steht zu {what}?"}
_WITHIN = {"en": "What is said about {what} in {where}?", "de": "Was steht zu {what} unter {where}?"}
_NUMBERED = re.compile(r"^(?:\d++[.)]?)++\s+|^[A-Z][.)]\s+")
_ASKED = re.compile(
    r"(?:what|who|whom|whose|which|when|where|why|how|was|wer|wen|wem|wann|wo|wohin|woher|warum|wie|welche[rsnm]?)\b",
    re.IGNORECASE,
)
"""Headings that are questions already."""


def heading_question(heading_path: tuple[str, ...], title: str, language: str) -> str | None:
    """A question about a section; a heading of one content word is named with the heading above it."""
    path = tuple(part for part in heading_path if part != NO_HEADINGS)
    if not path or language not in _ABOUT:
        return None
    what, where = _clean_heading(path[-1]), _clean_heading(path[-2] if len(path) > 1 else title)
    content = terms(what, language)
    if not content or len(what) > MAX_HEADING_CHARS:
        return None
    if _ASKED.match(what):
        return f"{what}?" if len(content) > 1 else f"{where}: {what}?"
    form = _ABOUT if len(content) > 1 else _WITHIN
    return form[language].format(what=what, where=where)


def _clean_heading(heading: str) -> str:
    """A heading without its number, markup and punctuation."""
    return _NUMBERED.sub("", heading.strip(" :.?!#*`"))


def definition_question(sentence: str, language: str) -> tuple[str, list[str]] | None:
    """`X is a …` → `What is X?`, and the terms of X; None where the sentence defines nothing."""
    pattern = _DEFINITION.get(language)
    found = pattern.match(sentence) if pattern else None
    if found is None:
        return None
    named = _ARTICLE.sub("", found["what"], count=1)
    content = terms(named, language)
    if not content or _POINTS.match(named.split()[0]) or len(content) < len(words(named)):
        return None
    article = found["what"].removesuffix(named).lower()
    return _ASK[language].format(verb=found["verb"], what=article + named), content
