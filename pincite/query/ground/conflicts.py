"""Where the sources of an answer disagree: sentences about the same thing that cannot both be true, side by side.

Precise rather than many: two sentences of different documents that share nearly all words of meaning, name the same, and
differ in a number, a date, a negation or in who or what is named last.
"""

import re
from collections.abc import Iterator, Sequence

from pincite.core.query.answer import Citation, Conflict, Statement
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.extractive.answer_span import answer_value
from pincite.query.ground.support import content_terms, is_dictionary_word, sentence_terms
from pincite.query.rank.relevance import chunk_terms
from pincite.text import lang
from pincite.text.answer_type import answer_type
from pincite.text.dictionary import languages
from pincite.text.names import strangers, swapped, tokens_of
from pincite.text.negation import opposed
from pincite.text.quantities import Figure, agree, figures_in, rival, unmatched
from pincite.text.sentences import Span
from pincite.text.terms import stem, terms, words

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")

MIN_SHARED_WORDS = 3
"""Words of meaning that two sentences about the same have in common, at least."""
ALIKE, WHOLLY = 0.75, 0.5
"""Share of the shorter sentence's words, and of the longer one's, that these are."""
MIN_SHARED_WORDS_APART = 5
"""Words in common that make up for headings which have none."""
MIN_FRAME_WORDS = 2
"""Words of meaning of two sentences that differ in one place only: `The door code is 1111.`"""
FIGURE_KINDS = frozenset({"money", "number", "quantity", "percent", "duration"})
"""Kinds of answers of which two sources can give different figures."""
MAX_CONFLICTS = 5
MAX_SUBJECT_WORDS = 6
"""Words by which the subject of a conflict is told."""


Place = tuple[int, RetrievedChunk, Span]
"""A sentence: the number of its source, its passage, and where it stands there."""


def find_conflicts(citations: Sequence[Citation], sources: Sequence[Hit], question: str = "") -> tuple[Conflict, ...]:
    """What other documents among the sources say otherwise than the sentences an answer stands on."""
    found: dict[tuple[str, ...], Conflict] = {}
    cited = list(_cited_sentences(citations, sources))
    for number, chunk, span in cited:
        others = [
            *_contradicting_sentences(chunk, span, sources),
            *_other_answers((number, chunk, span), cited, question),
        ]
        for other_number, other, there in others:
            pair = (_text(chunk, span), _text(other, there))
            ends = pair[0].rpartition("\n")[2], pair[1].rpartition("\n")[2]
            if ends not in found and ends[::-1] not in found:
                found[ends] = Conflict(
                    _subject(*pair, chunk.language),
                    (_statement(number, chunk, span), _statement(other_number, other, there)),
                )
    return tuple(found.values())[:MAX_CONFLICTS]


def _cited_sentences(citations: Sequence[Citation], sources: Sequence[Hit]) -> Iterator[Place]:
    for citation in citations:
        if citation.source is None or citation.quote_start_char is None:
            continue
        chunk = sources[citation.source - 1].chunk
        start = citation.quote_start_char - chunk.start_char
        for span in _sentences_in(chunk, start, start + len(citation.quote)):
            yield citation.source, chunk, span


def _other_answers(place: Place, cited: Sequence[Place], question: str) -> Iterator[Place]:
    """The cited sentences of other documents that answer the question with another figure of the same unit."""
    _, chunk, span = place
    here = _answering_figure(question, _text(chunk, span), chunk.language)
    for number, other, there in cited if here else ():
        if other.document_id == chunk.document_id or other.language != chunk.language:
            continue
        told, instead = _text(chunk, span), _text(other, there)
        figure = _answering_figure(question, instead, other.language)
        if not here or not figure or agree(here, figure) or (here.unit, here.kind) != (figure.unit, figure.kind):
            continue
        if (here.unit or here.noun == figure.noun) and _same_names(told, instead, chunk.language):
            yield number, other, there


