"""The whole list that a question asks for: items, steps, rows or lines of one section, in the document's order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pincite.core.query.hits import Hit
from pincite.core.query.reading import ReadableText
from pincite.extractive.compose import AnswerPart
from pincite.extractive.lists import NESTED
from pincite.extractive.question import QuestionTerm, QuestionTerms
from pincite.extractive.score import ScoredSentence
from pincite.extractive.select import probabilities
from pincite.extractive.tables import row_at
from pincite.extractive.whole.outline import Block, OutlineSection, label_of, sections_of
from pincite.text import lang
from pincite.text.markdown_blocks import plain
from pincite.text.sentences import sentences
from pincite.text.terms import terms, words

MAX_ITEMS = 40
"""Items of a list in an answer."""
MAX_CANDIDATES = 24
"""Lists that are compared with the question by meaning."""
MAX_EMBEDDED_CHARS = 300
MAX_SHORT_CHARS = 200
"""Characters of a paragraph that may be an item of a list without marks."""
MAX_BARE_CHARS = 80
MIN_PARAGRAPHS = 3
MIN_CLEAR_SCORE, MIN_MARGIN = 0.75, 0.3
"""Score from which on a list answers that is so much better than any other."""
MIN_ABOUT = 0.5
"""Share of the question's terms that a list has which answers although no sentence probably does."""
ENUMERATION_BONUS = 2.0
"""What is added to the score of a sentence that enumerates things."""
MIN_SCORE = 0.85
"""Score from which on a list answers; tests/extractive/whole/test_whole_list.py and tests/test_forms.py have lists on both sides of it."""

