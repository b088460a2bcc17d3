"""Find conflicts between the sources of an answer: sentences about the same thing that cannot both be true.

Precision comes before recall: two sentences of different documents must share nearly all content words and names, and
differ in a number, a date, a negation or in the name at their end.
"""

from collections.abc import Iterator, Sequence

from pincite.core.query.answer import Citation, Conflict, Statement
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.query.ground.support import content_terms, is_dictionary_word, sentence_terms
from pincite.query.rank.relevance import chunk_terms
from pincite.text.dictionary import LANGUAGES
from pincite.text.figures import figures_in, rival, unmatched
from pincite.text.names import strangers, swapped, tokens_of
from pincite.text.negation import opposed
from pincite.text.sentences import Span
from pincite.text.terms import words

MIN_SHARED_WORDS = 3
"""Minimum of common content words of two sentences about the same thing."""
MIN_SHARE_OF_SHORTER, MIN_SHARE_OF_LONGER = 0.75, 0.5
"""Minimum share of the common words in the shorter sentence, and in the longer one."""
MIN_SHARED_WORDS_APART = 5
"""Minimum of common content words where the headings have no word in common."""
MAX_CONFLICTS = 5
"""Conflicts that an answer reports."""
MAX_SUBJECT_WORDS = 6
"""Words of the subject of a conflict."""


def find_conflicts(citations: Sequence[Citation], sources: Sequence[Hit]) -> tuple[Conflict, ...]:
    """The conflicts between the cited sentences and sentences of other documents among the sources."""
    found: dict[tuple[str, str], Conflict] = {}
    for citation in citations:
        if citation.source is None or citation.quote_start_char is None:
            continue
        chunk = sources[citation.source - 1].chunk
        start = citation.quote_start_char - chunk.start_char
        for span in _sentences_in(chunk, start, start + len(citation.quote)):
            for number, other, there in _contradicting_sentences(chunk, span, sources):
                pair = (_text(chunk, span), _text(other, there))
                if pair not in found and pair[::-1] not in found:
                    found[pair] = Conflict(
                        _subject(*pair, chunk.language),
                        (_statement(citation.source, chunk, span), _statement(number, other, there)),
                    )
    return tuple(found.values())[:MAX_CONFLICTS]


def _sentences_in(chunk: RetrievedChunk, start: int, end: int) -> Iterator[Span]:
    """The spans of the sentences inside a quote."""
    for a, b in sentence_terms(chunk.text, chunk.language)[0]:
        if start <= a and b <= end:
            yield a, b


def _contradicting_sentences(
    chunk: RetrievedChunk, span: Span, sources: Sequence[Hit]
) -> Iterator[tuple[int, RetrievedChunk, Span]]:
    """The sentences of other documents that contradict a sentence, each with its source number and chunk."""
    sentence = _text(chunk, span)
    wanted = frozenset(content_terms(sentence, chunk.language))
    if len(wanted) < MIN_SHARED_WORDS or chunk.language not in LANGUAGES:
        return
    for number, hit in enumerate(sources, start=1):
        other = hit.chunk
        if other.document_id == chunk.document_id or other.language != chunk.language:
            continue
        if len(wanted & chunk_terms(other)) < MIN_SHARE_OF_SHORTER * len(wanted) / 2:
            continue
        for there, held in zip(*sentence_terms(other.text, other.language), strict=True):
            if len(wanted & held) < MIN_SHARED_WORDS:
                continue
            other_sentence = _text(other, there)
            shared = _shared_word_count(sentence, other_sentence, chunk.language)
            if shared >= (MIN_SHARED_WORDS if _headings_match(chunk, other) else MIN_SHARED_WORDS_APART) and disagree(
                sentence, other_sentence, chunk.language
            ):
                yield number, other, there


def _shared_word_count(one: str, other: str, language: str) -> int:
    """The number of common words of two sentences; 0 where these are not nearly all of their words.

    Names that only one sentence has do not count as its words.
    """
    here, there = frozenset(content_terms(one, language)), frozenset(content_terms(other, language))
    shared = here & there
    mine, theirs = (len(held - (_names(text, language) - shared)) for held, text in ((here, one), (there, other)))
    enough = len(shared) >= MIN_SHARE_OF_SHORTER * min(mine, theirs) and len(shared) >= MIN_SHARE_OF_LONGER * max(
        mine, theirs
    )
    return len(shared) if enough else 0


def _names(text: str, language: str) -> frozenset[str]:
    return frozenset(
        word for token in tokens_of(text, language) if token.name for word in content_terms(token.text, language)
    )


def _headings_match(chunk: RetrievedChunk, other: RetrievedChunk) -> bool:
    """Whether the last headings of two chunks have a word in common, or one has no heading."""
    here, there = (
        frozenset(content_terms(one.heading_path[-1], one.language)) if one.heading_path else frozenset[str]()
        for one in (chunk, other)
    )
    return not here or not there or bool(here & there)


def disagree(one: str, other: str, language: str) -> bool:
    """Whether two sentences about the same thing, with the same names, cannot both be true."""
    swapped_names = swapped(one, other, language, is_dictionary_word)
    if swapped_names:
        return _named_last(one, other, swapped_names) and not unmatched(
            figures_in(one, language), figures_in(other, language)
        )
    if strangers(one, other, language, is_dictionary_word)[0] or strangers(other, one, language, is_dictionary_word)[0]:
        return False
    mine, theirs = figures_in(one, language), figures_in(other, language)
    here, there = unmatched(mine, theirs), unmatched(theirs, mine)
    if here and there:
        return all((against := rival(figure, there)) and against.unit == figure.unit for figure in here)
    return not here and not there and opposed(one, other, language) is not None


def _named_last(one: str, other: str, swapped_names: tuple[str, str]) -> bool:
    """Whether the differing names come after the same words: `the director is …`."""
    before, after = one.partition(swapped_names[0].split()[0])[0], other.partition(swapped_names[1].split()[0])[0]
    return len(words(before)) >= MIN_SHARED_WORDS and words(before) == words(after)


def _subject(one: str, other: str, language: str) -> str:
    """The common words of two sentences, as the first one has them."""
    shared = set(content_terms(other, language))
    kept = [word for word in one.split() if set(content_terms(word, language)) & shared]
    return " ".join(word.strip(".,;:|()*") for word in kept[:MAX_SUBJECT_WORDS])


def _statement(number: int, chunk: RetrievedChunk, span: Span) -> Statement:
    return Statement(
        number,
        chunk.document_id,
        chunk.title,
        chunk.version,
        chunk.created_at.date().isoformat(),
        _text(chunk, span),
        chunk.start_char + span[0],
        chunk.start_char + span[1],
    )


def _text(chunk: RetrievedChunk, span: Span) -> str:
    return chunk.text[span[0] : span[1]]
