"""What is said: the chosen passages in the form that the question asks for, each with what it quotes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Hit
from pincite.extractive.answer_span import lead
from pincite.extractive.lists import NESTED, Listing, items_after, lists_in
from pincite.extractive.question import Asked, Word
from pincite.extractive.score import Fit
from pincite.extractive.select import Passage, choose, likelihoods, passages
from pincite.extractive.sentences import Sentence
from pincite.extractive.tables import row_at
from pincite.text.markdown_blocks import plain
from pincite.text.sentences import Span
from pincite.text.terms import terms, words

MOST_ITEMS = 20
"""Items and rows that are told of one list or table."""
SURE = 0.5
"""A value is said first only where its sentence is at least this likely the right one."""
LISTED = 0.5
"""So much of the question must stand in what leads to a list."""


@dataclass(frozen=True, slots=True)
class Said:
    """A part of the answer and the stretch of a source it stands on; `gap` is what comes before it."""

    text: str
    source: int
    start: int
    end: int
    gap: str = " "


def say(asked: Asked, found: Sequence[Fit], sources: Sequence[Hit]) -> list[Said]:
    """The answer, part by part; sentences as they stand where no other form fits."""
    form = asked.wanted.form
    told: list[Said] = []
    if form in ("list", "steps"):
        told = _listed(asked, found, sources) or _rows(asked, found)
    elif form == "comparison":
        told = _sides(asked, found)
    return told or _sentences(asked, found, sources)


def _sentences(asked: Asked, found: Sequence[Fit], sources: Sequence[Hit]) -> list[Said]:
    """The chosen passages. The value that answers stands before the first one; a list follows the passage that leads to it."""
    first = "" if asked.wanted.form == "yes_no" else _value(asked, found, sources)
    told = list[Said]()
    for passage in passages(choose(found), sources):
        opening = f"{first} " if first and not told else ""
        gap = told[-1].gap if told else " "
        told.append(Said(f"{opening}{_words_of(passage)}", passage.source, passage.start, passage.end, gap))
        text = sources[passage.source - 1].chunk.text
        if text[: passage.end].endswith(":"):
            told += [_quoted(text, passage.source, item, "- ") for item in items_after(text, passage.end)[:MOST_ITEMS]]
    return told


def _value(asked: Asked, found: Sequence[Fit], sources: Sequence[Hit]) -> str:
    """The date, number or amount that answers, as the best sentence has it; in a table, the cell of the column asked for.

    The sentence must hold every word of the question: asked when a lease begins, the date it was signed is no answer.
    """
    best = found[0].sentence
    held = best.held | best.above
    if not all(word.in_(held) for word in asked.numbers):
        return ""
    if best.is_row:
        cell = _cell(asked, best, sources)
        return f"{cell}." if cell else ""
    if likelihoods(found)[0] < SURE or not all(word.likeness(held) for word in asked.words):
        return ""
    value = plain(lead(asked.wanted.want, best.text, best.language, asked.forms, asked.text))
    return f"{value}." if value and value != plain(best.text).rstrip(".") else ""


def _cell(asked: Asked, best: Sentence, sources: Sequence[Hit]) -> str:
    """The cell whose column the question names, in a row that it names too; empty where more than one could be meant."""
    row = row_at(sources[best.source - 1].chunk, best.start, best.end)
    if len(row.names) != len(row.cells):
        return ""
    language = best.language
    named = [_named(asked.words, name, language) for name in row.names]
    rows = [_named(asked.words, cell, language) for cell in row.cells]
    fitting = [n for n, weight in enumerate(named) if weight and weight == max(named) and not rows[n]]
    others = sum(weight for n, weight in enumerate(rows) if n not in fitting)
    return row.cells[fitting[0]] if len(fitting) == 1 and others else ""


def _named(asked: Iterable[Word], text: str, language: str) -> float:
    """How much of the question stands in a cell."""
    held = frozenset(terms(text, language))
    return sum(word.weight for word in asked if word.in_(held))


def _listed(asked: Asked, found: Sequence[Fit], sources: Sequence[Hit]) -> list[Said]:
    """The items of the list that the question asks for, after the sentence that leads to them."""
    best: tuple[float, int, Listing] | None = None
    for number in dict.fromkeys(fit.sentence.source for fit in found):
        for listing in lists_in(sources[number - 1].chunk.text):
            share = _leads_to(asked, listing, sources[number - 1])
            if asked.wanted.form == "steps" and not listing.ordered:
                share *= LISTED
            if share >= LISTED and (best is None or share > best[0]):
                best = share, number, listing
    if best is None:
        return []
    _, number, listing = best
    text = sources[number - 1].chunk.text
    told = [_quoted(text, number, listing.lead, "")] if listing.lead else []
    for place, item in enumerate(listing.items[:MOST_ITEMS], 1):
        mark = f"{place}. " if listing.ordered else "- "
        told.append(_quoted(text, number, item, mark))
    return told


def _leads_to(asked: Asked, listing: Listing, hit: Hit) -> float:
    """How much of the question stands in what leads to a list: the sentence before it, and the headings above."""
    chunk = hit.chunk
    lead_in = chunk.text[listing.lead[0] : listing.lead[1]] if listing.lead else ""
    held = frozenset(terms(" ".join([lead_in, *chunk.heading_path[-1:]]), chunk.language))
    return sum(word.weight * word.likeness(held) for word in asked.words) / asked.weight


def _quoted(text: str, source: int, span: Span, mark: str) -> Said:
    said = plain(NESTED.sub(" – ", text[span[0] : span[1]]))
    return Said(f"{mark}{said}", source, span[0], span[1], "\n")


def _rows(asked: Asked, found: Sequence[Fit]) -> list[Said]:
    """All rows of the best row's table that hold what of the question stands in that one's cells."""
    best = found[0].sentence
    shared = [word for word in asked.words if word.in_(_cells_of(best))]
    if not best.is_row or not shared:
        return []
    table = (fit.sentence for fit in found if fit.sentence.source == best.source and fit.sentence.is_row)
    rows = [row for row in table if all(word.in_(_cells_of(row)) for word in shared)]
    ordered = sorted(rows, key=lambda row: row.start)[:MOST_ITEMS]
    if len(ordered) < 2:
        return []
    return [Said(f"- {_words_of(Passage((row,)))}", row.source, row.start, row.end, "\n") for row in ordered]


def _cells_of(row: Sentence) -> frozenset[str]:
    return frozenset(terms(row.text, row.language))


def _sides(asked: Asked, found: Sequence[Fit]) -> list[Said]:
    """One sentence for each of the things compared; nothing where one of them has none."""
    sides, told = sides_of(asked), list[Sentence]()
    for side in sides:
        others = [word for other in sides if other is not side for word in other]
        one = next((fit.sentence for fit in found if _speaks_for(fit.sentence, side, others)), None)
        if one is None:
            return []
        told.append(one)
    return [Said(_words_of(Passage((one,))), one.source, one.start, one.end) for one in told]


def _speaks_for(sentence: Sentence, words: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether a sentence is about one side and does not mention the other."""
    about = any(word.in_(sentence.held | sentence.above) for word in words)
    return about and not any(word.in_(sentence.held) for word in others)


