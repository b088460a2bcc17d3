"""How far a passage supports what is claimed: by shared words and by what can be checked by itself.

Words agree by degrees; numbers, dates, units, names, negations and directions either do or do not. Where they do not, the
passage supports nothing, however alike the two sound: an embedder puts `30 days` and `25 days` side by side. So that is
decided first, and meaning is asked only where the words leave it open.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pincite.core.query.hits import RetrievedChunk
from pincite.query.ground.rows import best_row, find_other_row, find_wrong_column, rows_of, text_between
from pincite.text import lang
from pincite.text.dictionary import dictionary, languages
from pincite.text.names import strangers, swapped
from pincite.text.negation import opposed
from pincite.text.quantities import Figure, figures_in, rival, unmatched
from pincite.text.sentences import Span, sentences
from pincite.text.terms import question_language, terms
from pincite.text.units import number_words, units

MIN_SUPPORT = 0.5
"""A claim stands on a passage that supports it so far."""
REFUTED_SUPPORT = 0.1
"""What is left where the passage says otherwise."""
UNFOUNDED_SUPPORT = 0.2
"""What is left where the passage lacks a number or a name of the claim."""
READER_ODDS = 1.4
"""Factor on the reader's odds that a passage supports a claim, chosen on held-out claims; see docs/evaluation.md."""
CONTEXT_WORD_WEIGHT = 0.5
"""What a word is worth that stands elsewhere in the passage, in its title or its headings."""
PARTIAL_WORD_WEIGHT = 0.8
"""What a word is worth that is only a part of a longer one, or has one for its part."""
CERTAIN_SHARE = 0.85
"""So many of a claim's words in the passage, and meaning need not be asked."""
HOPELESS_SHARE = 0.12
"""So few, and without a number or a name in common meaning would only guess."""
MIN_SECOND_SENTENCE_GAIN = 0.15
"""What a second sentence has to add to be quoted with the first."""
MIN_COMPOUND_PART_CHARS = 5
"""Letters of a word that may be a part of another."""

_HEADING_MARKS = re.compile(r"[ \t]*#{1,6}[ \t]+")


@dataclass(frozen=True, slots=True)
class SupportVerdict:
    """The stretch of a passage that comes nearest to a claim, and how far it supports it.

    `reason` says in words why it does not, and `refuted` that the passage says otherwise. While it is `open`, meaning
    has not been asked. It is `worded` where only words speak against the claim, such as a negation or an opposite, which
    the reader judges better; without a reader the verdict holds.
    """

    start: int
    end: int
    support: float
    lexical: float = 0.0
    reason: str | None = None
    refuted: bool = False
    open: bool = False
    worded: bool = False


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """Support is the logistic of `bias` + `words` × shared words + `meaning` × cosine − `nouns` × nouns not found."""

    bias: float
    words: float
    meaning: float
    nouns: float


# Fitted by `./run bench support --data DIR --fit`; see docs/evaluation.md.
FITTED_WEIGHTS = SupportWeights(-3.53, 5.0, 3.81, 1.26)
LEXICAL_WEIGHTS = SupportWeights(-2.94, 7.8, 0.0, 0.96)


