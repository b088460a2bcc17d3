"""Questions from passages without a model: from headings, definitions, rare words, and sentences with a gap.

Only German and English headings and definitions become sentences; rare words and gaps do without grammar.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pincite.core.evaluations import Place, QuestionKind, Sampled, SetQuestion
from pincite.query.ground.suggestions import definition_question, heading_question
from pincite.text.sentences import sentences
from pincite.text.terms import STOP_WORDS, stem, terms, words

GAP = "…"
FEWEST, MOST = 7, 40
"""Words of a sentence that is long enough to tell something and short enough to be asked."""
PHRASE = 4
"""Words of a question made of rare words."""

_NAME = re.compile(r"\d|^[^\W\d_]*[A-ZÄÖÜ]")


@dataclass(frozen=True, slots=True)
class Sample:
    """The passages questions are made from, in how many of them each term occurs, and which section each is of."""

    passages: Sequence[Sampled]
    frequency: Mapping[str, int]
    sections: Mapping[tuple[str, tuple[str, ...]], Sequence[Place]]
    paths: Mapping[tuple[str, ...], int]

    def rare(self, term: str) -> bool:
        """Whether few passages have this word: it tells them from the others."""
        return self.frequency.get(term, 0) <= max(2, len(self.passages) // 100)


def sample_of(passages: Sequence[Sampled]) -> Sample:
    """Count what tells passages apart."""
    frequency = Counter(term for one in passages for term in set(terms(one.text, one.language)))
    sections: dict[tuple[str, tuple[str, ...]], list[Place]] = {}
    for one in passages:
        sections.setdefault((one.document_id, one.heading_path), []).append(one.place)
    return Sample(passages, frequency, sections, Counter(path for _, path in sections))


def make_questions(sample: Sample, count: int, seed: int) -> list[SetQuestion]:
    """So many questions, the kinds in turn, spread over passages in an order the seed decides; fewer where there
    is not enough to ask about.
    """
    order = list(sample.passages)
    Random(seed).shuffle(order)
    streams = {kind: _stream(maker, sample, order, Random(f"{seed} {kind}")) for kind, maker in _MAKERS.items()}
    found: dict[str, SetQuestion] = {}
    while streams and len(found) < count:
        for kind in list(streams):
            question = next((one for one in streams[kind] if one.text.casefold() not in found), None)
            if question is None:
                del streams[kind]
            elif len(found) < count:
                found[question.text.casefold()] = question
    return list(found.values())


Maker = Callable[[Sample, Sampled, Random], Iterator[SetQuestion]]


def _stream(maker: Maker, sample: Sample, order: Sequence[Sampled], chance: Random) -> Iterator[SetQuestion]:
    """At most one question of a kind from each passage."""
    for passage in order:
        if (question := next(maker(sample, passage, chance), None)) is not None:
            yield question


def _from_heading(sample: Sample, passage: Sampled, _chance: Random) -> Iterator[SetQuestion]:
    """A heading that stands once in the library."""
    if sample.paths[passage.heading_path] != 1:
        return
    text = heading_question(passage.heading_path, passage.title, passage.language)
    if text is None:
        return
    section = sample.sections[passage.document_id, passage.heading_path]
    span = Place(passage.document_id, min(one.start for one in section), max(one.end for one in section))
    yield _question(passage, "heading", text, span)


def _from_definition(sample: Sample, passage: Sampled, _chance: Random) -> Iterator[SetQuestion]:
    """What a sentence defines, where the passage is one of few that speak of it."""
    for start, end in _sentences(passage):
        found = definition_question(passage.text[start:end], passage.language)
        if found and any(sample.rare(term) for term in found[1]):
            yield _question(passage, "definition", found[0], _at(passage, start, end))


def _from_phrase(sample: Sample, passage: Sampled, chance: Random) -> Iterator[SetQuestion]:
    """The rarest words of a sentence in their order, as one types them into a search field."""
    for start, end in _shuffled(_sentences(passage), chance):
        tokens = _content_words(passage.text[start:end], passage.language)
        rarity = {word: sample.frequency.get(term, 0) for word, term in tokens}
        chosen = set(sorted(rarity, key=lambda word: (rarity[word], word))[:PHRASE])
        if len(chosen) == PHRASE and any(sample.rare(term) for word, term in tokens if word in chosen):
            text = " ".join(dict.fromkeys(word for word, _ in tokens if word in chosen))
            yield _question(passage, "phrase", text, _at(passage, start, end))


def _from_gap(sample: Sample, passage: Sampled, chance: Random) -> Iterator[SetQuestion]:
    """A sentence without the number, name or rare word one would ask it for."""
    for start, end in _shuffled(_sentences(passage), chance):
        sentence = " ".join(passage.text[start:end].split())
        tokens = _content_words(sentence, passage.language)
        wanted = [word for word, term in tokens[1:] if _NAME.search(word) or sample.rare(term)]
        if wanted and len(tokens) > PHRASE:
            gap = min(wanted, key=lambda word: (sample.frequency.get(stem(word.lower(), passage.language), 0), word))
            text = re.sub(rf"(?<!\w){re.escape(gap)}(?!\w)", GAP, sentence)
            yield _question(passage, "cloze", text, _at(passage, start, end))


_MAKERS: Mapping[QuestionKind, Maker] = {
    "heading": _from_heading,
    "definition": _from_definition,
    "phrase": _from_phrase,
    "cloze": _from_gap,
}


def _sentences(passage: Sampled) -> list[tuple[int, int]]:
    """Sentences of prose and lists that are worth asking about."""
    if passage.content_type not in ("prose", "list"):
        return []
    spans = sentences(passage.text)
    return [
        (a, b) for a, b in spans if FEWEST <= len(words(passage.text[a:b])) <= MOST and "|" not in passage.text[a:b]
    ]


def _shuffled(spans: Sequence[tuple[int, int]], chance: Random) -> list[tuple[int, int]]:
    order = list(spans)
    chance.shuffle(order)
    return order


def _content_words(text: str, language: str) -> list[tuple[str, str]]:
    """The words that carry meaning, as written, with the term each is found by."""
    stop = STOP_WORDS.get(language, frozenset())
    plain = re.findall(r"\d[\d.,:]*\d|[^\W_][\w'’-]*[^\W_]|[^\W_]", text)
    return [(word, stem(word.lower(), language)) for word in plain if word.lower() not in stop]


def _at(passage: Sampled, start: int, end: int) -> Place:
    return Place(passage.document_id, passage.start + start, passage.start + end)


def _question(passage: Sampled, kind: QuestionKind, text: str, place: Place) -> SetQuestion:
    return SetQuestion(" ".join(text.split()), kind, passage.language, place, passage.version, passage.ordinal)
