"""The columns of a table as a question is compared with them: the words of their names, their numbers and dates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.extractive.table.dates import Date, read_dates
from pincite.extractive.table.numbers import NumberColumn, read_numbers
from pincite.extractive.table.questions import Word, concept_words, words_of
from pincite.extractive.tables import Table
from pincite.text import lang
from pincite.text.units import CURRENCIES, units

SIMILAR_WEIGHT = 0.5
"""Weight of a word of the question that is only similar to a word of a column's name."""
MAX_TOTAL_WORDS = 3
"""Words of a cell that labels a row of totals."""
UNITS_OF_CONCEPT = {
    "duration": frozenset({"s", "month", "m", "mile", "foot", "inch"}),
    "weight": frozenset({"g", "pound"}),
    "price": frozenset(CURRENCIES),
}
"""The base units in which a thing asked for is measured; the longest may be of time or of length."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, by number; `rows` are the numbers of all rows but those of totals."""

    table: Table
    language: str
    names: tuple[tuple[Word, ...], ...]
    numbers: tuple[NumberColumn | None, ...]
    dates: tuple[tuple[Date | None, ...] | None, ...]
    rows: tuple[int, ...]

    @classmethod
    def of(cls, table: Table, language: str) -> "Columns":
        """The columns of a table for a question in this language."""
        totals = total_rows(table, language)
        rows = tuple(row for row in range(len(table.rows)) if row not in totals)
        width = range(len(table.names))
        dates = tuple(read_dates([table.rows[row].cells[n] for row in rows], language) for n in width)
        numbers = tuple(None if dates[n] else read_numbers(table.column(n), language) for n in width)
        return cls(table, language, tuple(words_of(name, language) for name in table.names), numbers, dates, rows)

    @property
    def texts(self) -> list[int]:
        """The columns of neither numbers nor dates."""
        return [n for n in range(len(self.names)) if not self.numbers[n] and not self.dates[n]]

    @property
    def amounts(self) -> list[int]:
        """The columns of numbers that are no labels, such as codes and years."""
        return [n for n, numbers in enumerate(self.numbers) if numbers and not self._is_label(n, numbers)]

    def _is_label(self, column: int, numbers: NumberColumn) -> bool:
        """Whether numbers name their row: by the first or last word of the column's name, or as numbers of the rows."""
        if numbers.style.before or numbers.style.after:
            return False
        words = self._measured(column)
        labels = lang.recognised_words("tables.labels", self.language)
        endings = tuple(lang.recognised_words("tables.label_endings", self.language))
        counts = column == 0 and len(self.rows) > 1 and self.is_key(0) and not numbers.style.decimals
        return counts or any(word.text in labels or word.text.endswith(endings) for word in (*words[:1], *words[-1:]))

    @property
    def total(self) -> int | None:
        """The one column whose name says that it adds up the others: `Total`; None without one."""
        words = lang.recognised_words("tables.totals", self.language)
        named = [n for n, name in enumerate(self.names) if name and all(word.text in words for word in name)]
        return named[0] if len(named) == 1 else None

    @property
    def has_people(self) -> bool:
        """Whether the rows are people, or a column says how many there are."""
        return bool(self.of_concept("person", self.texts) or self.of_concept("headcount", self.amounts))

    def has_same(self, word: Word, column: int) -> bool:
        """Whether the name of a column has a word."""
        return any(word.is_same(one) for one in self.names[column])

    def has(self, word: Word, column: int) -> bool:
        """Whether the name of a column has a word or one that is similar."""
        return any(word.is_same(one) or word.is_similar(one) for one in self.names[column])

    def weight(self, words: Iterable[Word], column: int) -> float:
        """The weight of the words that the name of a column has; what follows `per` is not what it measures."""
        return sum(
            1.0 if any(word.is_same(one) for one in self._measured(column)) else SIMILAR_WEIGHT * self.has(word, column)
            for word in words
        )

    def _measured(self, column: int) -> tuple[Word, ...]:
        """The words of a column's name without those after `per` and without a period: `loans last year` are loans."""
        name = lang.regex("tables.grouping", self.language, r"\s%s\s.*").sub("", self.table.names[column].lower())
        return words_of(lang.regex("tables.periods", self.language, r"(?<=\w)\s%s$").sub("", name), self.language)

    def of_unit(self, concept: str, usable: Sequence[int]) -> list[int]:
        """The columns whose cells have a unit that measures this: `145 minutes` is a duration."""
        wanted, known = UNITS_OF_CONCEPT.get(concept, frozenset()), units(self.language)
        signs = {n: f"{one.style.before} {one.style.after}".strip().lower() for n in usable if (one := self.numbers[n])}
        return [n for n, sign in signs.items() if sign in known and known[sign][0] in wanted]

    def of_concept(self, concept: str, usable: Sequence[int]) -> list[int]:
        """The columns whose names have the plainest word of a concept that any name has."""
        for word in concept_words(concept, self.language) if concept else ():
            found = [
                n for n in usable if any(word.is_same(one) or one.text.endswith(word.text) for one in self.names[n])
            ]
            if found:
                return found
        return []

    def is_key(self, column: int) -> bool:
        """Whether every row has another cell in a column."""
        cells = [self.table.rows[row].cells[column].casefold() for row in self.rows]
        return len(set(cells)) == len(cells)


def total_rows(table: Table, language: str) -> list[int]:
    """The numbers of the rows that add up the others."""
    totals = lang.recognised_words("tables.totals", language)

    def labels_total(cells: Sequence[str]) -> bool:
        first = words_of(next((cell for cell in cells if cell), ""), language)
        return 0 < len(first) <= MAX_TOTAL_WORDS and any(word.text in totals for word in first)

    return [number for number, row in enumerate(table.rows) if labels_total(row.cells)]
