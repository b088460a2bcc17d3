"""Generate questions from passages by rules: from headings, definitions, rare words, and cloze sentences.

Headings and definitions are turned into questions in German and English only; the other two need no grammar.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pincite.core.evaluations import Place, QuestionKind, SampledPassage, SetQuestion
from pincite.query.ground.suggestions import definition_question, heading_question
from pincite.text.sentences import sentences
from pincite.text.terms import stem, stop_words, terms, words

GAP = "…"
MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 7, 40
"""Range of the length in words of a sentence that is used for a question."""

PHRASE_WORDS = 4
"""Number of words of a question made of rare words."""

_NAME = re.compile(r"\d|^[^\W\d_]*[A-ZÄÖÜ]")


@dataclass(frozen=True, slots=True)
class Sample:
    """The sampled passages, the document frequency of terms, and the passages of each section."""

    passages: Sequence[SampledPassage]
    frequency: Mapping[str, int]
    sections: Mapping[tuple[str, tuple[str, ...]], Sequence[Place]]
    paths: Mapping[tuple[str, ...], int]

    def rare(self, term: str) -> bool:
        """Whether a term occurs in few passages."""
        return self.frequency.get(term, 0) <= max(2, len(self.passages) // 100)


def sample_of(passages: Sequence[SampledPassage]) -> Sample:
    """Count terms and sections of the passages."""
    frequency = Counter(term for one in passages for term in set(terms(one.text, one.language)))
    sections: dict[tuple[str, tuple[str, ...]], list[Place]] = {}
    for one in passages:
        sections.setdefault((one.document_id, one.heading_path), []).append(one.place)
    return Sample(passages, frequency, sections, Counter(path for _, path in sections))


def make_questions(sample: Sample, count: int, seed: int) -> list[SetQuestion]:
    """Generate up to `count` questions of alternating kinds, from passages in a random order given by the seed."""
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


Maker = Callable[[Sample, SampledPassage, Random], Iterator[SetQuestion]]


def _stream(maker: Maker, sample: Sample, order: Sequence[SampledPassage], chance: Random) -> Iterator[SetQuestion]:
    """Yield at most one question of a kind per passage."""
    for passage in order:
        if (question := next(maker(sample, passage, chance), None)) is not None:
            yield question


def _from_heading(sample: Sample, passage: SampledPassage, _chance: Random) -> Iterator[SetQuestion]:
    """Make a question from a heading that occurs once in the library."""
    if sample.paths[passage.heading_path] != 1:
        return
    text = heading_question(passage.heading_path, passage.title, passage.language)
    if text is None:
        return
    section = sample.sections[passage.document_id, passage.heading_path]
    span = Place(passage.document_id, min(one.start for one in section), max(one.end for one in section))
    yield _question(passage, "heading", text, span)


def _from_definition(sample: Sample, passage: SampledPassage, _chance: Random) -> Iterator[SetQuestion]:
    """Make a question from a definition of a rare term."""
    for start, end in _sentences(passage):
        found = definition_question(passage.text[start:end], passage.language)
        if found and any(sample.rare(term) for term in found[1]):
            yield _question(passage, "definition", found[0], _place_in(passage, start, end))


def _from_phrase(sample: Sample, passage: SampledPassage, chance: Random) -> Iterator[SetQuestion]:
    """Make a keyword query from the rarest words of a sentence, in their order."""
    for start, end in _shuffled(_sentences(passage), chance):
        tokens = _content_words(passage.text[start:end], passage.language)
        rarity = {word: sample.frequency.get(term, 0) for word, term in tokens}
        chosen = set(sorted(rarity, key=lambda word: (rarity[word], word))[:PHRASE_WORDS])
        if len(chosen) == PHRASE_WORDS and any(sample.rare(term) for word, term in tokens if word in chosen):
            text = " ".join(dict.fromkeys(word for word, _ in tokens if word in chosen))
            yield _question(passage, "phrase", text, _place_in(passage, start, end))


def _from_gap(sample: Sample, passage: SampledPassage, chance: Random) -> Iterator[SetQuestion]:
    """Make a cloze question: a sentence with a number, name or rare word removed."""
    for start, end in _shuffled(_sentences(passage), chance):
        sentence = " ".join(passage.text[start:end].split())
        tokens = _content_words(sentence, passage.language)
        wanted = [word for word, term in tokens[1:] if _NAME.search(word) or sample.rare(term)]
        if wanted and len(tokens) > PHRASE_WORDS:
            gap = min(wanted, key=lambda word: (sample.frequency.get(stem(word.lower(), passage.language), 0), word))
            text = re.sub(rf"(?<!\w){re.escape(gap)}(?!\w)", GAP, sentence)
            yield _question(passage, "cloze", text, _place_in(passage, start, end))


_MAKERS: Mapping[QuestionKind, Maker] = {
    "heading": _from_heading,
    "definition": _from_definition,
    "phrase": _from_phrase,
    "cloze": _from_gap,
}


def _sentences(passage: SampledPassage) -> list[tuple[int, int]]:
    """The sentences of prose and lists that are suitable for questions."""
    if passage.content_type not in ("prose", "list"):
        return []
    spans = sentences(passage.text)
    return [
        (a, b)
        for a, b in spans
        if MIN_SENTENCE_WORDS <= len(words(passage.text[a:b])) <= MAX_SENTENCE_WORDS and "|" not in passage.text[a:b]
    ]


def _shuffled(spans: Sequence[tuple[int, int]], chance: Random) -> list[tuple[int, int]]:
    order = list(spans)
    chance.shuffle(order)
    return order


def _content_words(text: str, language: str) -> list[tuple[str, str]]:
    """The words of a text without stop words, each with its index term."""
    stop = stop_words(language)
    plain = re.findall(r"\d[\d.,:]*\d|[^\W_][\w'’-]*[^\W_]|[^\W_]", text)
    return [(word, stem(word.lower(), language)) for word in plain if word.lower() not in stop]


def _place_in(passage: SampledPassage, start: int, end: int) -> Place:
    return Place(passage.document_id, passage.start + start, passage.start + end)


def _question(passage: SampledPassage, kind: QuestionKind, text: str, place: Place) -> SetQuestion:
    return SetQuestion(" ".join(text.split()), kind, passage.language, place, passage.version, passage.ordinal)