def _same_names(told: str, instead: str, language: str) -> bool:
    """Whether two sentences are not about two years, two numbered things or two names."""
    same = _codes(told) == _codes(instead) and set(_YEAR.findall(told)) == set(_YEAR.findall(instead))
    return same and not swapped(told, instead, language, is_dictionary_word)


def _answering_figure(question: str, sentence: str, language: str) -> Figure | None:
    """The one figure by which a sentence that has every word of a question answers it; None without one."""
    kind = answer_type(question).kind
    wanted = frozenset(content_terms(question, language))
    asking = frozenset(stem(word, language) for word in lang.recognised_words("questions.asked_for", language))
    if kind not in FIGURE_KINDS or len(wanted) < MIN_FRAME_WORDS:
        return None
    if not wanted - asking <= frozenset(content_terms(sentence, language)):
        return None
    value = answer_value(kind, sentence, language, frozenset(terms(question, language)), question)
    figures = figures_in(value, language)
    return figures[0] if len(figures) == 1 and not figures[0].loose else None


def _sentences_in(chunk: RetrievedChunk, start: int, end: int) -> Iterator[Span]:
    """The sentences of a quote, without the heading above one that the quote leaves out."""
    for a, b in sentence_terms(chunk.text, chunk.language)[0]:
        left_out = chunk.text[a:start]
        if start < b <= end and (not left_out or (left_out.endswith("\n") and "\n" not in left_out[:-1])):
            yield max(a, start), b


def _contradicting_sentences(chunk: RetrievedChunk, span: Span, sources: Sequence[Hit]) -> Iterator[Place]:
    """The sentences of other documents that say otherwise."""
    told = _text(chunk, span)
    wanted = frozenset(content_terms(told, chunk.language))
    if len(wanted) < MIN_FRAME_WORDS or chunk.language not in languages():
        return
    for number, hit in enumerate(sources, start=1):
        other = hit.chunk
        if other.document_id == chunk.document_id or other.language != chunk.language:
            continue
        if len(wanted & chunk_terms(other)) < ALIKE * len(wanted) / 2:
            continue
        for there, held in zip(*sentence_terms(other.text, other.language), strict=True):
            if len(wanted & held) < MIN_FRAME_WORDS:
                continue
            instead = _text(other, there)
            shared = _shared_word_count(told, instead, chunk.language)
            least = MIN_FRAME_WORDS if _same_frame(told, instead) else MIN_SHARED_WORDS
            if shared >= (least if _headings_match(chunk, other) else MIN_SHARED_WORDS_APART) and disagree(
                told, instead, chunk.language
            ):
                yield number, other, there


def _same_frame(one: str, other: str) -> bool:
    """Whether two sentences have the same words but for one number."""
    here, there = one.split(), other.split()
    apart = [pair for pair in zip(here, there, strict=False) if pair[0] != pair[1]]
    return len(here) == len(there) and len(apart) == 1 and all(any(map(str.isdigit, word)) for word in apart[0])


def _shared_word_count(one: str, other: str, language: str) -> int:
    """How many words two sentences share, where these are nearly all they have but for names that only one has."""
    here, there = frozenset(content_terms(one, language)), frozenset(content_terms(other, language))
    shared = here & there
    mine, theirs = (len(held - (_names(text, language) - shared)) for held, text in ((here, one), (there, other)))
    enough = len(shared) >= ALIKE * min(mine, theirs) and len(shared) >= WHOLLY * max(mine, theirs)
    return len(shared) if enough else 0


def _names(text: str, language: str) -> frozenset[str]:
    return frozenset(
        word for token in tokens_of(text, language) if token.name for word in content_terms(token.text, language)
    )


def _headings_match(chunk: RetrievedChunk, other: RetrievedChunk) -> bool:
    """Whether the nearest headings have a word in common, or one has none."""
    here, there = (
        frozenset(content_terms(one.heading_path[-1], one.language)) if one.heading_path else frozenset[str]()
        for one in (chunk, other)
    )
    return not here or not there or bool(here & there)


