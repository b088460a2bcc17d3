"""How far a passage supports a claim: by shared words, facts that rules can check, and the cosine of embeddings.

Words agree by degrees; numbers, dates, units, names, negations and directions either agree or not. Where they do not,
the passage does not support the claim, however similar the texts are: the embeddings of `30 days` and `25 days` are
almost the same. Rules therefore decide first, and embeddings only where the rules leave it open.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pincite.core.query.hits import RetrievedChunk
from pincite.text.dictionary import LANGUAGES, dictionary
from pincite.text.figures import Figure, figures_in, rival, unmatched
from pincite.text.names import strangers, swapped
from pincite.text.negation import opposed
from pincite.text.sentences import Span, sentences
from pincite.text.terms import question_language, terms
from pincite.text.units import SPELT, UNITS

MIN_SUPPORT = 0.5
"""Minimum support of a claim that counts as supported."""
REFUTED_SUPPORT = 0.1
"""Maximum support where the passage contradicts the claim."""
UNFOUNDED_SUPPORT = 0.2
"""Maximum support where the passage lacks a number or a name of the claim."""
CONTEXT_WORD_WEIGHT = 0.5
"""Weight of a word found elsewhere in the passage, in its title or its headings."""
PARTIAL_WORD_WEIGHT = 0.8
"""Weight of a word found as a part of a longer word, or containing one."""
CERTAIN_SHARE = 0.85
"""With at least this share of the claim's words in the passage, no embedding is needed."""
HOPELESS_SHARE = 0.12
"""With at most this share of the claim's words and no numbers in the claim, no embedding is computed either."""
MIN_SECOND_SENTENCE_GAIN = 0.15
"""Share of the claim's words that a second sentence must add to be quoted with the first."""
MIN_COMPOUND_PART_CHARS = 5
"""Letters of a word that is matched as a part of another."""


@dataclass(frozen=True, slots=True)
class SupportVerdict:
    """The part of a passage that matches a claim best, and how far it supports the claim.

    `reason` says why it does not, and `refuted` that the passage contradicts the claim. An `open` verdict still has to
    be decided by embeddings or by words alone.
    """

    start: int
    end: int
    support: float
    lexical: float = 0.0
    reason: str | None = None
    refuted: bool = False
    open: bool = False


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


def judge_claim(claim: str, chunk: RetrievedChunk) -> SupportVerdict:
    """The verdict of the rules on a claim and a passage; `open` where an embedding should decide."""
    language = chunk.language if chunk.language in LANGUAGES else question_language(claim)
    start, end = align(claim, chunk)
    sentence = chunk.text[start:end]
    whole = _chunk_text(chunk)
    lexical = _lexical_support(claim, sentence, whole, chunk.language)
    found = SupportVerdict(start, end, lexical, lexical)
    reason = find_contradiction(claim, sentence, language) if lexical > HOPELESS_SHARE else None
    if reason:
        return replace(found, support=min(lexical, REFUTED_SUPPORT), reason=reason, refuted=True)
    reason = find_unfounded(claim, sentence, chunk, language)
    if reason:
        return replace(found, support=min(lexical, UNFOUNDED_SUPPORT), reason=reason)
    if lexical >= CERTAIN_SHARE:
        return found
    if lexical <= HOPELESS_SHARE and not figures_in(claim, language):
        return replace(found, support=min(lexical, UNFOUNDED_SUPPORT), reason="the source says nothing of the kind")
    return replace(found, support=_support(LEXICAL_WEIGHTS, found, claim, chunk, 0.0), open=True)


def decide_by_cosine(verdict: SupportVerdict, claim: str, chunk: RetrievedChunk, cosine: float) -> SupportVerdict:
    """Decide an open verdict by words and the cosine of claim and passage."""
    support = _support(FITTED_WEIGHTS, verdict, claim, chunk, cosine)
    reason = None if support >= MIN_SUPPORT else "the source does not say so"
    return replace(verdict, support=support, reason=reason, open=False)


def decide_by_words(verdict: SupportVerdict) -> SupportVerdict:
    """Decide an open verdict by words alone."""
    reason = None if verdict.support >= MIN_SUPPORT else verdict.reason or "the source does not say so"
    return replace(verdict, reason=reason, open=False)


def _support(
    weights: SupportWeights, verdict: SupportVerdict, claim: str, chunk: RetrievedChunk, cosine: float
) -> float:
    nouns = unknown_noun_share(claim, chunk)
    logit = weights.bias + weights.words * verdict.lexical + weights.meaning * cosine - weights.nouns * nouns
    return round(1 / (1 + math.exp(-logit)), 4)


def unknown_noun_share(claim: str, chunk: RetrievedChunk) -> float:
    """The share of a German claim's nouns that are not in the passage; 0 for other languages."""
    if chunk.language != "de":
        return 0.0
    _, nouns = strangers(claim, _chunk_text(chunk), "de", is_dictionary_word)
    capitals = sum(word[0].isupper() for word in claim.split()[1:] if word)
    return min(1.0, len(nouns) / capitals) if capitals else 0.0