def judge_claim(claim: str, chunk: RetrievedChunk, question: str = "") -> SupportVerdict:
    """What rules say about a claim and a passage; `open` where the embedder should be asked as well.

    The row of a table must be the one that the question is about.
    """
    language = chunk.language if chunk.language in languages() else question_language(claim)
    rows = rows_of(chunk)
    start, end = align(claim, chunk)
    row = best_row(claim, question, chunk, rows, (start, end))
    if row:
        start, end = row.start, row.end
    told = text_between(chunk, rows, (start, end))
    whole = _chunk_text(chunk)
    lexical = _lexical_support(claim, told, whole, chunk.language)
    found = SupportVerdict(start, end, lexical, lexical)
    fault = row and (find_other_row(claim, question, row, rows, language) or find_wrong_column(claim, row, language))
    compared = lexical > HOPELESS_SHARE
    reason = fault or (find_other_figure(claim, told, language) if compared else None)
    against = opposed(claim, told, language) if compared and not reason else None
    if reason or against:
        refuted = replace(found, support=min(lexical, REFUTED_SUPPORT), reason=reason or against, refuted=True)
        unfounded = find_unfounded(claim, told, chunk, language) if against else None
        return replace(refuted, worded=against is not None and unfounded is None)
    spoken = question_language(claim)
    if lexical <= HOPELESS_SHARE and spoken != language and spoken in languages():
        missing = unmatched(figures_in(claim, spoken), figures_in(whole, language))
        reason = f"says {missing[0].shown}, which the source does not" if missing else None
        return replace(found, support=0.0, reason=reason, open=reason is None)  # words cannot be compared
    reason = find_unfounded(claim, told, chunk, language)
    if reason:
        return replace(found, support=min(lexical, UNFOUNDED_SUPPORT), reason=reason)
    if lexical >= CERTAIN_SHARE:
        return found
    if lexical <= HOPELESS_SHARE and not figures_in(claim, language):
        reason = "the source says nothing of the kind"
        return replace(found, support=min(lexical, UNFOUNDED_SUPPORT), reason=reason, worded=True)
    return replace(found, support=_support(LEXICAL_WEIGHTS, found, claim, chunk, 0.0), open=True)


def decide_by_cosine(verdict: SupportVerdict, claim: str, chunk: RetrievedChunk, cosine: float) -> SupportVerdict:
    """A verdict that was open, once it is known how near the two are in meaning."""
    support = _support(FITTED_WEIGHTS, verdict, claim, chunk, cosine)
    reason = None if support >= MIN_SUPPORT else "the source does not say so"
    return replace(verdict, support=support, reason=reason, open=False)


def asks_reader(verdict: SupportVerdict, claim: str, chunk: RetrievedChunk) -> bool:
    """Whether the reader decides: not where rules object, the words are copied, or numbers and words all agree.

    Numbers are left to the rules: the reader does not convert units.
    """
    if verdict.worded:
        return True
    if not verdict.open and (verdict.support < MIN_SUPPORT or any(map(str.isdigit, claim))):
        return False
    return claim.strip().rstrip(".") not in chunk.text


def decide_by_reader(verdict: SupportVerdict, supported: float) -> SupportVerdict:
    """The verdict once the reader has read claim and passage: the same words may say another thing."""
    support = round(READER_ODDS * supported / (READER_ODDS * supported + 1 - supported), 4)
    if support >= MIN_SUPPORT:
        return replace(verdict, support=support, reason=None, refuted=False, open=False)
    return replace(verdict, support=support, reason=verdict.reason or "the source does not say so", open=False)


def decide_by_words(verdict: SupportVerdict) -> SupportVerdict:
    """A verdict that was open, by words alone."""
    reason = None if verdict.support >= MIN_SUPPORT else verdict.reason or "the source does not say so"
    return replace(verdict, reason=reason, open=False)


def _support(
    weights: SupportWeights, verdict: SupportVerdict, claim: str, chunk: RetrievedChunk, cosine: float
) -> float:
    nouns = unknown_noun_share(claim, chunk)
    raised = weights.bias + weights.words * verdict.lexical + weights.meaning * cosine - weights.nouns * nouns
    return round(1 / (1 + math.exp(-raised)), 4)


def unknown_noun_share(claim: str, chunk: RetrievedChunk) -> float:
    """The share of a German claim's nouns that are nowhere in the passage."""
    if chunk.language not in lang.flagged("nouns_capitalised"):
        return 0.0
    _, nouns = strangers(claim, _chunk_text(chunk), chunk.language, is_dictionary_word)
    capitals = sum(word[0].isupper() for word in claim.split()[1:] if word)
    return min(1.0, len(nouns) / capitals) if capitals else 0.0


