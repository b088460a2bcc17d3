"""Answers from tables: the cell asked for, the rows that fit, or a value computed from all rows of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Computation, Operation
from pincite.extractive.compose import MAX_ITEMS, AnswerPart
from pincite.extractive.table.columns import total_rows
from pincite.extractive.table.compute import compute, extreme_rows
from pincite.extractive.table.match import TableMatch, match_table
from pincite.extractive.table.numbers import is_empty
from pincite.extractive.table.questions import TableQuestion, is_extreme_by_name, read_question
from pincite.extractive.tables import Table, tables_in
from pincite.text import lang
from pincite.text.answer_type import AnswerForm, answer_type
from pincite.text.terms import question_language


@dataclass(frozen=True, slots=True)
class _Found:
    """A table of a source that answers, and what is asked of it."""

    source: int
    table: Table
    match: TableMatch


def table_answer(question: str, language: str, form: AnswerForm, sources: Sequence[Hit]) -> list[AnswerPart]:
    """The parts of an answer from one table; none where no table answers for certain."""
    asked = read_question(question, language, form)
    if asked is None:
        return []
    found = sorted(_answering(asked, sources), key=lambda one: -one.match.weight)
    answers = [parts for one in found if one.match.weight == found[0].match.weight if (parts := _parts(asked, one))]
    different = {tuple(part.text for part in parts) for parts in answers}
    return answers[0] if len(different) == 1 else []


def is_answered_by(question: str, hit: Hit) -> bool:
    """Whether a table of this hit answers a question."""
    return bool(table_answer(question, question_language(question), answer_type(question).form, [hit]))


def _answering(asked: TableQuestion, sources: Sequence[Hit]) -> Iterator[_Found]:
    for number, hit in enumerate(sources, start=1):
        chunk = hit.chunk
        context = " ".join([chunk.title, chunk.document_name, *chunk.heading_path])
        for table in tables_in(chunk.text, chunk.header):
            match = _match(asked, table, context)
            if match and (match.request == "cell" or hit.complete_table):
                yield _Found(number, table, match)


def _match(asked: TableQuestion, table: Table, context: str) -> TableMatch | None:
    """What a question asks of a table; a superlative that a column's own name has asks for a cell of that column."""
    match = match_table(asked, table, context)
    if match is None or match.request not in ("highest", "lowest") or match.column is None:
        return match
    if not is_extreme_by_name(table.names[match.column], match.request, asked.language):
        return match
    return match_table(replace(asked, request="cell", concept=asked.hint), table, context)


def _parts(asked: TableQuestion, found: _Found) -> list[AnswerPart]:
    request, table, column = found.match.request, found.table, found.match.column
    if request == "rows":
        rows = [_row(found, row) for row in found.match.rows[:MAX_ITEMS]]
        more = len(found.match.rows) - MAX_ITEMS
        note = lang.message("tables.more", asked.language).format(count=more)
        return [*rows[:-1], replace(rows[-1], text=f"{rows[-1].text} {note}")] if more > 0 else rows
    if request == "cell":
        cells = {row: table.rows[row].cells[column or 0] for row in found.match.rows}
        mark = "- " if len(cells) > 1 else ""
        return [_row(found, row, f"{mark}{cell}. ") for row, cell in cells.items() if not is_empty(cell)]
    if request in ("highest", "lowest"):
        return _extreme(asked, found)
    return _computed(asked, found, request)


def _computed(asked: TableQuestion, found: _Found, operation: Operation) -> list[AnswerPart]:
    """A computed value, then the rows that it is computed from; a row of totals is quoted in its place if it differs."""
    table, match = found.table, found.match
    column = match.column if match.column is not None else 0
    rows = [n for n in match.rows if operation == "count" or not is_empty(table.rows[n].cells[column])]
    value = compute(operation, table, column, rows, asked.language)
    if not value:
        return []
    if len(rows) == 1 and operation == "sum":
        return [_row(found, rows[0], f"{table.rows[rows[0]].cells[column]}. ")]
    totals = total_rows(table, asked.language) if operation == "sum" and not match.filters else []
    if totals:
        said = compute("sum", table, column, totals[-1:], asked.language)
        if said != value:
            return [_row(found, totals[-1], f"{said}. ")] if said else []
    heads = [_headline(asked, found, operation, rows, value)]
    if match.quantity is not None:
        both = replace(found, match=replace(match, request="sum", column=match.quantity, quantity=None))
        heads += [part for part in _computed(asked, both, "sum") if part.computed]
    return [*heads, *(_row(found, row) for row in [*totals[-1:], *rows][:MAX_ITEMS])]


def _extreme(asked: TableQuestion, found: _Found) -> list[AnswerPart]:
    """The highest or lowest value of a column, and the rows that have it."""
    table, match = found.table, found.match
    column = match.column or 0
    operation: Operation = "highest" if match.request == "highest" else "lowest"
    rows = [n for n in match.rows if not is_empty(table.rows[n].cells[column])]
    holders = extreme_rows(operation, table, column, rows, asked.language)
    value = compute(operation, table, column, rows, asked.language)
    if not holders:
        return []
    return [
        _headline(asked, found, operation, rows, value, shown=len(rows)),
        *(_row(found, row) for row in holders[:MAX_ITEMS]),
    ]


def _headline(
    asked: TableQuestion, found: _Found, operation: Operation, rows: Sequence[int], value: str, shown: int = MAX_ITEMS
) -> AnswerPart:
    """The sentence with the computed value; it cites the table from its first row to its last."""
    table, match, language = found.table, found.match, asked.language
    column = match.column if match.column is not None else 0
    name = table.names[column]
    results = lang.mapping("tables.results", language) or lang.mapping("tables.results", lang.FALLBACK)
    what = results[operation].format(column=name)
    chosen = "; ".join([what, *(f"{name}: {cell}" for name, cell in match.filters)])
    count = lang.message("tables.one_row" if len(rows) == 1 else "tables.rows", language).format(count=len(rows))
    key = "tables.computed_some" if len(rows) > shown else "tables.computed"
    text = lang.message(key, language).format(rows=count, value=value, what=chosen, shown=shown)
    spans = tuple((table.rows[n].start, table.rows[n].end) for n in rows)
    computation = Computation(operation, column, spans, value)
    return AnswerPart(text, found.source, spans[0][0], spans[-1][1], "\n", computation)


def _row(found: _Found, row: int, before: str = "") -> AnswerPart:
    """A row with the names of its columns, as an item of a list or after the cell asked for."""
    table, span = found.table, found.table.rows[row]
    return AnswerPart(f"{before or '- '}{table.row_text(span)}", found.source, span.start, span.end, "\n")
