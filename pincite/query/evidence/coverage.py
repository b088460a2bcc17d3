"""The aspects of a question, and how many of them the evidence covers."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Entity, Plan
from pincite.core.run import Run
from pincite.query.rank.relevance import chunk_terms
from pincite.text.terms import STOP_WORDS, question_language, stem, words

MAX_ASPECT_WORDS = 4
"""Adjacent words that form one aspect."""
MIN_COMPOUND_PART_CHARS = 5
"""Letters of a word that is matched as a part of a compound; `Dach` in `Werkstattdach` is too short."""

_TOKEN = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")
_ASKED_FOR = frozenset(
    "year years number numbers amount kind kinds type types sort name names called call person place time times date day much many "
    "long often far old happened happen mean means meaning tell please give list describe explain say says said "
    "may might must shall should could would can cannot compare comparison summarise summarize summary show find "
    "jahr jahre zahl anzahl art arten sorte name namen heißt heißen genannt nennt person ort zeit zeitpunkt datum tag viel viele vielen lange oft "
    "weit alt passiert passierte geschah bedeutet nenne nennen beschreibe erkläre sag sagt steht bitte gibt "
    "darf dürfen muss müssen soll sollen kann können könnte möchte vergleiche vergleich fasse zusammen zeige finde".split()
)
"""Words that say what kind of answer is wanted, not what it is about."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """An aspect of a question: its text, and for each of its words the forms it may be indexed as."""

    text: str
    forms: tuple[frozenset[str], ...]
    named: bool = False


def find_aspects(question: str, entities: Sequence[Entity], languages: Collection[str]) -> list[Aspect]:
    """The aspects of a question: its entities, and its other content words, adjacent ones together."""
    own = question_language(question)
    spoken = tuple(languages) or (own,)
    named = [entity.text for entity in entities if _forms(entity.text, own, spoken)]
    left, found = question, list[tuple[int, Aspect]]()
    for name in named:
        offset = left.find(name)
        if offset >= 0:
            found.append((offset, Aspect(name, _forms(name, own, spoken), named=True)))
            left = left[:offset] + "?" * len(name) + left[offset + len(name) :]
    found += [(offset, Aspect(run, _forms(run, own, spoken))) for offset, run in _content_word_runs(left, own)]
    return [aspect for _, aspect in sorted(found, key=lambda one: one[0])]


def _content_word_runs(text: str, language: str) -> list[tuple[int, str]]:
    """Adjacent content words with one blank between them, with their offset."""
    found: list[list[re.Match[str]]] = []
    for match in _TOKEN.finditer(text):
        if not _is_content_word(match.group(), language):
            continue
        joined = found and len(found[-1]) < MAX_ASPECT_WORDS and text[found[-1][-1].end() : match.start()] == " "
        if joined:
            found[-1].append(match)
        else:
            found.append([match])
    return [(run[0].start(), text[run[0].start() : run[-1].end()]) for run in found]


def _is_content_word(word: str, language: str) -> bool:
    lower = word.lower()
    return lower not in STOP_WORDS.get(language, frozenset()) and lower not in _ASKED_FOR


def _forms(text: str, own: str, languages: Sequence[str]) -> tuple[frozenset[str], ...]:
    kept = [word for word in words(text) if _is_content_word(word, own)]
    return tuple(frozenset(stem(word, language) for language in languages) for word in kept)


def measure_coverage(aspects: Sequence[Aspect], held: frozenset[str]) -> tuple[float, tuple[str, ...]]:
    """The share of the aspects' words that are among the terms `held`, and the missing aspects.

    A name is missing where one of its words is; another aspect, where all of its words are.
    """
    covered = [[_is_covered(forms, held) for forms in aspect.forms] for aspect in aspects]
    missing = tuple(
        aspect.text
        for aspect, words_covered in zip(aspects, covered, strict=True)
        if not any(words_covered) or (aspect.named and not all(words_covered))
    )
    count = sum(map(len, covered))
    return (sum(map(sum, covered)) / count if count else 0.0), missing


def _is_covered(forms: frozenset[str], held: frozenset[str]) -> bool:
    """Whether a word is among the terms `held`, by itself or as a part of a compound."""
    if forms & held:
        return True
    long = [form for form in forms if len(form) >= MIN_COMPOUND_PART_CHARS]
    return bool(long) and any(
        form in word or (len(word) >= MIN_COMPOUND_PART_CHARS and word in form) for form in long for word in held
    )


MAX_EVIDENCE_PASSAGES = 50
"""Passages that an answer may use."""


async def evidence_selection(run: Run, plan: Plan, hits: Sequence[Hit]) -> Evidence:
    """The passages that the answer may use, best first, with their coverage of the question and the missing aspects."""
    kept = hits[:MAX_EVIDENCE_PASSAGES]
    aspects = find_aspects(plan.text, plan.analysis.entities, {hit.chunk.language for hit in kept})
    held = frozenset[str]().union(*(chunk_terms(hit.chunk) for hit in kept))
    coverage, missing = measure_coverage(aspects, held)
    run.observe(kept=len(kept), aspects=len(aspects), missing=len(missing))
    return Evidence(tuple(kept), coverage, missing)