def rank_passages(claim: str, chunks: Sequence[RetrievedChunk]) -> list[int]:
    """The numbers of passages that share words or figures with a claim, those that share most first."""
    ranked = []
    for number, chunk in enumerate(chunks):
        wanted = frozenset(terms(claim, chunk.language))
        shares = [_rank(wanted, words) for words in sentence_terms(chunk.text, chunk.language)[1]]
        ranked.append((max(shares, default=(0.0, 0.0)), -number))
    return [-number for share, number in sorted(ranked, reverse=True) if share[0] > 0]


# --- what cannot be told away -------------------------------------------------------------------------------


def find_contradiction(claim: str, told: str, language: str) -> str | None:
    """What the passage says otherwise, in words: a name, a number in its place, a negation, a direction."""
    return find_other_figure(claim, told, language) or opposed(claim, told, language)


def find_other_figure(claim: str, told: str, language: str) -> str | None:
    """The name or the number that the passage has in the place of the claim's, in words."""
    exchanged = swapped(claim, told, language, is_dictionary_word)
    if exchanged:
        return f"names {exchanged[0]}, the source names {exchanged[1]}"
    claimed, held = figures_in(claim, language), figures_in(told, language)
    for figure in unmatched(claimed, held):
        other = rival(figure, unmatched(held, claimed))
        if other and _same_thing(figure, other):
            return f"says {figure.shown}, the source says {other.shown}"
    return _find_misplaced_number(claimed, held)


def _same_thing(one: Figure, other: Figure) -> bool:
    """Whether two figures measure or count the same."""
    if one.kind != "number" or (one.unit and one.unit == other.unit) or one.bare & other.bare:
        return True
    alike = one.noun == other.noun and not one.unit and not other.unit
    return alike and (bool(one.noun) or len(one.shown) == len(other.shown))


def _find_misplaced_number(claimed: Sequence[Figure], held: Sequence[Figure]) -> str | None:
    """A number that the passage has, but of something else: `30 guests and 25 beds` told as 30 beds."""
    for figure in claimed:
        mine = [one for one in held if figure.noun and one.noun == figure.noun and not one.unit]
        same = [one for one in held if one.bare & figure.bare]
        if (
            mine
            and same
            and not any(one.bare & figure.bare for one in mine)
            and all(one.noun or one.unit for one in same)
        ):
            return f"says {figure.shown} {figure.noun}, the source says {mine[0].shown}"
    return None


def find_unfounded(claim: str, told: str, chunk: RetrievedChunk, language: str) -> str | None:
    """What the claim has and the passage has nowhere near: a number, a name."""
    whole = _chunk_text(chunk)
    for figure in unmatched(figures_in(claim, language), figures_in(told, language)):
        if figure.spelt and not figure.unit and not rival(figure, figures_in(told, language)):
            continue  # `the two telescopes`: counted, not told
        if unmatched([figure], _figures_beside(claim, figure, chunk, language)):
            return f"says {figure.shown}, which the source does not"
    names, _ = strangers(claim, whole, language, is_dictionary_word)
    return f"names {names[0]}, which the source does not" if names else None


