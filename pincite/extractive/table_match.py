"""The column and the rows of a table that a question is about; every word of the question must be accounted for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pincite.extractive.table_dates import Date, read_dates
from pincite.extractive.table_numbers import NumberColumn, is_empty, read_numbers
from pincite.extractive.table_questions import (
    Request,
    TableQuestion,
    Word,
    concept_words,
    month_of,
    quarter_of,
    words_of,
    year_of,
)
from pincite.extractive.tables import Table
from pincite.text import lang

SIMILAR_WEIGHT = 0.5
"""Weight of a word of the question that is only similar to a word of a column's name."""
CONTEXT_WEIGHT = 0.25
"""Weight of a word that only a title or a heading has."""
MAX_TOTAL_WORDS = 3
"""Words of a cell that labels a row of totals."""


@dataclass(frozen=True, slots=True)
class TableMatch:
    """What is asked of a table: the request, the number of the column, the rows, and the cells that chose them.

    `column` is None where rows are counted or listed. `weight` is the number of words of the question that are in cells
    or names of columns.
    """

    request: Request
    column: int | None
    rows: tuple[int, ...]
    filters: tuple[tuple[str, str], ...]
    weight: float


def match_table(asked: TableQuestion, table: Table, context: str) -> TableMatch | None:
    """What a question asks of a table; None where a word, the column or the rows are not clear.

    `context` is the text that names the table: titles and headings.
    """
    matcher = _Matcher(asked, table, words_of(context, asked.language))
    return matcher.match()


def total_rows(table: Table, language: str) -> list[int]:
    """The numbers of the rows that add up the others."""
    totals = lang.recognised_words("tables.totals", language)

    def labels_total(cells: Sequence[str]) -> bool:
        first = words_of(next((cell for cell in cells if cell), ""), language)
        return 0 < len(first) <= MAX_TOTAL_WORDS and any(word.text in totals for word in first)

    return [number for number, row in enumerate(table.rows) if labels_total(row.cells)]


