"""A summary of one document: the most central sentence of each section, in the document's order."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.hits import Hit
from pincite.extractive.compose import AnswerPart
from pincite.extractive.paragraph import tells_earlier_state
from pincite.extractive.question import QuestionTerms
from pincite.extractive.tables import cells
from pincite.extractive.whole.naming import MIN_NAME_SHARE, name_share, named_words
from pincite.extractive.whole.outline import Block, OutlineSection, sections_of
from pincite.text import lang
from pincite.text.markdown_blocks import plain
from pincite.text.quantities import values_in
from pincite.text.sentences import Span, sentences
from pincite.text.terms import terms

MAX_BULLETS = 10
MIN_SECTIONS = 3
"""Sections from which on a summary has one sentence of each; a document with fewer gives its central sentences."""
MAX_SENTENCES = 6
"""Sentences of a document without sections."""
MAX_ITEMS = 30
"""Decisions of a section that are quoted."""
MAX_ITEMS_CHARS = 220
"""Characters of a list's items that stand for the list."""
MAX_TITLE_CHARS = 120
"""Characters of the first line of a plain text that names it."""
MIN_TERMS, MAX_TERMS = 3, 40
"""Terms of a sentence that can stand for its section."""

_QUOTED = re.compile(r"\s*>")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence that may stand for its section."""

    source: int
    span: Span
    text: str
    score: float
    block: Block


def summarised(question: QuestionTerms, sources: Sequence[Hit]) -> list[AnswerPart]:
    """The summary of the one document of the sources, where the question names it; else nothing."""
    if not sources or len({hit.chunk.document_id for hit in sources}) != 1:
        return []
    named, first = named_words(question.text), sources[0].chunk
    sections = sections_of(sources)
    by_title = name_share(named, (first.title, first.document_name, _first_line(sources)))
    inside = [section for section in sections if _names_section(named, section, by_title)]
    if by_title < MIN_NAME_SHARE and not inside:
        return []
    central = _Centrality(question, sources, sections)
    if central.decisions and (decided := [one for one in sections if central.is_decided(one.heading)]):
        return central.whole(decided)
    chosen = _grouped(inside or sections, central)
    best = [(group, found) for group in chosen if (found := central.best(group))]
    if len(best) > MIN_SECTIONS and not best[0][0][0].heading and not best[0][1].text.endswith("."):
        del best[0]  # the first lines of a plain text: its title
    if len(best) < MIN_SECTIONS:
        return central.sentences(inside or sections)
    kept = sorted(range(len(best)), key=lambda n: -central.weight(best[n][0]))[:MAX_BULLETS]
    return [_bullet(_label(*best[n]), best[n][1]) for n in sorted(kept)]


def _first_line(sources: Sequence[Hit]) -> str:
    """The first line of a document without headings, which names it; empty where it is longer than a title."""
    opening = next((hit.chunk for hit in sources if hit.chunk.start_char == 0), None)
    if opening is None or any(part != NO_HEADINGS for part in opening.heading_path):
        return ""
    line = opening.text.lstrip().partition("\n")[0]
    return line if len(line) <= MAX_TITLE_CHARS else ""


def _label(group: Sequence[OutlineSection], found: "_Candidate") -> str:
    """The heading of a group; of a section whose heading is a question, that question."""
    asked = (one.heading for one in group if one.heading.endswith("?") and found.block in one.blocks)
    return next(asked, group[0].heading)


def _names_section(named: Sequence[str], section: OutlineSection, by_title: float) -> bool:
    """Whether the question names a section rather than its document."""
    headings = [heading for heading in section.path if heading != section.title]
    return bool(headings) and name_share(named, (section.title, *headings)) > max(by_title, MIN_NAME_SHARE) + 0.01


def _grouped(sections: Sequence[OutlineSection], central: "_Centrality") -> list[list[OutlineSection]]:
    """The sections one by one where they are few; else subsections together with the section above, the longest apart."""
    if len(sections) <= MAX_BULLETS:
        return [[section] for section in sections]
    groups: dict[tuple[str, ...], list[OutlineSection]] = {}
    for depth in (1, 2, 3):
        groups = {}
        for section in sections:
            groups.setdefault(section.path[:depth], []).append(section)
        if len(groups) >= MIN_SECTIONS:
            break
    made = [_named_by(group, path) for path, group in groups.items()]
    for group in sorted(made, key=lambda one: -central.weight(one)):
        if len(made) + len(group) - 1 <= MAX_BULLETS:
            at = made.index(group)
            made[at : at + 1] = [[section] for section in group]
    return made


def _named_by(group: list[OutlineSection], path: tuple[str, ...]) -> list[OutlineSection]:
    """The sections of a group, the first with the heading that they share; a question keeps its own heading."""
    first = group[0]
    own = first.path if len(group) == 1 or first.heading.endswith("?") else path
    return [OutlineSection(first.document, first.title, first.language, own, first.blocks), *group[1:]]


class _Centrality:
    """Scores sentences by their place and by the terms that the document uses most."""

    def __init__(self, question: QuestionTerms, sources: Sequence[Hit], sections: Sequence[OutlineSection]) -> None:
        self._sources = sources
        self._language = question.language
        self.decisions = self.is_decided(question.text)
        self._counts = Counter(
            term
            for section in sections
            for block in section.blocks
            for term in set(terms(self._text(block), section.language))
        )

    def is_decided(self, text: str) -> bool:
        """Whether a question or a heading is about decisions."""
        return bool(lang.regex("questions.decisions", self._language).search(text.lower()))

    def whole(self, sections: Sequence[OutlineSection]) -> list[AnswerPart]:
        """All that sections say, block by block."""
        blocks = [block for section in sections for block in section.blocks if block.kind not in ("header", "code")]
        texts = [plain(" ".join(self._text(block).split())) for block in blocks[:MAX_ITEMS]]
        return [
            AnswerPart(f"- {text}", block.source, block.start, block.end, "\n")
            for block, text in zip(blocks, texts, strict=False)
        ]

    def best(self, group: Sequence[OutlineSection]) -> _Candidate | None:
        """The sentence that stands for a section and its subsections; for a list or a table, its beginning."""
        found = [one for section in group for one in self._candidates(section)]
        if found and not self._is_short_list(group):
            return max(found, key=lambda one: one.score)
        return next((one for section in group if (one := self._beginning(section))), None)

    def sentences(self, sections: Sequence[OutlineSection]) -> list[AnswerPart]:
        """The most central sentences of sections without headings, in order."""
        found = [one for section in sections for one in self._candidates(section)]
        chosen = sorted(found, key=lambda one: -one.score)[:MAX_SENTENCES]
        if not chosen:
            rows = [one for section in sections if (one := self._beginning(section))]
            return [_bullet("", one) for one in rows[:MAX_BULLETS]]
        return [_bullet("", one) for one in found if one in chosen]

    def weight(self, group: Sequence[OutlineSection]) -> float:
        """How much a section says: its number of characters, on a logarithmic scale."""
        return log(1 + sum(block.end - block.start for section in group for block in section.blocks))

    def _is_short_list(self, group: Sequence[OutlineSection]) -> bool:
        """Whether a section is nothing but a list whose first items fit into one sentence."""
        blocks = group[0].blocks
        listed = len(group) == 1 and all(block.kind in ("item", "step") for block in blocks)
        return listed and sum(block.end - block.start for block in blocks[:2]) <= MAX_ITEMS_CHARS

    def _text(self, block: Block) -> str:
        return self._sources[block.source - 1].chunk.text[block.start : block.end]

    def _candidates(self, section: OutlineSection) -> list[_Candidate]:
        found, place = list[_Candidate](), 0
        heading = frozenset(terms(section.heading, section.language))
        header_lines = lang.regex("extractive.header_lines", section.language, r"^\W*%s\s*:", re.IGNORECASE)
        for block in section.blocks:
            text = self._text(block)
            if block.kind in ("row", "header", "code") or header_lines.match(text) or _QUOTED.match(text):
                continue
            for start, end in sentences(text):
                written = plain(" ".join(text[start:end].split()))
                held = terms(written, section.language)
                if len(held) < MIN_TERMS or written.endswith(("?", ":", ",")):
                    continue
                score = self._score(written, held, section.language, place, heading)
                score -= 0.15 if block.kind in ("item", "step") else 0.0
                found.append(_Candidate(block.source, (block.start + start, block.start + end), written, score, block))
                place += 1
        return found

    def _score(self, text: str, held: Sequence[str], language: str, place: int, heading: frozenset[str]) -> float:
        """Place, frequent terms, terms of the heading, values and decisions; references to other sentences count less."""
        distinct = set(held)
        frequent = sum(log(self._counts[term] or 1) for term in distinct) / len(distinct)
        score = 0.6 / (1 + place) + 0.25 * frequent + 0.3 * bool(distinct & heading)
        score += 0.2 * bool(values_in(text, language))
        score -= 0.4 * bool(_back_reference(language).match(text)) + 0.3 * (len(held) > MAX_TERMS)
        decided = lang.regex("extractive.decided", language, r"\b%s", re.IGNORECASE).search(text)
        return score + (1.0 if self.decisions else 0.7) * bool(decided) - 0.6 * tells_earlier_state(text, language)

    def _beginning(self, section: OutlineSection) -> _Candidate | None:
        """The header of a table, or the first items of a list."""
        header = next((block for block in section.blocks if block.kind == "header"), None)
        if header:
            names = ", ".join(cell for cell in cells(self._text(header)) if cell)
            return _Candidate(header.source, (header.start, header.end), names, 0.0, header)
        header_lines = lang.regex("extractive.header_lines", section.language, r"^\W*%s\s*:", re.IGNORECASE)
        items = [
            block
            for block in section.blocks
            if block.kind != "code"
            and not header_lines.match(self._text(block))
            and terms(self._text(block), section.language)
        ]
        if not items or (not section.path and len(items) < 2):
            return None
        taken, length = [items[0]], len(self._text(items[0]))
        for block in items[1:]:
            length += len(self._text(block))
            if length > MAX_ITEMS_CHARS or block.source != taken[0].source:
                break
            taken.append(block)
        text = "; ".join(plain(" ".join(self._text(block).split())).rstrip(".;,") for block in taken)
        return _Candidate(taken[0].source, (taken[0].start, taken[-1].end), f"{text}.", 0.0, taken[0])


def _back_reference(language: str) -> re.Pattern[str]:
    return lang.regex("extractive.opening_references", language, r"^\W*%s\b", re.IGNORECASE)


def _bullet(heading: str, found: _Candidate) -> AnswerPart:
    label = f"**{plain(heading)}**: " if heading else ""
    return AnswerPart(f"- {label}{found.text}", found.source, *found.span, "\n")