def _figures_beside(claim: str, figure: Figure, chunk: RetrievedChunk, language: str) -> tuple[Figure, ...]:
    """The figures of other sentences of the passage that share words with the claim's own stretch, and of its headings."""
    at = claim.find(figure.shown)
    near = set(terms(claim[max(0, at - 60) : at + len(figure.shown) + 60], chunk.language))
    spans, held = sentence_terms(chunk.text, chunk.language)
    least = max(2, len(near) // 3)
    beside = [
        chunk.text[start:end] for (start, end), words in zip(spans, held, strict=True) if len(near & words) >= least
    ]
    return figures_in("\n".join([_context(chunk), *beside]), language)


# --- words --------------------------------------------------------------------------------------------------


def align(claim: str, chunk: RetrievedChunk) -> Span:
    """The sentence of a chunk, or two in a row, that holds most of what the claim says.

    Of two that hold as much, a sentence comes before a heading, then the one that has more of the claim's numbers.
    """
    claimed = frozenset(terms(claim, chunk.language))
    wanted = frozenset(content_terms(claim, chunk.language)) or claimed
    spans, held = sentence_terms(chunk.text, chunk.language)
    best, best_rank = spans[0], (0.0, False, 0.0, 0.0)
    for span, words in zip(spans, held, strict=True):
        rank = _alignment_rank(wanted, claimed, words, prose=not _is_heading(chunk.text, span))
        if rank[0] > 0 and rank > best_rank:
            best, best_rank = span, rank
    least = best_rank[0] + MIN_SECOND_SENTENCE_GAIN
    for n in range(len(spans) - 1):
        rank = _alignment_rank(wanted, claimed, held[n] | held[n + 1], prose=True)
        if rank[0] > least and rank > best_rank:
            best, best_rank = (spans[n][0], spans[n + 1][1]), rank
    return best


def _alignment_rank(
    wanted: frozenset[str], claimed: frozenset[str], words: frozenset[str], *, prose: bool
) -> tuple[float, bool, float, float]:
    """How near a stretch comes to a claim: the share of its words but for numbers, then what decides between equals."""
    share, density = _rank(wanted, words)
    return share, prose, _rank(claimed, words)[0], density


def _is_heading(text: str, span: Span) -> bool:
    """Whether a sentence is the heading of a section; its marks are not part of the span."""
    return bool(_HEADING_MARKS.fullmatch(text, text.rfind("\n", 0, span[0]) + 1, span[0]))


def _rank(wanted: frozenset[str], words: frozenset[str]) -> tuple[float, float]:
    """How much of what is wanted is among the words, and how much of these that is."""
    shared = len(wanted & words)
    return (shared / len(wanted) if wanted else 0.0, shared / (len(words) or 1))


@lru_cache(maxsize=256)
def sentence_terms(text: str, language: str) -> tuple[tuple[Span, ...], tuple[frozenset[str], ...]]:
    """The sentences of a passage and the words of each; one passage is often cited several times."""
    spans = tuple(sentences(text)) or ((0, len(text)),)
    return spans, tuple(frozenset(terms(text[start:end], language)) for start, end in spans)


def _lexical_support(claim: str, told: str, whole: str, language: str) -> float:
    """The share of the claim's words that the passage has, whole or as parts, here or around."""
    wanted = content_terms(claim, language)
    if not wanted:
        return 1.0 if figures_in(claim, language) else 0.0
    here, around = _cached_terms(told, language), _cached_terms(whole, language)
    return sum(_word_weight(word, here, around) for word in wanted) / len(wanted)


def content_terms(claim: str, language: str) -> list[str]:
    """The words of a claim but for its numbers, which are compared as such."""
    words = dict.fromkeys(terms(claim, language))
    amounts = number_words(language).keys() | units(language).keys()
    return [word for word in words if not any(map(str.isdigit, word)) and word not in amounts]


@lru_cache(maxsize=256)
def _cached_terms(text: str, language: str) -> frozenset[str]:
    return frozenset(terms(text, language))


def _word_weight(word: str, here: frozenset[str], around: frozenset[str]) -> float:
    if word in here:
        return 1.0
    if len(word) >= MIN_COMPOUND_PART_CHARS and any(
        (word in other or (len(other) >= MIN_COMPOUND_PART_CHARS and other in word)) for other in here
    ):
        return PARTIAL_WORD_WEIGHT
    return CONTEXT_WORD_WEIGHT if word in around else 0.0


def _chunk_text(chunk: RetrievedChunk) -> str:
    return f"{_context(chunk)}\n{chunk.text}"


def _context(chunk: RetrievedChunk) -> str:
    return "\n".join([chunk.title, *chunk.heading_path, chunk.header])


def is_dictionary_word(word: str, language: str) -> bool:
    """Whether a dictionary knows a word."""
    return language in languages() and word in dictionary(language)