@dataclass(slots=True)
class _Matcher:
    """Accounts for the words of a question, one step after the other."""

    asked: TableQuestion
    table: Table
    context: Sequence[Word]
    left: dict[int, Word] = field(default_factory=dict)
    """The words that are not accounted for, by their place in the question."""
    chosen: dict[int, set[int]] = field(default_factory=dict)
    """The rows that each column's cells choose."""
    filters: list[tuple[str, str]] = field(default_factory=list)
    weight: float = 0.0
    names: list[tuple[Word, ...]] = field(default_factory=list)
    numbers: list[NumberColumn | None] = field(default_factory=list)
    dates: list[tuple[Date | None, ...] | None] = field(default_factory=list)
    totals: set[int] = field(default_factory=set)

    def match(self) -> TableMatch | None:
        asked, table, language = self.asked, self.table, self.asked.language
        width = range(len(table.names))
        self.left = {place: word for place, word in enumerate(asked.words) if not word.stop}
        self.names = [words_of(name, language) for name in table.names]
        self.totals = set(total_rows(table, language))
        cells = [[row.cells[n] for number, row in enumerate(table.rows) if number not in self.totals] for n in width]
        self.dates = [read_dates(column, language) for column in cells]
        self.numbers = [read_numbers(table.column(n), language) if not self.dates[n] else None for n in width]
        if not self._take_cells():
            return None
        request, column = self._column()
        if request is None or any(self._is_grouped(word, column) for word in asked.grouped_by):
            return None
        if not all(self._account(place, word, column) for place, word in list(self.left.items())):
            return None
        rows = [n for n in range(len(table.rows)) if all(n in kept for kept in self.chosen.values())]
        rows = [n for n in rows if n not in self.totals]
        if request == "cell" and asked.lists and (column is None or len(rows) > 1):
            request = "rows"
        if not rows or (request in ("cell", "rows") and not self.chosen) or (request == "cell" and len(rows) > 1):
            return None
        return TableMatch(request, column, tuple(rows), tuple(self.filters), self.weight)

    # --- the rows

    def _take_cells(self) -> bool:
        """Take the words that are a whole cell of a text column; False where two columns have the same cell."""
        found = [
            (length, place, column, row)
            for column in range(len(self.names))
            if not self.numbers[column] and not self.dates[column]
            for row, text in enumerate(self.table.column(column))
            for place, length in self._places(words_of(text, self.asked.language))
        ]
        for length, place, column, row in sorted(found, key=lambda one: -one[0]):
            places = set(range(place, place + length))
            if self.chosen.get(column) and row in self.chosen[column]:
                self._take(places)
                continue
            if not any(one in self.left for one in places):
                continue
            rivals = {other for size, at, other, _ in found if (size, at) == (length, place)}
            if len(rivals) > 1 and not self._is_named_apart(column, rivals):
                if self._is_named_apart(next(iter(rivals - {column})), rivals):
                    continue
                return False
            same = [n for size, at, other, n in found if (size, at, other) == (length, place, column)]
            self.chosen.setdefault(column, set()).update(same)
            self.filters.append((self.table.names[column], self.table.rows[row].cells[column]))
            self.weight += sum(not self.asked.words[one].stop for one in places)
            self._take(places)
        return True

    def _places(self, cell: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """Where the words of a cell are in the question, and how many they are."""
        if not cell or all(word.stop for word in cell):
            return
        words = self.asked.words
        for place in range(len(words) - len(cell) + 1):
            if all(word.is_same(words[place + n]) for n, word in enumerate(cell)):
                yield place, len(cell)

    def _is_named_apart(self, column: int, rivals: set[int]) -> bool:
        """Whether the question names this column and none of the others."""
        named = {n for n in rivals if any(self._names(word, n) for word in self.left.values())}
        return named == {column}

    def _take(self, places: Iterable[int]) -> None:
        for place in places:
            self.left.pop(place, None)

    # --- the column

    def _column(self) -> tuple[Request | None, int | None]:
        """The request and its column; None where no column or more than one is meant."""
        asked, request = self.asked, self.asked.request
        if request == "count":
            return self._counted()
        if request == "cell":
            usable = [n for n in range(len(self.names)) if n not in self.chosen]
        elif asked.concept == "date":
            usable = [n for n, dates in enumerate(self.dates) if dates]
        else:
            usable = [n for n, numbers in enumerate(self.numbers) if numbers and not self._is_label(n)]
        column = self._choose(usable)
        return (request, column) if column is not None or asked.lists else (None, None)

    def _choose(self, usable: Sequence[int]) -> int | None:
        """The column that the question names, or the only one of the kind it asks for."""
        asked = self.asked
        concept = asked.concept
        if not concept and asked.is_computed:
            spending = lang.recognised_words("tables.spending", asked.language)
            concept = "price" if any(word.text in spending for word in self.left.values()) else ""
        scores = {n: self._name_weight(n) for n in usable}
        exact = self._best(scores)
        if exact is not None and (not asked.concept or not asked.is_computed):
            return exact
        if any(scores.values()) and not concept:
            return None
        for word in concept_words(concept, asked.language) if concept else ():
            kind = [
                n for n in usable if any(word.is_same(one) or one.text.endswith(word.text) for one in self.names[n])
            ]
            if kind:
                return kind[0] if len(kind) == 1 else self._best({n: scores[n] for n in kind})
        return usable[0] if len(usable) == 1 and asked.request in ("sum", "mean") else None

    def _best(self, scores: dict[int, float]) -> int | None:
        best = [n for n, score in scores.items() if score and score == max(scores.values())]
        return best[0] if len(best) == 1 else None

    def _name_weight(self, column: int) -> float:
        """The weight of the words of the question that the name of a column has."""
        own = self.names[column]
        words = self.left.values()
        same = sum(any(word.is_same(one) for one in own) for word in words)
        alike = sum(
            any(word.is_similar(one) for one in own) and not any(word.is_same(one) for one in own) for word in words
        )
        return same + SIMILAR_WEIGHT * alike

    def _names(self, word: Word, column: int | None) -> bool:
        return column is not None and any(word.is_same(one) or word.is_similar(one) for one in self.names[column])

    def _is_grouped(self, word: Word, column: int | None) -> bool:
        """Whether values are asked for by the cells of another column."""
        return not self._names(word, column) and any(self._names(word, n) for n in range(len(self.names)))

    def _is_label(self, column: int) -> bool:
        labels = lang.recognised_words("tables.labels", self.asked.language)
        return any(word.text in labels for word in self.names[column])

    def _counted(self) -> tuple[Request | None, int | None]:
        """What is counted: rows, different cells of a column, or the sum of a column of numbers."""
        place = self.asked.counted
        word = self.left.get(place) if place is not None else None
        if word is None:
            return "count", None
        amounts = [n for n, numbers in enumerate(self.numbers) if numbers and not self._is_label(n)]
        same = [n for n in amounts if any(word.is_same(one) for one in self.names[n])]
        if len(same) > 1:
            return None, None
        if same:
            return "sum", same[0]
        texts = [n for n in range(len(self.names)) if n not in amounts and self._names(word, n)]
        if len(texts) != 1:
            return "count", None
        [column] = texts
        cells = [cell.casefold() for cell in self.table.column(column)]
        keyed = column == 1 and len(set(self.table.column(0))) == len(cells)
        return ("count", None) if keyed or len(set(cells)) == len(cells) else ("distinct", column)

    # --- the other words

    def _account(self, place: int, word: Word, column: int | None) -> bool:
        """Account for a word that no whole cell has; False where nothing explains it."""
        if place not in self.left:
            return True
        language = self.asked.language
        if column is not None and any(word.is_same(one) for one in self.names[column]):
            self.weight += 1
            return True
        if any(word.is_same(one) for name in self.names for one in name):
            self.weight += 1
            self._keep_filled(word, place)
            return True
        if year := year_of(word):
            return self._choose_dates(word, lambda date: date.year == year) or self._take_context(word)
        if month := month_of(word, language):
            return self._choose_dates(word, lambda date: date.month == month)
        if quarter := quarter_of(word):
            return self._choose_dates(word, lambda date: date.quarter == quarter) or self._take_context(word)
        partial = self._choose_part(word)
        if partial is not None:
            return partial
        if any(self._names(word, n) for n in range(len(self.names))):
            self.weight += SIMILAR_WEIGHT
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

    def _keep_filled(self, word: Word, place: int) -> None:
        """Where rows are counted or listed, a column that the question names must have a value."""
        if not (self.asked.request == "count" or self.asked.lists) or place == self.asked.counted:
            return
        named = [n for n, name in enumerate(self.names) if any(word.is_same(one) for one in name)]
        if len(named) == 1:
            filled = {n for n, cell in enumerate(self.table.column(named[0])) if not is_empty(cell)}
            if len(filled) < len(self.table.rows):
                self.chosen.setdefault(named[0], set(range(len(self.table.rows)))).intersection_update(filled)

    def _choose_part(self, word: Word) -> bool | None:
        """Choose the rows with a cell that has this word; False where columns differ, None where no cell has it."""
        found: dict[int, set[int]] = {}
        for column in range(len(self.names)):
            if self.numbers[column] or self.dates[column]:
                continue
            for row, text in enumerate(self.table.column(column)):
                if any(word.is_same(one) for one in words_of(text, self.asked.language)):
                    found.setdefault(column, set()).add(row)
        if not found:
            return None
        rows = next(iter(found.values()))
        if any(one != rows for one in found.values()):
            return False
        if self._in_context(word) and len(rows - self.totals) < len(self.table.rows) - len(self.totals):
            return False
        column = next(iter(found))
        self.chosen[column] = self.chosen.get(column, rows) & rows
        self.filters.append((self.table.names[column], word.text))
        self.weight += 1
        return True

    def _choose_dates(self, word: Word, fits: Callable[[Date], bool]) -> bool:
        """Choose the rows with a date that fits; False where no column of dates has one, or several have."""
        found = dict[int, set[int]]()
        rows = [n for n in range(len(self.table.rows)) if n not in self.totals]
        for column, dates in enumerate(self.dates):
            kept = {row for row, date in zip(rows, dates or (), strict=False) if date and fits(date)}
            if kept:
                found[column] = kept
        if len(found) > 1:
            named = [n for n in found if self._name_weight(n)] or self._bought(found)
            found = {n: found[n] for n in named} if len(named) == 1 else {}
        if not found:
            return False
        [(column, kept)] = found.items()
        self.chosen[column] = self.chosen.get(column, kept) & kept
        self.filters.append((self.table.names[column], word.text.upper()))
        self.weight += 1
        return True

    def _bought(self, found: Iterable[int]) -> list[int]:
        """The columns whose names are words for the date of a purchase."""
        words = concept_words("date", self.asked.language)
        return [n for n in found if any(word.is_same(one) for word in words for one in self.names[n])]