WEIGHTS = {
    "own": 1.0,
    "above": 0.5,
    "inside": 0.4,
    "found": 0.8,
    "elsewhere": -0.4,
    "meaning": 1.1,
    "steps": 0.3,
    "code": 0.4,
    "read": 0.6,
    "labelled": 0.5,
}
"""Weights of the features, set by hand."""
PENALTIES = {"row": 0.15, "line": 0.1, "prose": 0.35}
"""What is subtracted for rows, lines and paragraphs: a list with marks is more likely meant."""
MAX_ANSWER_CHARS = 600
"""Characters of a section that is the answer to the question in its heading."""
_CODE = re.compile(r"\b\w*\d[\w.-]*\w\b")
_ENUMERATION = re.compile(r"[^\s,;][^,;]{1,60}, [^,;]{2,60},? (?:and|or|und|oder|et|ou) \S|(?:[^\s,;][^,;]{1,60}, ){2}")
_KINDS = {"item": "item", "step": "item", "row": "row", "line": "line", "code": "code", "prose": "prose"}


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of a section: the sentence that introduces it, if there is one, and its items.

    `answers`: it is no list but the text below a heading that is a question.
    """

    section: OutlineSection
    lead: Block | None
    items: tuple[Block, ...]
    answers: bool = False

    @property
    def ordered(self) -> bool:
        """Whether its items are numbered."""
        return self.items[0].kind == "step"


def listings(sources: Sequence[Hit]) -> list[Listing]:
    """All lists of the sources; also runs of short paragraphs, rows and lines of their own."""
    return [listing for section in sections_of(sources) for listing in _in_section(section, sources)]


def _in_section(section: OutlineSection, sources: Sequence[Hit]) -> list[Listing]:
    found, lead = list[Listing](), None
    if section.heading.endswith("?") and (answer := _answer(section)):
        found.append(answer)
    blocks = [block for block in section.blocks if block.kind != "header"]
    for kind, run in groupby(blocks, key=lambda block: _KINDS[block.kind]):
        items = tuple(run)
        if kind == "prose":
            found += _short_paragraphs(section, items, sources, whole=len(items) == len(blocks))
            lead = items[-1]
            continue
        if kind == "line":
            found += _same_label(section, items, sources)
        if kind == "code":
            lead = None
            continue
        if len(items) > 1 or (kind == "item" and len(blocks) == 1):
            found.append(Listing(section, lead if lead and _leads(lead, sources) else None, items))
        lead = items[-1] if kind == "line" and len(items) == 1 else None
    return found


def _short_paragraphs(
    section: OutlineSection, blocks: Sequence[Block], sources: Sequence[Hit], *, whole: bool
) -> list[Listing]:
    """A section of short paragraphs, or a run of lines that are no sentences; the first of these introduces the others."""
    if whole and len(blocks) >= MIN_PARAGRAPHS and all(one.end - one.start <= MAX_SHORT_CHARS for one in blocks):
        return [Listing(section, None, tuple(blocks))]
    found = list[Listing]()
    for bare, run in groupby(blocks, key=lambda block: _is_bare(_text(block, sources))):
        items = tuple(run)
        if bare and len(items) > MIN_PARAGRAPHS:
            found.append(Listing(section, items[0], items[1:]))
    return found


def _is_bare(text: str) -> bool:
    """Whether a paragraph is a short line without the full stop of a sentence."""
    return len(text) <= MAX_BARE_CHARS and "\n" not in text and text[-1] not in ".!;,"


def _same_label(section: OutlineSection, lines: Sequence[Block], sources: Sequence[Hit]) -> list[Listing]:
    """The lines in a row that have the same label: `Action: …`."""
    runs = [(label, tuple(run)) for label, run in groupby(lines, key=lambda one: label_of(_text(one, sources)))]
    several = [items for label, items in runs if label and len(items) > 1 and len(runs) > 1]
    return [Listing(section, None, items) for items in several]


def _answer(section: OutlineSection) -> Listing | None:
    """The paragraphs below a heading that is a question, where they are few."""
    size = sum(block.end - block.start for block in section.blocks)
    prose = all(block.kind == "prose" for block in section.blocks)
    return Listing(section, None, tuple(section.blocks), answers=True) if prose and size <= MAX_ANSWER_CHARS else None


def _leads(block: Block, sources: Sequence[Hit]) -> bool:
    """Whether a paragraph introduces the list after it: it ends with a colon, or is one sentence."""
    text = _text(block, sources)
    return text.rstrip().endswith(":") or len(sentences(text)) == 1


def embedded_text(listing: Listing, sources: Sequence[Hit]) -> str:
    """The text of a list that is compared with the question by meaning: its headings, its lead and its first items."""
    blocks = [*([listing.lead] if listing.lead else []), *listing.items]
    text = " ".join(plain(_text(block, sources)) for block in blocks)
    return f"{'. '.join(dict.fromkeys((listing.section.title, *listing.section.path)))}. {text}"[:MAX_EMBEDDED_CHARS]


def readable_list(listing: Listing, sources: Sequence[Hit]) -> ReadableText:
    """A list as the reader reads it: its lead and items under the title and headings."""
    blocks = [*([listing.lead] if listing.lead else []), *listing.items]
    above = dict.fromkeys((listing.section.title, *listing.section.path))
    return ReadableText("\n".join(_text(block, sources) for block in blocks), "\n".join([*above, ""]))


def likely_lists(question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]) -> list[Listing]:
    """The lists that share most with the question, the best first."""
    every = [_asked_lines(question, one, sources) for one in listings(sources)]
    scores = {id(one): list_score(question, one, found, sources, 0.0) for one in every}
    return sorted(every, key=lambda one: -scores[id(one)])[:MAX_CANDIDATES]


def _asked_lines(question: QuestionTerms, listing: Listing, sources: Sequence[Hit]) -> Listing:
    """The lines of a list whose label the question names, such as a person's tasks; else the list as it is."""
    if listing.items[0].kind != "line":
        return listing
    asked = {term.text for term in question.terms}
    named = [
        one for one in listing.items if (label := words(label_of(_text(one, sources)))) and asked.issuperset(label)
    ]
    return replace(listing, lead=None, items=tuple(named)) if 0 < len(named) < len(listing.items) else listing


