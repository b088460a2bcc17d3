"""The column and the rows of a table that a question is about; every word of the question must be accounted for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pincite.extractive.table.columns import SIMILAR_WEIGHT, Columns
from pincite.extractive.table.dates import Date
from pincite.extractive.table.numbers import is_empty
from pincite.extractive.table.questions import (
    Request,
    TableQuestion,
    Word,
    month_of,
    quarter_of,
    spelling_in,
    words_of,
    year_of,
)
from pincite.extractive.tables import Table
from pincite.text import lang
from pincite.text.units import cardinal_words, number_words

MAX_CELLS = 4
"""Rows up to which all cells that fit are given where the question does not tell the rows apart."""
CONTEXT_WEIGHT = 0.25
"""Weight of a word that only a title or a heading has."""


@dataclass(frozen=True, slots=True)
class TableMatch:
    """What is asked of a table: the request, the number of the column, the rows, and the cells that chose them.

    `column` is None where rows are counted or listed; `quantity` is then the column with the number of pieces, if there
    is one. `weight` is the number of words of the question that are in cells or names of columns.
    """

    request: Request
    column: int | None
    rows: tuple[int, ...]
    filters: tuple[tuple[str, str], ...]
    weight: float
    quantity: int | None = None


def match_table(asked: TableQuestion, table: Table, context: str) -> TableMatch | None:
    """What a question asks of a table; None where a word, the column or the rows are not clear.

    `context` is the text that names the table: titles and headings.
    """
    columns = Columns.of(table, asked.language)
    left = {place: word for place, word in enumerate(asked.words) if not word.stop}
    return _Matcher(asked, columns, words_of(context, asked.language), left).match()


@dataclass(slots=True)
class _Matcher:
    """Accounts for the words of a question, one step after the other.

    `left` are the words that are not accounted for, by their place in the question. `chosen` are the rows that the cells
    of each column choose. `said` are the numbers of rows that the question names: `the four Saturdays`.
    """

    asked: TableQuestion
    columns: Columns
    context: Sequence[Word]
    left: dict[int, Word]
    chosen: dict[int, set[int]] = field(default_factory=dict)
    filters: list[tuple[str, str]] = field(default_factory=list)
    weight: float = 0.0
    said: list[float] = field(default_factory=list)

    def match(self) -> TableMatch | None:
        asked, columns = self.asked, self.columns
        if not self._take_cells():
            return None
        found = self._column()
        if found is None or any(self._is_grouped(word, found[1]) for word in asked.grouped_by):
            return None
        request, column = found
        if not all(self._account(place, word, column) for place, word in list(self.left.items())):
            return None
        rows = tuple(row for row in columns.rows if all(row in kept for kept in self.chosen.values()))
        if request == "cell" and asked.lists and (column is None or len(rows) > 1):
            request = "rows"
        if any(number != len(rows) for number in self.said):
            return None
        if not rows or not self.weight or (request in ("cell", "rows") and not self.chosen):
            return None
        if request == "cell" and (len(rows) > MAX_CELLS or asked.compares) and not self._names_each(rows):
            return None
        quantities = columns.of_concept("quantity", columns.amounts) if request == "count" else []
        quantity = quantities[0] if len(quantities) == 1 else None
        return TableMatch(request, column, rows, tuple(self.filters), self.weight, quantity)

    def _names_each(self, rows: Sequence[int]) -> bool:
        """Whether the question names each of several rows by a cell of one column."""
        cells = [[self.columns.table.rows[row].cells[column] for row in rows] for column in self.chosen]
        named = {cell for _, cell in self.filters}
        return len(rows) > 1 and any(set(column) <= named and len(set(column)) == len(rows) for column in cells)

    # --- the rows

    def _take_cells(self) -> bool:
        """Take the words that are a whole cell of a text column; False where two columns have the same cell."""
        table = self.columns.table
        found = [
            (length, place, column, row)
            for column in self.columns.texts
            for row, text in enumerate(table.column(column))
            for place, length in self._places(words_of(text, self.asked.language))
        ]
        for length, place, column, row in sorted(found, key=lambda one: -one[0]):
            places = set(range(place, place + length))
            if row in self.chosen.get(column, ()):
                self._take(places)
                continue
            if not any(one in self.left for one in places):
                continue
            rivals = {other for size, at, other, _ in found if (size, at) == (length, place)}
            named = {n for n in rivals if any(self.columns.has(word, n) for word in self.left.values())}
            if len(rivals) > 1 and named != {column}:
                if len(named) == 1:
                    continue
                return False
            same = [n for size, at, other, n in found if (size, at, other) == (length, place, column)]
            self.chosen.setdefault(column, set()).update(same)
            self.filters.append((table.names[column], table.rows[row].cells[column]))
            self.weight += sum(not self.asked.words[one].stop for one in places)
            self._take(places)
        return True

    def _places(self, cell: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """Where the words of a cell are in the question, and how many they are."""
        words, length = self.asked.words, len(cell)
        for place in range(len(words) - length + 1 if cell else 0):
            here = words[place : place + length]
            if all(one.is_same(word) for one, word in zip(here, cell, strict=True)) and not all(w.stop for w in here):
                yield place, length

    def _take(self, places: Iterable[int]) -> None:
        for place in places:
            self.left.pop(place, None)

    def _choose_rows(self, column: int, rows: set[int], shown: str) -> None:
        self.chosen[column] = self.chosen.get(column, rows) & rows
        self.filters.append((self.columns.table.names[column], shown))
        self.weight += 1

    # --- the column

    def _column(self) -> tuple[Request, int | None] | None:
        """The request and its column; None where no column or more than one is meant."""
        asked, columns, request = self.asked, self.columns, self.asked.request
        if request == "count":
            return self._counted()
        if request == "cell":
            usable = [n for n in range(len(columns.names)) if n not in self.chosen]
        elif asked.concept == "date":
            usable = [n for n, dates in enumerate(columns.dates) if dates]
        else:
            usable = columns.amounts
        column = self._named_column(usable)
        if asked.is_computed and column in columns.of_concept("quantity", columns.amounts) and asked.asks_worth:
            return None
        return (request, column) if column is not None or asked.lists else None

    def _named_column(self, usable: Sequence[int]) -> int | None:
        """The column that the question names, or the only one of the kind it asks for."""
        asked, columns, words = self.asked, self.columns, self.left.values()
        weights = {n: columns.weight(words, n) for n in usable}
        best = _best(weights)
        if asked.concept in ("", "named", "date") or not asked.is_computed:
            if any(weights.values()) and (best is not None or asked.concept != "date"):
                return best
            if asked.concept == "named":
                return None
        spending = lang.recognised_words("tables.spending", asked.language)
        implied = "price" if asked.is_computed and any(word.text in spending for word in words) else ""
        concept = asked.concept or implied or asked.hint
        kind = columns.of_concept(concept, usable) or columns.of_unit(concept, usable)
        if kind:
            return kind[0] if len(kind) == 1 else _best({n: weights[n] for n in kind})
        if asked.request == "sum" and not implied and not asked.asks_worth and (total := columns.total) in usable:
            return total
        keys = [n for n in columns.texts if columns.is_key(n)]
        others = [n for n in range(len(columns.names)) if n not in keys and any(columns.has(one, n) for one in words)]
        only = len(usable) == 1 and asked.is_computed and concept in ("", "date")
        return usable[0] if only and not set(others) - set(usable) else None

    def _is_grouped(self, word: Word, column: int | None) -> bool:
        """Whether values are asked for by the cells of another column."""
        has = self.columns.has
        return not (column is not None and has(word, column)) and any(
            has(word, n) for n in range(len(self.columns.names))
        )

    def _counted(self) -> tuple[Request, int | None] | None:
        """What is counted: rows, different cells of a column, or the sum of a column of numbers."""
        columns, place = self.columns, self.asked.counted
        word = self.left.get(place) if place is not None else None
        people = word is not None and word.text in lang.recognised_words("tables.people", columns.language)
        same = [n for n in columns.amounts if word and columns.has_same(word, n)]
        same = same or (columns.of_concept("headcount", columns.amounts) if people else [])
        others = [one for one in self.left.values() if one is not word]
        pieces = columns.of_concept("quantity", columns.amounts)
        same = same or [n for n in pieces if any(columns.has(one, n) for one in others)]
        if same:
            return ("sum", same[0]) if len(same) == 1 else None
        weights = {n: columns.weight(others, n) for n in columns.amounts}
        if any(weight and weight == max(weights.values()) and self._is_filled(n) for n, weight in weights.items()):
            return None  # it may be an amount of another thing
        texts = [n for n in range(len(columns.names)) if n not in columns.amounts and word and columns.has(word, n)]
        named = any(word and columns.has_same(word, n) for n in texts) or people
        alike = [n for n in columns.amounts if word and columns.has(word, n)]
        if any(columns.dates[n] for n in texts) or (alike and not named):
            return None
        if len(texts) != 1 or columns.is_key(texts[0]) or (texts == [1] and columns.is_key(0)):
            return "count", None
        return "distinct", texts[0]

    def _is_filled(self, column: int) -> bool:
        return not any(is_empty(self.columns.table.rows[row].cells[column]) for row in self.columns.rows)

    # --- the other words

    def _account(self, place: int, word: Word, column: int | None) -> bool:
        """Account for a word that no whole cell has; False where nothing explains it."""
        columns, language = self.columns, self.asked.language
        every = range(len(columns.names))
        if (self.asked.request == "count" or self.asked.lists) and self._choose_yes_no(word, place):
            return True
        if place in self.asked.denied:
            return False
        if any(columns.has_same(word, n) for n in every):
            self.weight += 1
            if column is None or not columns.has_same(word, column):
                self._keep_filled(word, place)
            return True
        if year := year_of(word):
            return self._choose_dates(word, lambda date: date.year == year) or self._take_context(word)
        if month := month_of(word, language):
            if self._choose_dates(word, lambda date: date.month == month):
                return True
            if any(columns.dates):
                return False
        if quarter := quarter_of(word):
            return self._choose_dates(word, lambda date: date.quarter == quarter) or self._take_context(word)
        partial = self._choose_part(word)
        if partial is not None:
            return partial
        if any(columns.has(word, n) for n in every):
            self.weight += SIMILAR_WEIGHT
            return True
        if word.text in lang.recognised_words("tables.people", language) and columns.has_people:
            return True
        if word.text in cardinal_words(language):  # not `the second`
            self.said.append(number_words(language)[word.text])
            return True
        spent = lang.recognised_words("tables.generic", language) | lang.recognised_words("tables.spending", language)
        return self._take_context(word) or word.text in spent

    def _in_context(self, word: Word) -> bool:
        return any(word.is_same(one) or word.is_similar(one) for one in self.context)

    def _take_context(self, word: Word) -> bool:
        """Whether titles or headings have a word; such a word tells one table from another."""
        found = self._in_context(word)
        self.weight += CONTEXT_WEIGHT if found else 0.0
        return found

    def _choose_yes_no(self, word: Word, place: int) -> bool:
        """Choose the rows with a yes, or a no for a word that is denied, in a column of this name that has only these."""
        columns, language = self.columns, self.asked.language
        named = [n for n in range(len(columns.names)) if columns.has_same(word, n)]
        cells = [cell.strip().lower() for cell in columns.table.column(named[0])] if len(named) == 1 else []
        yes, no = (lang.recognised_words(f"tables.{key}", language) for key in ("yes", "no"))
        if place == self.asked.counted or not cells or not all(cell in yes | no for cell in cells):
            return False
        wanted = no if place in self.asked.denied else yes
        rows = {row for row, cell in enumerate(cells) if cell in wanted}
        if not rows:
            return False
        self._choose_rows(named[0], rows, columns.table.rows[min(rows)].cells[named[0]])
        return True

    def _keep_filled(self, word: Word, place: int) -> None:
        """Where rows are counted or listed, a column that the question names must have a value."""
        if not (self.asked.request == "count" or self.asked.lists) or place == self.asked.counted:
            return
        table = self.columns.table
        named = [n for n in range(len(table.names)) if self.columns.has_same(word, n)]
        if len(named) == 1 and not self._is_filled(named[0]):
            filled = {n for n, cell in enumerate(table.column(named[0])) if not is_empty(cell)}
            self.chosen[named[0]] = self.chosen.get(named[0], filled) & filled

    def _choose_part(self, word: Word) -> bool | None:
        """Choose the rows with a cell that has this word; False where columns differ, None where no cell has it."""
        columns, found = self.columns, dict[int, set[int]]()
        for column in columns.texts:
            for row in columns.rows:
                cell = columns.table.rows[row].cells[column]
                if any(word.is_same(one) for one in words_of(cell, self.asked.language)):
                    found.setdefault(column, set()).add(row)
        if not found:
            return None
        [(column, rows), *others] = found.items()
        if any(one != rows for _, one in others) or (self._in_context(word) and len(rows) < len(columns.rows)):
            return False
        self._choose_rows(column, rows, spelling_in(columns.table.rows[min(rows)].cells[column], word))
        return True

    def _choose_dates(self, word: Word, fits: Callable[[Date], bool]) -> bool:
        """Choose the rows with a date that fits; False where no column of dates has one, or several have."""
        columns, found = self.columns, dict[int, set[int]]()
        for column, dates in enumerate(columns.dates):
            kept = {row for row, date in zip(columns.rows, dates or (), strict=False) if date and fits(date)}
            if kept:
                found[column] = kept
        if len(found) > 1:
            named = [n for n in found if columns.weight(self.asked.words, n)]
            named = named or columns.of_concept("date", list(found))
            found = {n: found[n] for n in named} if len(named) == 1 else {}
        if not found:
            return False
        [(column, kept)] = found.items()
        self._choose_rows(column, kept, word.text.capitalize())
        return True


def _best(weights: dict[int, float]) -> int | None:
    """The column with the highest weight; None where none has any, or several have."""
    best = [n for n, weight in weights.items() if weight and weight == max(weights.values())]
    return best[0] if len(best) == 1 else None
