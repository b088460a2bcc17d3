"""Questions to begin with, made from the user's own documents without a model."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pincite.query.ground.sentence_questions import sentence_question
from pincite.query.ground.suggestions import definition_question, heading_as_question
from pincite.text import lang
from pincite.text.sentences import sentences

MAX_STARTERS = 4
MAX_OF_ONE = 2
"""Questions made from one document at most."""
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=#)")
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_NO_PROSE = re.compile(r"[|>`-]|\d+[.)]\s")


@dataclass(frozen=True, slots=True)
class Starter:
    """A question that a document answers."""

    question: str
    document_id: str
    title: str


def starter_questions(documents: Iterable[tuple[str, str, str, str]], language: str | None = None) -> list[Starter]:
    """Questions that documents answer, given as id, title, language and text; those in `language` first.

    Each document has its turn before any has a second one. Documents without such a question are summarised.
    """
    ranked = list[tuple[int, Starter]]()
    known = set[str]()
    for document_id, title, own, text in sorted(documents, key=lambda one: one[2] != language):
        made = [one for one in islice(_questions(text, own), MAX_OF_ONE) if one not in known]
        if not made and lang.sequence("suggested.ask_summary", own):
            ranked.append((MAX_OF_ONE, _summary(document_id, title, own)))
        for place, question in enumerate(made):
            known.add(question)
            ranked.append((place, Starter(question, document_id, title)))
    return [starter for _, starter in sorted(ranked, key=lambda one: one[0])[:MAX_STARTERS]]


def _summary(document_id: str, title: str, language: str) -> Starter:
    return Starter(lang.message("suggested.ask_summary", language).format(title=title), document_id, title)


def _questions(text: str, language: str) -> Iterator[str]:
    """Questions that the headings and sentences of a text answer, in its order."""
    for paragraph in _PARAGRAPHS.split(text):
        if found := _HEADING.match(paragraph.strip()):
            if question := heading_as_question(found[1], language):
                yield question
        elif not _NO_PROSE.match(paragraph.strip()):
            yield from _of_paragraph(paragraph, language)


def _of_paragraph(paragraph: str, language: str) -> Iterator[str]:
    for start, end in sentences(paragraph):
        sentence = paragraph[start:end]
        article = lang.own_regex("suggested.article", language, r"\s*%s\b").match(sentence)
        defined = None if article else definition_question(sentence, language)  # `What is a night?` is no start
        if question := sentence_question(sentence, language) or (defined and defined[0]):
            yield question
