"""Document reading: open the documents that a summary, a comparison, a list or a procedure needs as a whole."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.core.documents.document import HIDDEN_CONTENT_TYPE, ReadRequest
from pincite.core.protocols import NamedDocument
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import NotFound
from pincite.extractive.whole.comparison import compares_two, sides_in
from pincite.extractive.whole.naming import (
    MIN_NAME_SHARE,
    is_in_name,
    month_signs,
    name_share,
    named_words,
    pair_named,
    side_words,
    spellings,
)
from pincite.text.answer_type import AnswerForm, answer_type

WHOLE_FORMS: frozenset[AnswerForm] = frozenset({"summary", "comparison", "list", "steps"})
"""Forms of an answer that need more of a document than the passages found."""
MAX_DOCUMENTS = 3
"""Documents that are opened for one question."""
MAX_PASSAGES = 48
"""Passages of one document; of a longer document, those of the sections found, or the first of each section."""
MAX_CANDIDATES = 50
"""Documents with a similar name that are compared."""
MIN_PART_CHARS = 3
"""Characters of a word that names are searched for."""
HEADING_FACTOR = 0.85
"""Factor on the share of a name that a heading has: a title or a file name counts more."""


_Section = tuple[str, tuple[str, ...]]
"""A section: the id of its document, and its heading path."""


@dataclass(frozen=True, slots=True)
class OpenedPassages:
    """The passages opened, and how well the question names the document of each; `alone`: no others are needed."""

    passages: tuple[RetrievedChunk, ...] = ()
    shares: Mapping[str, float] | None = None
    alone: bool = False


NOTHING_OPENED = OpenedPassages()


def needs_documents(run: Run, plan: Plan) -> bool:
    """Whether the question asks for a form that code composes from whole documents."""
    reads = run.kit.llm is run.kit.extractive and run.kit.document_reader is not None
    return reads and answer_type(plan.text).form in WHOLE_FORMS


async def document_reading(run: Run, plan: Plan, hits: Sequence[Hit]) -> OpenedPassages:
    """The passages of the documents that the question names, or that the best hits belong to."""
    form = answer_type(plan.text).form
    named = named_words(plan.text)
    known = await _candidates(run, plan, named, hits)
    chosen, sections = dict[str, float](), frozenset[_Section]()
    if form == "summary":
        chosen = _named_document(named, known, hits)
    elif form == "comparison" and (sides := sides_in(plan.text)):
        own = side_words(*sides)
        sections = _side_sections([*map(named_words, sides)], known, hits) or _side_sections(own, known, hits)
        pair = {document for document, _ in sections} or pair_named(*own, known)
        chosen = dict.fromkeys(pair, 1.0)
    elif form == "comparison" and compares_two(plan.text):
        shares = {one.document_id: name_share(named, (one.title, one.name)) for one in known}
        best = [one for one, share in shares.items() if share and share == max(shares.values())]
        chosen = dict.fromkeys(best, 1.0) if len(best) == 2 else {}
    alone = bool(chosen)
    if not chosen and form != "summary":
        also = _named_document(named, known, ()) if form in ("list", "steps") else {}
        found = dict.fromkeys((hit.chunk.document_id for hit in hits), 0.0)
        chosen = dict(list(found.items())[: MAX_DOCUMENTS - len(also.keys() - found.keys())]) | also
    texts = await asyncio.gather(*(_read(run, plan, document) for document in chosen))
    if sections:
        texts = [[chunk for chunk in text if (chunk.document_id, chunk.heading_path) in sections] for text in texts]
    wanted = {hit.chunk.heading_path for hit in hits}
    passages = [chunk for text in texts for chunk in _shortened(text, wanted, named, alone=alone)]
    run.observe(form=form, documents=len(chosen), passages=len(passages), named=alone)
    return OpenedPassages(tuple(passages), chosen, alone)


def with_opened(hits: Sequence[Hit], scored: Iterable[Hit], opened: OpenedPassages) -> list[Hit]:
    """The hits and the passages opened; these alone where the question names their document."""
    shares = opened.shares or {}
    added = [replace(hit, relevance=max(hit.relevance, shares.get(hit.chunk.document_id, 0.0))) for hit in scored]
    if opened.alone:
        return added
    known = {hit.chunk.key for hit in hits}
    return [*hits, *(hit for hit in added if hit.chunk.key not in known)]


async def _candidates(run: Run, plan: Plan, named: Sequence[str], hits: Sequence[Hit]) -> list[NamedDocument]:
    """The documents of the hits, best first, then those with a word of the question in their title or file name."""
    parts = [part for word in named if len(word) >= MIN_PART_CHARS for part in spellings(word)]
    parts += [sign for word in named for sign in month_signs(word)]
    found = await run.kit.index.documents_with_names_like(
        parts, scope=run.scope, filters=plan.question.filters, limit=MAX_CANDIDATES
    )
    owners = (NamedDocument(hit.chunk.document_id, hit.chunk.title, hit.chunk.document_name) for hit in hits)
    return list({one.document_id: one for one in (*owners, *found)}.values())


def _named_document(named: Sequence[str], known: Sequence[NamedDocument], hits: Sequence[Hit]) -> dict[str, float]:
    """The document whose title or file name has most of these words, else the one with such a heading."""
    shares = {one.document_id: name_share(named, (one.title, one.name)) for one in known}
    for hit in hits:
        chunk = hit.chunk
        share = HEADING_FACTOR * name_share(named, (chunk.title, chunk.document_name, *chunk.heading_path))
        if share > shares.get(chunk.document_id, 0.0) and share >= MIN_NAME_SHARE:
            shares[chunk.document_id] = share
    best = max(shares, key=lambda document: shares[document], default=None)
    return {best: shares[best]} if best and shares[best] >= MIN_NAME_SHARE else {}


def _side_sections(
    sides: Sequence[Sequence[str]], known: Sequence[NamedDocument], hits: Sequence[Hit]
) -> frozenset[_Section]:
    """The two sections that the sides of a comparison name by heading and title; none where a document fits as well."""
    found = set[_Section]()
    for words in sides:
        share = {(hit.chunk.document_id, hit.chunk.heading_path): _heading_share(words, hit.chunk) for hit in hits}
        best = max(share, key=lambda section: share[section], default=None)
        named = max((name_share(words, (one.title, one.name)) for one in known), default=0.0)
        if best is None or share[best] < MIN_NAME_SHARE or share[best] <= named:
            return frozenset()
        found.add(best)
    return frozenset(found) if len(found) == 2 else frozenset()


def _heading_share(words: Sequence[str], chunk: RetrievedChunk) -> float:
    """The share of these words in the headings of a passage; 0 where only the title of its document has them."""
    below = " ".join(chunk.heading_path[1:])
    own = any(is_in_name(word, below) and not is_in_name(word, chunk.title) for word in words)
    return name_share(words, (chunk.title, *chunk.heading_path)) if own else 0.0


async def _read(run: Run, plan: Plan, document: str) -> Sequence[RetrievedChunk]:
    """The passages of a document in order, without hidden text; none where it was removed in between."""
    assert run.kit.document_reader is not None
    try:
        opened = await run.kit.document_reader.read(
            ReadRequest(document), scope=run.scope, filters=plan.question.filters
        )
    except NotFound:
        return ()
    return [chunk for chunk in opened.passages if chunk.content_type != HIDDEN_CONTENT_TYPE]


def _shortened(
    passages: Sequence[RetrievedChunk], wanted: set[tuple[str, ...]], named: Sequence[str], *, alone: bool
) -> list[RetrievedChunk]:
    """The passages of a long document that an answer needs: the sections found, or the first of each section."""
    if len(passages) <= MAX_PASSAGES:
        return list(passages)
    about = [
        chunk
        for chunk in passages
        if chunk.heading_path in wanted or any(is_in_name(word, " ".join(chunk.heading_path[1:])) for word in named)
    ]
    if not alone:
        return about[:MAX_PASSAGES]
    firsts = list({chunk.heading_path: chunk for chunk in reversed(passages)}.values())[::-1]
    step = max(1, -(-len(firsts) // MAX_PASSAGES))
    return firsts[::step] if len(firsts) > 2 else list(passages[:: -(-len(passages) // MAX_PASSAGES)])
