"""A view: the documents of one scope and its filters, searched in memory as the database would search them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pincite.config.branches.retrieval import Rag
from pincite.core.protocols import Match, TermMatches, TitleMatch, Vector
from pincite.core.query.question import Filters
from pincite.store.search import bm25
from pincite.store.search.resident.segment import Array, IndexedDocument, Segment
from pincite.text.terms import query_terms


@dataclass(frozen=True, slots=True, eq=False)
class ResidentRealm:
    """The index of a realm at a revision: its documents, and the segments that hold their editions.

    A segment may also hold editions that were replaced or removed since; no document of the realm has them.
    """

    revision: int
    documents: Sequence[IndexedDocument]
    segments: Sequence[Segment]
    names: Mapping[str, Sequence[IndexedDocument]]

    @property
    def size(self) -> int:
        """The bytes in memory."""
        return sum(segment.size for segment in self.segments)


@dataclass(frozen=True, slots=True)
class _Part:
    """A segment and which of its chunks are admitted; None for all."""

    segment: Segment
    admitted: Array | None
    vectors_admitted: Array | None


class View:
    """Searches the admitted documents of some realms."""

    def __init__(self, realms: Sequence[ResidentRealm], filters: Filters) -> None:
        self._realms = realms
        self._filters = filters
        self._ids = None if filters.document_ids is None else frozenset(filters.document_ids)
        admitted = [[one for one in realm.documents if self._admits(one)] for realm in realms]
        documents = [one for some in admitted for one in some]
        self._chunks = sum(one.chunks for one in documents)
        self._words = sum(one.words for one in documents)
        self.languages = tuple(sorted({language for one in documents for language in one.languages}))
        self._parts = [
            part
            for realm, some in zip(realms, admitted, strict=True)
            for segment in realm.segments
            if (part := _part(segment, [one.edition for one in some])) is not None
        ]

    def lexical(self, text: str, rag: Rag, limit: int) -> list[Match]:
        """Return the chunks that share terms with a text, by BM25 over exactly the admitted chunks."""
        weights = sorted(query_terms(text, self.languages).items())
        found = [_postings(part, [term for term, _ in weights]) for part in self._parts]
        corpus = bm25.Corpus(self._chunks, self._words, rag.bm25_k1, rag.bm25_b)
        counts = np.sum([one.counts for one in found], axis=0) if found else np.zeros(len(weights), np.int64)
        scale = [weight * corpus.weight(int(n)) if n else 0.0 for (_, weight), n in zip(weights, counts, strict=True)]
        most = sum(one * (corpus.k1 + 1) for one in scale)
        with_postings = [one for one in found if len(one.keys)]
        scores = [
            corpus.scores(one.frequencies, one.lengths, np.repeat(np.array(scale), one.counts)) for one in with_postings
        ]
        return bm25.highest([one.keys for one in with_postings], scores, most, limit)

    def terms_in(self, text: str, keys: Sequence[int], rag: Rag) -> list[TermMatches]:
        """Return which of these chunks contain each term of a text, and what the term weighs."""
        weights = sorted(query_terms(text, self.languages).items())
        corpus = bm25.Corpus(self._chunks, self._words, rag.bm25_k1, rag.bm25_b)
        wanted, found = np.array(keys, np.int64), list[TermMatches]()
        for term, weight in weights:
            chunks = [_postings(part, [term]).keys for part in self._parts]
            if count := sum(map(len, chunks)):
                held = np.isin(wanted, np.concatenate(chunks))
                found.append(TermMatches(weight * corpus.weight(count), frozenset(wanted[held].tolist())))
        return found

    def dense(self, vector: Vector, limit: int) -> list[Match]:
        """Return the chunks nearest to a vector, by the cosine of their best window, compared exactly."""
        query = rounded(vector)
        keys, cosines = list[Array](), list[Array]()
        for part in self._parts:
            segment = part.segment
            best = np.vecdot(segment.vectors, query)  # one thread: those of a matrix product spin after it
            if len(segment.vector_starts) < len(best):
                best = np.maximum.reduceat(best, segment.vector_starts)
            chunks = segment.chunks[segment.vector_chunks]
            if part.vectors_admitted is not None:
                best, chunks = best[part.vectors_admitted], chunks[part.vectors_admitted]
            keys.append(chunks)
            cosines.append(best)
        return _nearest(np.concatenate(keys), np.concatenate(cosines), limit) if keys else []

    def cosines(self, keys: Sequence[int], vectors: Sequence[Vector]) -> dict[int, float]:
        """Return the highest cosine between each chunk's windows and the vectors, of the chunks that have a vector."""
        wanted, found = np.sort(np.array(keys, np.int64)), dict[int, float]()
        if not vectors or not len(wanted):
            return found
        queries = [rounded(vector) for vector in vectors]
        for part in self._parts:
            held, rows, firsts = _rows_of(part.segment, wanted)
            if len(held):
                some = part.segment.vectors[rows]
                best = np.max([np.maximum.reduceat(np.vecdot(some, query), firsts) for query in queries], axis=0)
                found.update(zip(held.tolist(), best.tolist(), strict=True))
        return found

    def documents_named(self, names: Collection[str], vector: Vector, most: int) -> list[TitleMatch]:
        """Return the documents with one of these names and their chunk nearest to a vector; `most` per name."""
        found, named, wanted = list[TitleMatch](), dict[str, list[IndexedDocument]](), frozenset(names)
        for realm in self._realms:
            for name in realm.names.keys() & wanted:
                named.setdefault(name, []).extend(filter(self._admits, realm.names[name]))
        query = rounded(vector if named else ())
        for name, documents in sorted(named.items()):
            for document in sorted(documents, key=lambda one: one.id) if len(documents) <= most else ():
                if nearest := self._nearest_in(document.edition, query):
                    found.append(TitleMatch(name, document.id, nearest))
        return found

    def has_term(self, term: str) -> bool:
        """Whether an admitted chunk contains a term."""
        return any(
            part.admitted is None or bool(_postings(part, [term]).counts.any())
            for part in self._parts
            if term in part.segment.terms
        )

    def _nearest_in(self, edition: int, query: Array) -> Match | None:
        """Return the chunk of an edition that is nearest to a vector; None if it has no vector of this model."""
        segment = next((part.segment for part in self._parts if edition in part.segment.numbers), None)
        if segment is None:
            return None
        number = segment.numbers[edition]
        starts, ends = segment.vector_starts, np.append(segment.vector_starts[1:], len(segment.vectors))
        scored = [
            (-float(np.vecdot(segment.vectors[starts[n] : ends[n]], query).max()), int(segment.vector_chunks[n]))
            for n in np.flatnonzero(segment.edition_of_chunk[segment.vector_chunks] == number).tolist()
        ]
        if not scored:
            return None
        cosine, chunk = min(scored)
        return Match(int(segment.chunks[chunk]), -cosine)

    def _admits(self, document: IndexedDocument) -> bool:
        """Whether the filters admit a document; the same conditions as in `scope_sql.documents`."""
        folder, filters = self._filters.folder, self._filters
        return (
            (folder is None or document.folder == folder or document.folder.startswith(f"{folder}/"))
            and (self._ids is None or document.id in self._ids)
            and document.tags.issuperset(filters.tags)
        )