def _words_of(passage: Passage) -> str:
    """A passage without its markup, on one line; a table's row with the names of its columns."""
    return " ".join(one.means if one.is_row else plain(one.text) for one in passage.sentences)


NEAREST = (1, 2)
"""Words of each side that say what it is: the one nearest to where they meet, or two where these are the same."""

_JOINS = re.compile(r"\s(?:and|or|versus|vs\.?|with|than|und|oder|mit|als|gegenüber|zu)\s", re.IGNORECASE)
_COMPARING = frozenset(
    "compare compared comparison difference differences differ different between versus "
    "vergleich vergleiche vergleichen unterschied unterschiede unterscheiden unterscheidet zwischen".split()
)


def sides_of(asked: Asked) -> list[list[Word]]:
    """The words that only one side has, side by side; empty where there are no two.

    The sides meet at the last word such as `and` that has words of meaning before and after it.
    """
    by_text = {word.text: word for word in asked.words if word.text not in _COMPARING}
    for join in reversed(list(_JOINS.finditer(asked.text))):
        left, right = (
            [by_text[text] for text in words(part) if text in by_text]
            for part in (asked.text[: join.start()], asked.text[join.end() :])
        )
        for nearest in NEAREST:
            one, other = left[-nearest:], right[:nearest]
            apart = [[word for word in one if word not in other], [word for word in other if word not in one]]
            if all(apart):
                return apart
    return []