def disagree(one: str, other: str, language: str) -> bool:
    """Whether two sentences about the same cannot both be true, and name the same."""
    if _codes(one) != _codes(other):
        return False
    exchanged = swapped(one, other, language, is_dictionary_word)
    if exchanged:
        return _named_last(one, other, exchanged) and not unmatched(
            figures_in(one, language), figures_in(other, language)
        )
    if strangers(one, other, language, is_dictionary_word)[0] or strangers(other, one, language, is_dictionary_word)[0]:
        return False
    mine, theirs = figures_in(one, language), figures_in(other, language)
    here, there = unmatched(mine, theirs), unmatched(theirs, mine)
    if here and there and not _qualified_otherwise(one, other, language) and not _of_other_years(here, there):
        return all((against := rival(figure, there)) and against.unit == figure.unit for figure in here)
    return not here and not there and opposed(one, other, language) is not None


def _of_other_years(here: Sequence[Figure], there: Sequence[Figure]) -> bool:
    """Whether two sentences tell different figures, each of its own year: `In 2022 it had 40, in 2023 it had 44.`"""
    years = ({bool(figure.year or _YEAR.fullmatch(figure.shown)) for figure in held} for held in (here, there))
    return all(len(kinds) == 2 for kinds in years)


def _qualified_otherwise(one: str, other: str, language: str) -> bool:
    """Whether two sentences of the same form are about two things, by other words at one of three places.

    Before the same noun: `old members`, `new members`; a word before a figure is no such noun: `paid within 14 days`,
    `settled within 30 days`. After the same preposition: `for families`, `for companies`. At the start: `Children pay`,
    `Adults pay`.
    """
    here, there = words(one), words(other)
    if len(here) != len(there):
        return False
    apart = [n for n, (a, b) in enumerate(zip(here, there, strict=True)) if a != b]
    prepositions = lang.words("cache.prepositions", language)
    things = [n for n in apart if n == 0 or (n - 1 not in apart and here[n - 1] in prepositions)]
    if any(_is_noun(here[n], language) and _is_noun(there[n], language) for n in things):
        return True
    return any(
        n + 1 < len(here)
        and n + 1 not in apart
        and (here[n] + there[n] + here[n + 1]).isalpha()
        and all(content_terms(word, language) for word in here[n : n + 2])
        and not "".join(here[n + 2 : n + 3]).isdigit()
        for n in apart
    )


def _is_noun(word: str, language: str) -> bool:
    """Whether a word says what a sentence is about, and is no figure such as a month."""
    return word.isalpha() and bool(content_terms(word, language)) and not figures_in(word, language)


def _codes(text: str) -> frozenset[str]:
    """The names that end in a number: `Hall3`."""
    return frozenset(re.findall(r"\b[^\W\d_]+\d+\b", text))


def _named_last(one: str, other: str, exchanged: tuple[str, str]) -> bool:
    """Whether the names in which two sentences differ come after what both are about: `the director is …`."""
    before, after = one.partition(exchanged[0].split()[0])[0], other.partition(exchanged[1].split()[0])[0]
    return len(words(before)) >= MIN_SHARED_WORDS and words(before) == words(after)


def _subject(one: str, other: str, language: str) -> str:
    """The words two sentences share, as the first one has them."""
    shared = set(content_terms(other, language))
    kept = [word for word in one.split() if set(content_terms(word, language)) & shared]
    return " ".join(word.strip(".,;:|()*") for word in kept[:MAX_SUBJECT_WORDS])


def _statement(number: int, chunk: RetrievedChunk, span: Span) -> Statement:
    return Statement(
        number, chunk.document_id, chunk.title, chunk.version, chunk.created_at.date().isoformat(), _text(chunk, span),
        chunk.start_char + span[0], chunk.start_char + span[1],
    )  # fmt: skip


def _text(chunk: RetrievedChunk, span: Span) -> str:
    return chunk.text[span[0] : span[1]]
