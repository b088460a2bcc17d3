"""Who names whom: a document whose title the question or one of the best passages names is looked into, too.

What answers a question of several steps is often only named where the first step is answered: the passage about a
film names its director, and the director's own page never mentions the film. The weights are round numbers and were
not fitted; docs/evaluation.md shows what other ones bring.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pincite.core.query.hits import Hit, Scale, ScoreContribution
from pincite.text import lang

NAMING_PASSAGES = 3
"""So many of the best passages are read for names."""
QUESTION_MENTION_SCORE = 0.5
"""A title named by the question counts as if a passage of this score had named it."""

_MAX_NAME_WORDS = 6
_MIN_NAME_CHARS = 4
_MAX_GAP_CHARS = 3
"""Characters between two words of one name at most."""

_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True)
class TitleMention:
    """Who named a document: the passage at that rank and its score; rank None is the question."""

    rank: int | None
    score: float


@dataclass(frozen=True, slots=True)
class MentionedNames:
    """What a question and the best passages mention that may be a title."""

    asked: frozenset[str]
    read: tuple[tuple[float, frozenset[str]], ...]
    """Of each passage, best first: its score, and its names but for what it is called itself."""
    asking: float = QUESTION_MENTION_SCORE

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        return list(self.asked.union(*(names for _, names in self.read)))

    def naming(self, name: str) -> TitleMention:
        """The best that mentions a name."""
        who = [TitleMention(rank, score) for rank, (score, names) in enumerate(self.read, start=1) if name in names]
        return max([*who, TitleMention(None, self.asking)] if name in self.asked else who, key=lambda one: one.score)


def mentioned_names(question: str, hits: Sequence[Hit], asking: float = QUESTION_MENTION_SCORE) -> MentionedNames:
    """What the question and the best of the hits mention; `asking` is the score that naming by the question counts as."""
    read = tuple(
        (hit.score, _names_in_passage(hit.chunk.text) - {bare_title(hit.chunk.title)}) for hit in hits[:NAMING_PASSAGES]
    )
    return MentionedNames(frozenset(names_in(question)), read, asking)


@lru_cache(maxsize=1024)
def _names_in_passage(text: str) -> frozenset[str]:
    """What a passage names; the best ones come up again and again."""
    return frozenset(names_in(text))


def names_in(text: str) -> Iterator[str]:
    """What may be somebody's title in a text, as written: up to six words from one with a capital or a figure."""
    spans = [match.span() for match in _WORD.finditer(text)]
    stop_words = lang.recognised_words("terms.stop_words")
    for first, (start, _) in enumerate(spans):
        if not (text[start].isupper() or text[start].isdigit()):
            continue
        meant, reached = False, start
        for begin, end in spans[first : first + _MAX_NAME_WORDS]:
            if begin - reached > _MAX_GAP_CHARS:
                break
            meant = meant or text[begin:end].lower() not in stop_words
            reached = end
            if meant and end - start >= _MIN_NAME_CHARS:
                name = text[start:end]
                yield name if name.isprintable() and "  " not in name else " ".join(name.split())


def bare_title(title: str) -> str:
    """A title as texts name it: without what stands in brackets behind it; the store has the same rule."""
    return _BRACKETS.sub("", title)


def boost_named_documents(hits: Iterable[Hit], named: Mapping[str, TitleMention], weight: float) -> list[Hit]:
    """The best passage of each document that was named, with what that adds."""
    best: dict[str, Hit] = {}
    for hit in hits:
        document = hit.chunk.document_id
        if document in named and (document not in best or hit.score > best[document].score):
            best[document] = hit
    scale = Scale(weight, 0.0, 1.0)
    found: list[Hit] = []
    for document, hit in best.items():
        naming = named[document]
        share = scale.share(naming.score)
        placing = ScoreContribution("named", 0, naming.rank, naming.score, share, scale)
        score = hit.score + share
        found.append(replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, placing)))
    return found