def rounded(vector: Vector) -> Array:
    """Return a vector with the precision of the stored ones (half), so that cosines equal those of the database."""
    return np.asarray(vector, np.float32).astype(np.float16).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Postings:
    """The postings of several terms one after the other, and how many each term has."""

    keys: Array
    frequencies: Array
    lengths: Array
    counts: Array


def _postings(part: _Part, terms: Sequence[str]) -> _Postings:
    segment = part.segment
    numbers = [segment.terms.get(term) for term in terms]
    bounds = [
        (0, 0) if n is None else (int(segment.posting_starts[n]), int(segment.posting_starts[n + 1])) for n in numbers
    ]
    places = _ranges(bounds)
    chunks = segment.posting_chunks[places]
    counts = np.array([end - start for start, end in bounds], np.int64)
    if part.admitted is not None:
        kept = part.admitted[chunks]
        counts = np.array([int(kept[a:b].sum()) for a, b in _spans(counts)], np.int64)
        places, chunks = places[kept], chunks[kept]
    return _Postings(segment.chunks[chunks], segment.frequencies[places], segment.lengths[places], counts)


def _ranges(bounds: Sequence[tuple[int, int]]) -> Array:
    """Return the numbers of all ranges, one range after the other."""
    return np.concatenate([np.arange(start, end) for start, end in bounds]) if bounds else np.zeros(0, np.int64)


def _spans(counts: Array) -> Iterator[tuple[int, int]]:
    ends = np.cumsum(counts).tolist()
    return zip([0, *ends[:-1]], ends, strict=True) if ends else iter(())


def _rows_of(segment: Segment, keys: Array) -> tuple[Array, Array, Array]:
    """Return which of these chunks have vectors here, the rows of the vectors, and the first of each chunk in them."""
    with_vectors = segment.chunks[segment.vector_chunks]
    if not len(with_vectors):
        return keys[:0], keys[:0], keys[:0]
    places = np.minimum(np.searchsorted(with_vectors, keys), len(with_vectors) - 1)
    places = places[with_vectors[places] == keys]
    starts = segment.vector_starts[places]
    counts = np.append(segment.vector_starts, len(segment.vectors))[places + 1] - starts
    firsts = np.cumsum(counts) - counts
    rows = np.repeat(starts - firsts, counts) + np.arange(int(counts.sum()))
    return with_vectors[places], rows, firsts


def _nearest(keys: Array, cosines: Array, limit: int) -> list[Match]:
    if len(keys) > limit:
        least = np.partition(cosines, len(cosines) - limit)[len(cosines) - limit]
        places = np.flatnonzero(cosines >= least)
        keys, cosines = keys[places], cosines[places]
    order = np.lexsort((keys, -cosines))[:limit]
    return [Match(key, cosine) for key, cosine in zip(keys[order].tolist(), cosines[order].tolist(), strict=True)]


def _part(segment: Segment, editions: Sequence[int]) -> _Part | None:
    """Return the part of a segment with these editions of its own realm; None if it has none of them.

    The editions are those of this realm only: a document that moved to another one may still be in the segment.
    """
    admitted = np.isin(segment.editions, np.array(editions, np.int64))
    if admitted.all():
        return _Part(segment, None, None)
    if not admitted.any():
        return None
    chunks = admitted[segment.edition_of_chunk]
    return _Part(segment, chunks, chunks[segment.vector_chunks])