def rank_passages(claim: str, chunks: Sequence[RetrievedChunk]) -> list[int]:
    """The indices of the passages that share words with a claim, best first."""
    ranked = []
    for number, chunk in enumerate(chunks):
        wanted = frozenset(terms(claim, chunk.language))
        shares = [_rank(wanted, words) for words in sentence_terms(chunk.text, chunk.language)[1]]
        ranked.append((max(shares, default=(0.0, 0.0)), -number))
    return [-number for share, number in sorted(ranked, reverse=True) if share[0] > 0]


# --- contradictions and missing facts -------------------------------------------------------------------------------


def find_contradiction(claim: str, sentence: str, language: str) -> str | None:
    """What the passage contradicts (a name, a number, a negation, a direction), in words; None where nothing."""
    swapped_names = swapped(claim, sentence, language, is_dictionary_word)
    if swapped_names:
        return f"names {swapped_names[0]}, the source names {swapped_names[1]}"
    claimed, held = figures_in(claim, language), figures_in(sentence, language)
    for figure in unmatched(claimed, held):
        other = rival(figure, unmatched(held, claimed))
        if other and _same_thing(figure, other):
            return f"says {figure.shown}, the source says {other.shown}"
    return _find_misplaced_number(claimed, held) or opposed(claim, sentence, language)


def _same_thing(one: Figure, other: Figure) -> bool:
    """Whether two numbers measure or count the same thing."""
    if one.kind != "number" or (one.unit and one.unit == other.unit) or one.bare & other.bare:
        return True
    alike = one.noun == other.noun and not one.unit and not other.unit
    return alike and (bool(one.noun) or len(one.shown) == len(other.shown))


def _find_misplaced_number(claimed: Sequence[Figure], held: Sequence[Figure]) -> str | None:
    """A number that the passage gives for something else, in words: `30 guests and 25 beds` claimed as 30 beds."""
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


def find_unfounded(claim: str, sentence: str, chunk: RetrievedChunk, language: str) -> str | None:
    """A number or name of the claim that the passage lacks, in words; None where there is none."""
    whole = _chunk_text(chunk)
    for figure in unmatched(figures_in(claim, language), figures_in(sentence, language)):
        if figure.spelt and not figure.unit and not rival(figure, figures_in(sentence, language)):
            continue  # `the two telescopes`: a count of what is listed, no fact of the source
        if unmatched([figure], _figures_beside(claim, figure, chunk, language)):
            return f"says {figure.shown}, which the source does not"
    names, _ = strangers(claim, whole, language, is_dictionary_word)
    return f"names {names[0]}, which the source does not" if names else None


def _figures_beside(claim: str, figure: Figure, chunk: RetrievedChunk, language: str) -> tuple[Figure, ...]:
    """The numbers in the headings and in those sentences that share words with the claim around a number."""
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
    """The span of the sentence, or of two adjacent ones, with most of the claim's words."""
    wanted = frozenset(content_terms(claim, chunk.language)) or frozenset(terms(claim, chunk.language))
    spans, held = sentence_terms(chunk.text, chunk.language)
    best, best_rank = spans[0], (0.0, 0.0)
    for span, words in zip(spans, held, strict=True):
        rank = _rank(wanted, words)
        if rank > best_rank:
            best, best_rank = span, rank
    least = best_rank[0] + MIN_SECOND_SENTENCE_GAIN
    for n in range(len(spans) - 1):
        rank = _rank(wanted, held[n] | held[n + 1])
        if rank[0] > least and rank > best_rank:
            best, best_rank = (spans[n][0], spans[n + 1][1]), rank
    return best


def _rank(wanted: frozenset[str], words: frozenset[str]) -> tuple[float, float]:
    """The share of the wanted words that are found, and their share of all words."""
    shared = len(wanted & words)
    return (shared / len(wanted) if wanted else 0.0, shared / (len(words) or 1))


@lru_cache(maxsize=256)
def sentence_terms(text: str, language: str) -> tuple[tuple[Span, ...], tuple[frozenset[str], ...]]:
    """The sentence spans of a passage and the terms of each; cached, since a passage is often cited several times."""
    spans = tuple(sentences(text)) or ((0, len(text)),)
    return spans, tuple(frozenset(terms(text[start:end], language)) for start, end in spans)


def _lexical_support(claim: str, sentence: str, whole: str, language: str) -> float:
    """The weighted share of the claim's words that the passage holds, whole or in part."""
    wanted = content_terms(claim, language)
    if not wanted:
        return 1.0 if figures_in(claim, language) else 0.0
    here, around = _cached_terms(sentence, language), _cached_terms(whole, language)
    return sum(_word_weight(word, here, around) for word in wanted) / len(wanted)


def content_terms(claim: str, language: str) -> list[str]:
    """The terms of a claim without its numbers and units, which are compared separately."""
    words = dict.fromkeys(terms(claim, language))
    return [word for word in words if not any(map(str.isdigit, word)) and word not in SPELT and word not in UNITS]


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
    return language in LANGUAGES and word in dictionary(language)
