"""What a model says about passages, reduced to what the passages state."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

from pincite.core.engines import BuildPassage, BuildSource
from pincite.core.graph import EntityType, Extracted, GraphEdge, GraphFact, Mention
from pincite.text.sentences import Span, sentences
from pincite.text.terms import terms
from pincite.text.wording.abbreviations import abbreviations_in
from pincite.text.wording.entity_names import name_hash, name_key

KINDS: tuple[EntityType, ...] = get_args(EntityType)


@dataclass(frozen=True, slots=True)
class ClaimedFact:
    """A fact as a model states it."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a model says about a passage: names with their types, and facts."""

    entities: Mapping[str, str]
    facts: Sequence[ClaimedFact]


def checked(source: BuildSource, claimed: Mapping[int, Claimed]) -> Extracted:
    """The graph of the claims that hold: names that stand in their passage, and facts that one of its sentences states."""
    mentions, facts, edges = list[Mention](), list[GraphFact](), Counter[tuple[int, int]]()
    same: set[tuple[int, int]] = set()
    for passage in source.passages:
        one = claimed.get(passage.chunk)
        if one is None:
            continue
        spans = {name: found for name in _names(one) if (found := _spans(name, passage.text))}
        mentions += _mentions(passage, one, spans)
        split = list(sentences(passage.text))
        facts += _stated(passage, one.facts, spans, split)
        edges.update(_pairs(spans, split))
        same |= {(name_hash(key), name_hash(long)) for key, long in abbreviations_in(passage.text).items()}
    return Extracted(
        tuple(mentions),
        tuple(dict.fromkeys(facts)),
        tuple(GraphEdge(first, second, count) for (first, second), count in sorted(edges.items())),
        tuple(sorted(same)),
    )


def _names(claims: Claimed) -> list[str]:
    named = [*claims.entities, *(side for fact in claims.facts for side in (fact.subject, fact.object))]
    return [name for name in dict.fromkeys(named) if name_key(name)]


def _spans(name: str, text: str) -> list[Span]:
    """Where a name stands in a text as whole words, with any white space between them."""
    pattern = r"\s+".join(map(re.escape, name.split()))
    return [match.span() for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", text)]


def _mentions(passage: BuildPassage, claims: Claimed, spans: Mapping[str, Sequence[Span]]) -> Iterator[Mention]:
    """One mention for each name that stands in the passage; names of the same normal form are one."""
    grouped: dict[int, list[str]] = {}
    for name in spans:
        grouped.setdefault(name_hash(name), []).append(name)
    for number, names in grouped.items():
        kinds = [kind for kind in KINDS for name in names if claims.entities.get(name) == kind and kind != "other"]
        places = sorted({(passage.start + a, passage.start + b) for name in names for a, b in spans[name]})
        yield Mention(passage.chunk, number, kinds[0] if kinds else "other", names[0], tuple(places))


def _stated(
    passage: BuildPassage, facts: Sequence[ClaimedFact], spans: Mapping[str, Sequence[Span]], split: Sequence[Span]
) -> Iterator[GraphFact]:
    """The facts that a sentence states: it has both names, and a word of the relation outside of them."""
    for fact in facts:
        subject, target = name_hash(fact.subject), name_hash(fact.object)
        if subject == target or fact.subject not in spans or fact.object not in spans:
            continue
        words = set(terms(fact.relation, passage.language))
        for start, end in split:
            sides = [
                [span for span in spans[name] if _within(span, start, end)] for name in (fact.subject, fact.object)
            ]
            rest = _without(passage.text, start, end, [span for side in sides for span in side])
            if all(sides) and words & set(terms(rest, passage.language)):
                place = passage.start + start, passage.start + end
                yield GraphFact(passage.chunk, fact.subject, subject, fact.relation, fact.object, target, *place)
                break


def _within(span: Span, start: int, end: int) -> bool:
    return start <= span[0] and span[1] <= end


def _without(text: str, start: int, end: int, spans: Sequence[Span]) -> str:
    """A sentence without these spans."""
    hidden = {place for a, b in spans for place in range(a, b)}
    return "".join(" " if place in hidden else text[place] for place in range(start, end))


def _pairs(spans: Mapping[str, Sequence[Span]], split: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """The pairs of different entities that each sentence names."""
    for start, end in split:
        found = {name_hash(name) for name, places in spans.items() if any(_within(one, start, end) for one in places)}
        yield from combinations(sorted(found), 2)
