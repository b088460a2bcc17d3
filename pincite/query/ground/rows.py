"""Claims that stand on the row of a table: it must be the row asked about, and a number must fit its column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.query.hits import RetrievedChunk
from pincite.extractive.identifiers import identifiers_in, mentions, names_another
from pincite.extractive.tables import Table, tables_in
from pincite.text.quantities import Figure, figures_in
from pincite.text.sentences import Span
from pincite.text.terms import question_language, question_words, stem, stop_words, terms
from pincite.text.units import units

_TOKEN = re.compile(r"km/h|m/s|°\s?[CF]?|[%€$£¥]|[^\W\d_]+")
_BRACKETS = re.compile(r"[(\[]([^)\]]*)[)\]]")


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A row of a table: its offsets, the names of its columns, its cells, and the row as one sentence."""

    start: int
    end: int
    names: tuple[str, ...]
    cells: tuple[str, ...]
    text: str

    @property
    def label(self) -> str:
        """What the row is about: its first cell with words or figures."""
        return next((cell for cell in self.cells if cell.strip()), "")


def rows_of(chunk: RetrievedChunk) -> list[NamedRow]:
    """The rows of a passage, each with the names of its columns."""
    if "|" not in chunk.text:
        return []
    return [_named(table, number) for table in tables_in(chunk.text, chunk.header) for number in range(len(table.rows))]


def _named(table: Table, number: int) -> NamedRow:
    row = table.rows[number]
    return NamedRow(row.start, row.end, table.names, row.cells, table.row_text(row))


def text_between(chunk: RetrievedChunk, rows: Sequence[NamedRow], span: Span) -> str:
    """The text between two offsets; a row with the names of its columns."""
    inside = [row.text for row in rows if span[0] <= row.start and row.end <= span[1]]
    return "\n".join(inside) if inside else chunk.text[span[0] : span[1]]


def best_row(
    claim: str, question: str, chunk: RetrievedChunk, rows: Sequence[NamedRow], aligned: Span
) -> NamedRow | None:
    """The row with most of a claim's words and figures; of several, the one that the question is about.

    None where the aligned sentence stands outside the tables and has no fewer of them.
    """
    if not rows:
        return None
    wanted = frozenset(terms(claim, chunk.language))
    asked = {row.start for row in rows_asked_about(question, rows, chunk.language)}
    ranked = [(_shared(wanted, row.text, chunk.language), row.start in asked, -row.start, row) for row in rows]
    most, *_, row = max(ranked, key=lambda one: one[:3])
    told = chunk.text[aligned[0] : aligned[1]]
    return row if told.startswith("|") or most > _shared(wanted, told, chunk.language) else None


def _shared(wanted: frozenset[str], text: str, language: str) -> int:
    return len(wanted & frozenset(terms(text, language)))


def rows_asked_about(question: str, rows: Sequence[NamedRow], language: str) -> list[NamedRow]:
    """The rows that a question names by an identifier, or else by their first cell; none where it names all or none."""
    own = question_language(question)
    wanted = [one for one in identifiers_in(question, own) if any(mentions(row.text, one) for row in rows)]
    if wanted:
        found = [row for row in rows if any(mentions(row.text, one) for one in wanted)]
    else:
        named = {form for word in question_words(question, own) for form in (word, stem(word, language))}
        found = [row for row in rows if _is_named(row.label, named, language)]
    return found if len(found) < len(rows) else []


def _is_named(label: str, named: set[str], language: str) -> bool:
    """Whether a question has all words of a label, or its date or number in any spelling."""
    held = terms(label, language)
    words = [stem(word, language) for word in question_words(label, language) if word not in stop_words(language)]
    return bool(held) and (set(held) <= named or (bool(words) and set(words) <= named))


def find_other_row(claim: str, question: str, row: NamedRow, rows: Sequence[NamedRow], language: str) -> str | None:
    """In words, that a claim tells of another row than the one asked about; not where the claim names its row itself."""
    if not question or mentions_label(claim, row, language):
        return None
    asked = rows_asked_about(question, rows, language)
    if asked and row not in asked:
        return f"is about {row.label}, the question is about {asked[0].label}"
    others = identifiers_in(question, question_language(question))
    if not asked and any(names_another(row.label, one, language) for one in others):
        return f"is about {row.label}, the question is about {others[0]}"
    return None


def mentions_label(claim: str, row: NamedRow, language: str) -> bool:
    """Whether a claim names the row that it tells of."""
    held = set(terms(row.label, language))
    return bool(held) and held <= set(terms(claim, language))


def find_wrong_column(claim: str, row: NamedRow, language: str) -> str | None:
    """In words, that a number of a claim stands in a column for something else, or in another unit."""
    for figure in figures_in(claim, language):
        columns = [n for n, cell in enumerate(row.cells) if _has_number(cell, figure, language)]
        if figure.kind != "number" or not columns or len(row.names) != len(row.cells):
            continue
        heads = [_unit_of(row.names[n], language) for n in columns if not _unit_of(row.cells[n], language)]
        if figure.unit and heads and all(head and head != _unit_of_figure(figure) for head in heads):
            return f"says {figure.shown}, the column is “{row.names[columns[0]]}”"
        meant = [n for n, name in enumerate(row.names) if figure.noun and figure.noun in terms(name, language)]
        if meant and not set(meant) & set(columns):
            return f"says {figure.shown}, the column “{row.names[meant[0]]}” says {row.cells[meant[0]]}"
    return None


def _has_number(cell: str, figure: Figure, language: str) -> bool:
    return any(one.kind == "number" and one.bare & figure.bare for one in figures_in(cell, language))


def _unit_of_figure(figure: Figure) -> tuple[str, float]:
    """The base unit of a figure and the size of its own unit in it."""
    value, bare = max(figure.values), max(figure.bare)
    return figure.unit, round(value / bare, 9) if bare else 1.0


def _unit_of(text: str, language: str) -> tuple[str, float] | None:
    """The unit that the name of a column or a cell gives; a single letter only in brackets."""
    known = units(language)
    inside = " ".join(_BRACKETS.findall(text))
    tokens = [*_TOKEN.findall(inside), *(one for one in _TOKEN.findall(text) if len(one) > 1 or not one.isalpha())]
    return next((known[one.lower()] for one in tokens if one.lower() in known), None)
