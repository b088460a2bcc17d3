"""Title links: a document whose title the question or one of the best passages mentions gets a higher score.

The answer to a multi-hop question is often in a document that only the passage about the first step mentions: the
passage about a film names its director, and the page about the director does not name the film. The weights are round
numbers and were not fitted; docs/evaluation.md has the results of other weights.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pincite.core.query.hits import Hit, Scale, ScoreContribution
from pincite.text.terms import STOP_WORDS

NAMING_PASSAGES = 3
"""Best passages that are searched for titles."""
QUESTION_MENTION_SCORE = 0.5
"""Score of a mention in the question; a mention in a passage has the score of that passage."""

_MAX_NAME_WORDS = 6
_MIN_NAME_CHARS = 4
"""Limits of a possible title."""
_MAX_GAP_CHARS = 3
"""Characters between two words of one name."""

_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")
_STOP = frozenset().union(*STOP_WORDS.values())


@dataclass(frozen=True, slots=True)
class TitleMention:
    """A mention of a title: the rank and score of the passage; the rank is None for the question."""

    rank: int | None
    score: float


@dataclass(frozen=True, slots=True)
class MentionedNames:
    """Possible titles in a question and in the best passages."""

    in_question: frozenset[str]
    in_passages: tuple[tuple[float, frozenset[str]], ...]
    """The score and the names of each passage, best first, without the title of its own document."""
    question_score: float = QUESTION_MENTION_SCORE

    @property
    def names(self) -> list[str]:
        """All names without duplicates, sorted."""
        return sorted(self.in_question.union(*(names for _, names in self.in_passages)))

    def best_mention(self, name: str) -> TitleMention:
        """The mention of a name with the highest score."""
        found = [
            TitleMention(rank, score) for rank, (score, names) in enumerate(self.in_passages, start=1) if name in names
        ]
        return max(
            [*found, TitleMention(None, self.question_score)] if name in self.in_question else found,
            key=lambda one: one.score,
        )


def mentioned_names(
    question: str, hits: Sequence[Hit], question_score: float = QUESTION_MENTION_SCORE
) -> MentionedNames:
    """The possible titles in the question, which have the score `question_score`, and in the best hits."""
    in_passages = tuple(
        (hit.score, _names_in_passage(hit.chunk.text) - {bare_title(hit.chunk.title)}) for hit in hits[:NAMING_PASSAGES]
    )
    return MentionedNames(frozenset(names_in(question)), in_passages, question_score)


@lru_cache(maxsize=256)
def _names_in_passage(text: str) -> frozenset[str]:
    """The names in a passage; cached, since good passages are found repeatedly."""
    return frozenset(names_in(text))


def names_in(text: str) -> Iterator[str]:
    """The possible titles in a text, as written: up to six words, the first with a capital or a digit."""
    words = [(match.group(), *match.span()) for match in _WORD.finditer(text)]
    for first, (opening, start, _) in enumerate(words):
        if not (opening[0].isupper() or opening[0].isdigit()):
            continue
        has_content_word, last_end = False, start
        for word, begin, end in words[first : first + _MAX_NAME_WORDS]:
            if begin - last_end > _MAX_GAP_CHARS:
                break
            has_content_word = has_content_word or word.lower() not in _STOP
            last_end = end
            if has_content_word and end - start >= _MIN_NAME_CHARS:
                name = text[start:end]
                yield name if name.isprintable() and "  " not in name else " ".join(name.split())


def bare_title(title: str) -> str:
    """A title without brackets at its end, as texts mention it; the store has the same rule."""
    return _BRACKETS.sub("", title)


def boost_named_documents(hits: Iterable[Hit], named: Mapping[str, TitleMention], weight: float) -> list[Hit]:
    """The best passage of each mentioned document, with the contribution of the mention added to its score."""
    best: dict[str, Hit] = {}
    for hit in hits:
        document = hit.chunk.document_id
        if document in named and (document not in best or hit.score > best[document].score):
            best[document] = hit
    scale = Scale(weight, 0.0, 1.0)
    found: list[Hit] = []
    for document, hit in best.items():
        mention = named[document]
        share = scale.share(mention.score)
        placing = ScoreContribution("named", 0, mention.rank, mention.score, share, scale)
        score = hit.score + share
        found.append(replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, placing)))
    return found
