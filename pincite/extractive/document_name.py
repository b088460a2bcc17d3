"""Values that only the title of a document or the name of its file gives: the date of minutes, a code name, a version."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Hit
from pincite.core.query.reading import ReadableText, Reading
from pincite.extractive.abstain import topic_terms
from pincite.extractive.answer_span import VALUE_KINDS, fitting_values
from pincite.extractive.compose import AnswerPart
from pincite.extractive.question import QuestionTerms
from pincite.text import lang
from pincite.text.fixed_answers import said_by_name
from pincite.text.sentences import sentences
from pincite.text.terms import terms, words

MAX_DOCUMENTS = 5
"""Documents whose names are read: those of the best sources."""
MIN_PROBABILITY = 0.8
"""Probability of the reader from which on a title or the name of a file answers."""
MIN_SHARE = 0.5
"""Share of the terms of a question's topic that a name must have."""
ANSWERED_FORMS = ("value", "sentence", "definition")
"""Forms of answers that a title can give."""
_ENDING, _JOINED = re.compile(r"\.\w{1,5}$"), re.compile(r"_+")


@dataclass(frozen=True, slots=True)
class DocumentName:
    """The title or the file name of the document of a source, and the words in which the reader reads it."""

    source: int
    name: str
    is_file: bool
    text: str

    def readable(self) -> ReadableText:
        """The name as the reader reads it."""
        return ReadableText(self.text)


def names_to_read(question: QuestionTerms, sources: Sequence[Hit]) -> list[DocumentName]:
    """The titles and file names with the topic of the question; none for a question about something to come."""
    coming = lang.recognised_words("questions.coming", question.language)
    if question.answer.form not in ANSWERED_FORMS or not coming.isdisjoint(words(question.text)):
        return []
    firsts: dict[str, int] = {}
    for number, hit in enumerate(sources, 1):
        firsts.setdefault(hit.chunk.document_id, number)
    named = (one for number in list(firsts.values())[:MAX_DOCUMENTS] for one in _names_of(number, sources[number - 1]))
    return [one for one in named if _has_topic(question, one, sources[one.source - 1].chunk.language)]


def _names_of(source: int, hit: Hit) -> list[DocumentName]:
    title, file = hit.chunk.title, hit.chunk.document_name
    spoken = _JOINED.sub(" ", _ENDING.sub("", file))
    found = [DocumentName(source, title, False, title)] if title and title != file else []
    return [*found, DocumentName(source, file, True, spoken)]


def _has_topic(question: QuestionTerms, one: DocumentName, language: str) -> bool:
    """Whether a name has at least half of what the question is about: minutes of a meeting do not date a party."""
    held = frozenset(terms(one.text, language))
    topics = topic_terms(question)
    return bool(topics) and sum(term.is_in(held) for term in topics) >= MIN_SHARE * len(topics)


def named_answer(
    question: QuestionTerms, names: Sequence[DocumentName], read: Sequence[Reading], sources: Sequence[Hit]
) -> AnswerPart | None:
    """The value of the name that answers most probably, with the first sentence of its document as the passage."""
    best = max(zip(names, read, strict=True), key=lambda pair: pair[1].answerable, default=None)
    if best is None or best[1].answerable < MIN_PROBABILITY:
        return None
    one, window = best[0], best[1].best
    first = max(range(len(window.begins)), key=lambda n: window.begins[n])
    last = max(range(first, len(window.finishes)), key=lambda n: window.finishes[n])
    value = one.text[window.starts[first] : window.ends[last]].strip()
    if not _fits(question, value):
        return None
    text = sources[one.source - 1].chunk.text
    start, end = next(iter(sentences(text)), (0, len(text)))
    said = said_by_name(one.name, question.language, is_file=one.is_file)
    return AnswerPart(f"{value}. {said}", one.source, start, end, document_name=one.name)


def _fits(question: QuestionTerms, value: str) -> bool:
    """Whether a value is of the kind asked for, and not only the question's own words."""
    kind = question.answer.kind
    if kind in VALUE_KINDS:
        return bool(fitting_values(kind, value, question.language, question.forms))
    return bool(frozenset(terms(value, question.language)) - question.forms)