def list_score(
    question: QuestionTerms,
    listing: Listing,
    found: Sequence[ScoredSentence],
    sources: Sequence[Hit],
    meaning: float,
    read: float | None = None,
) -> float:
    """How well a list answers, by the terms of its heading and items, its sentences' probabilities and its meaning.

    `read` is the reader's probability that the list answers. Rows of which the question names some do not answer as a
    whole.
    """
    if listing.items[0].kind == "row" and _names_some(question, listing, sources):
        return 0.0
    section, language = listing.section, listing.section.language
    lead = _text(listing.lead, sources) if listing.lead else ""
    labels = {label_of(_text(block, sources)) for block in listing.items}
    label = labels.pop() if len(labels) == 1 else ""
    lead = f"{lead} {label}"
    own = frozenset(terms(f"{section.heading if section.heading != section.title else ''} {lead}", language))
    above = frozenset(terms(" ".join((section.title, *section.path)), language))
    inside = frozenset(terms(" ".join(_text(block, sources) for block in listing.items), language))
    shares = probabilities(found) if found else []
    spans = [(block.source, block.start, block.end) for block in listing.items]
    likely = sum(
        share
        for one, share in zip(found, shares, strict=True)
        if any(s == one.sentence.source and a <= one.sentence.start < b for s, a, b in spans)
    )
    places = [(block.source, block.start, block.end) for block in section.blocks]
    elsewhere = max(
        (
            share
            for one, share in zip(found, shares, strict=True)
            if sources[one.sentence.source - 1].chunk.document_id == section.document
            and one.sentence.text.endswith((".", "!"))
            and not any(s == one.sentence.source and a <= one.sentence.start < b for s, a, b in places)
        ),
        default=0.0,
    )
    about = _share(question, own)
    features = {
        "own": about,
        "above": _share(question, above - own),
        "inside": _share(question, inside - own - above),
        "found": likely if about else likely / 2,
        "code": float(any(code in " ".join(section.path) for code in _CODE.findall(question.text))),
        "elsewhere": elsewhere,
        "meaning": max(0.0, meaning),
        "steps": float(question.answer.form == "steps" and listing.ordered),
        "read": 0.0 if read is None else 2 * read - 1,
        "labelled": float(_share(question, frozenset(terms(label, language))) > 0),
    }
    penalty = 0.0 if listing.answers else PENALTIES.get(listing.items[0].kind, 0.0)
    return sum(WEIGHTS[name] * value for name, value in features.items()) - penalty


def _names_some(question: QuestionTerms, listing: Listing, sources: Sequence[Hit]) -> bool:
    """Whether a term of the question is in the cells of some rows, but not of all."""
    rows = [frozenset(terms(_text(block, sources), listing.section.language)) for block in listing.items]
    return any(0 < sum(word.is_in(row) for row in rows) < len(rows) for word in question.terms)


def best_list(likely: Sequence[Listing], scores: Sequence[float]) -> Listing | None:
    """The list with the best score; None where it is too low, unless it is far better than any other."""
    ordered = sorted(zip(scores, range(len(likely)), strict=True), reverse=True)
    if not ordered:
        return None
    best, number = ordered[0]
    others = [score for score, n in ordered[1:] if likely[n].section is not likely[number].section]
    clear = best >= MIN_CLEAR_SCORE and best - max(others, default=0.0) >= MIN_MARGIN
    return likely[number] if best >= MIN_SCORE or clear else None


def is_about(question: QuestionTerms, listing: Listing, sources: Sequence[Hit]) -> bool:
    """Whether a list and its headings have most terms of the question; else its sentences must probably answer."""
    blocks = [*([listing.lead] if listing.lead else []), *listing.items]
    text = " ".join((listing.section.title, *listing.section.path, *(_text(block, sources) for block in blocks)))
    held, about = frozenset(terms(text, listing.section.language)), _about(question)
    return sum(word.similarity(held) for word in about) >= MIN_ABOUT * len(about)


def enumerations_first(found: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The sentences with those ranked higher that enumerate things, as a list in a sentence does."""
    raised = [
        replace(one, score=one.score + ENUMERATION_BONUS) if _ENUMERATION.search(one.sentence.text) else one
        for one in found
    ]
    return sorted(raised, key=lambda one: -one.score)


def list_parts(listing: Listing, sources: Sequence[Hit]) -> list[AnswerPart]:
    """The list in the document's order, after the sentence that introduces it."""
    parts = [_part(listing.lead, "", sources)] if listing.lead else []
    for place, block in enumerate(listing.items[:MAX_ITEMS], 1):
        mark = "" if listing.answers else f"{place}. " if listing.ordered else "- "
        parts.append(_part(block, mark, sources))
    return parts


def _part(block: Block, mark: str, sources: Sequence[Hit]) -> AnswerPart:
    text = _text(block, sources)
    if block.kind == "row":
        written = row_at(sources[block.source - 1].chunk, block.start, block.end).to_text()
    else:
        written = plain(" ".join(NESTED.sub(" – ", text).split()))
    return AnswerPart(f"{mark}{written}", block.source, block.start, block.end, "\n")


def _share(question: QuestionTerms, held: frozenset[str]) -> float:
    """The weighted share of the question's terms that these terms have, or have a similar one for."""
    about = _about(question)
    return sum(word.weight * word.similarity(held) for word in about) / (sum(word.weight for word in about) or 1.0)


def _text(block: Block, sources: Sequence[Hit]) -> str:
    return sources[block.source - 1].chunk.text[block.start : block.end]


def _about(question: QuestionTerms) -> Sequence[QuestionTerm]:
    """The terms of a question without those that ask for a form."""
    asking = lang.all_words("questions.form_words")
    return [word for word in question.terms if word.text not in asking] or question.terms
