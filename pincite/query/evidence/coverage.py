"""What a question is about, aspect by aspect, and which of these the evidence says something about."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Entity, Plan
from pincite.core.run import Run
from pincite.query.rank.relevance import chunk_terms
from pincite.text import lang
from pincite.text.terms import question_language, question_words, stem, stop_words, words

MAX_ASPECT_WORDS = 4
"""Words in a row that are one aspect at most."""
MIN_COMPOUND_PART_CHARS = 5
"""Letters of a word that may be a part of another: `Dach` of `Werkstattdach` is too short to tell."""

_TOKEN = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Aspect:
    """A thing a question is about, in its own words, each with the forms it may be indexed under."""

    text: str
    forms: tuple[frozenset[str], ...]
    named: bool = False


def find_aspects(question: str, entities: Sequence[Entity], languages: Collection[str]) -> list[Aspect]:
    """The names, codes and numbers of a question, and its other words of meaning in the runs they stand in."""
    own = question_language(question)
    spoken = tuple(languages) or (own,)
    named = [entity.text for entity in entities if _forms(entity.text, own, spoken)]
    left, found = question, list[tuple[int, Aspect]]()
    for name in named:
        at = left.find(name)
        if at >= 0:
            found.append((at, Aspect(name, _forms(name, own, spoken), named=True)))
            left = left[:at] + "?" * len(name) + left[at + len(name) :]
    found += [(at, Aspect(run, _forms(run, own, spoken))) for at, run in _content_word_runs(left, own)]
    return [aspect for _, aspect in sorted(found, key=lambda one: one[0])]


def _content_word_runs(text: str, language: str) -> list[tuple[int, str]]:
    """Words of meaning that stand together, with nothing but a blank between them."""
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
    """Whether a word says what a question is about, not what kind of answer it wants."""
    lower = word.lower()
    return lower not in stop_words(language) and lower not in lang.recognised_words("questions.asked_for", language)


def _forms(text: str, own: str, languages: Sequence[str]) -> tuple[frozenset[str], ...]:
    kept = [word for word in question_words(text, own) if _is_content_word(word, own)]
    return tuple(frozenset(stem(word, language) for language in languages) for word in kept)


def measure_coverage(aspects: Sequence[Aspect], held: frozenset[str]) -> tuple[float, tuple[str, ...]]:
    """The share of the aspects' words that are held, and the aspects that nothing is said about.

    A name is missing where one of its words is; other words, where all of them are.
    """
    told = [[_is_covered(forms, held) for forms in aspect.forms] for aspect in aspects]
    missing = tuple(
        aspect.text
        for aspect, known in zip(aspects, told, strict=True)
        if not any(known) or (aspect.named and not all(known))
    )
    count = sum(map(len, told))
    return (sum(map(sum, told)) / count if count else 0.0), missing


def _is_covered(forms: frozenset[str], held: frozenset[str]) -> bool:
    """Whether a word is held, by itself or as a part of a compound."""
    if forms & held:
        return True
    long = [form for form in forms if len(form) >= MIN_COMPOUND_PART_CHARS]
    return bool(long) and any(
        form in word or (len(word) >= MIN_COMPOUND_PART_CHARS and word in form) for form in long for word in held
    )


MAX_EVIDENCE_PASSAGES = 50
"""No answer stands on more passages."""
MAX_LANGUAGE_PASSAGES = 3
"""Passages whose language tells whether the question is answered across languages."""


async def evidence_selection(run: Run, plan: Plan, hits: Sequence[Hit]) -> Evidence:
    """What an answer will stand on, best first, how much of the question it covers, and which aspects it does not."""
    kept = hits[:MAX_EVIDENCE_PASSAGES]
    aspects = find_aspects(plan.text, plan.analysis.entities, {hit.chunk.language for hit in kept})
    held = frozenset[str]().union(*(chunk_terms(hit.chunk) for hit in kept))
    coverage, missing = measure_coverage(aspects, held)
    own = question_language(plan.text)
    if kept and all(hit.chunk.language != own for hit in kept[:MAX_LANGUAGE_PASSAGES]):
        missing = ()  # words of two languages cannot be compared
    known = await _words_of_documents(run, aspects) if coverage < 1 else frozenset[str]()
    absent = absent_aspects([aspect for aspect in aspects if aspect.text in missing], known)
    run.observe(kept=len(kept), aspects=len(aspects), missing=len(missing), absent=len(absent))
    return Evidence(tuple(kept), coverage, missing, absent, known)


async def _words_of_documents(run: Run, aspects: Sequence[Aspect]) -> frozenset[str]:
    """The words of these aspects that any document of the asker has."""
    asked = {word for aspect in aspects for word in words(aspect.text)}
    if not asked or run.kit.vocabulary is None:
        return frozenset()
    return await run.kit.vocabulary.known_words(asked, scope=run.scope)


def absent_aspects(missing: Sequence[Aspect], known: frozenset[str]) -> tuple[str, ...]:
    """What a refusal names: a name of which the documents lack a word, and of other aspects the words they lack."""
    found = list[str]()
    for aspect in missing:
        tokens = _TOKEN.findall(aspect.text)
        lacking = [token for token in tokens if not known.issuperset(words(token))]
        found += [aspect.text] if len(lacking) == len(tokens) or (lacking and aspect.named) else lacking
    return tuple(found)
