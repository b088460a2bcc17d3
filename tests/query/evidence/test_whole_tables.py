"""Complete tables, read through the reader of the request."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.answer import Answer
from pincite.core.query.hits import Evidence, Hit, RetrievedChunk
from pincite.core.query.question import Filters
from pincite.core.run import Run
from pincite.errors import NotFound
from pincite.ingest.accept.collect import collect
from pincite.query.evidence.whole_tables import MAX_ROWS, needs_table, table_query, table_reading
from tests.builders import found, plan
from tests.extractive.test_table import FILES, workbook

HEADER = "| Lamp | Price |\n|---|---|"
QUESTION = "Which lamp is the most expensive?"


class Reader:
    """Reads one document; any other does not exist."""

    def __init__(self, *passages: RetrievedChunk) -> None:
        self.passages = passages
        self.asked: list[tuple[ReadRequest, Scope, Filters]] = []

    async def read(self, reading: ReadRequest, *, scope: Scope, filters: Filters) -> DocumentExtract:
        self.asked.append((reading, scope, filters))
        if reading.document_id != "lamps":
            raise NotFound("there is no such document")
        return DocumentExtract("lamps", "v1", "Lamps", self.passages, 1, 9, 9)

    async def find(self, reading: ReadRequest, text: str, *, scope: Scope, filters: Filters) -> DocumentExtract:
        raise NotImplementedError


def split(rows: list[str], size: int = 2) -> list[RetrievedChunk]:
    """A table after a sentence, in passages of a few rows, as chunking splits it."""
    text = "\n".join(["Lamps:", "", HEADER, *rows, "", "The end."])
    lines, made, at = text.split("\n"), list[RetrievedChunk](), 0
    groups = [lines[: 4 + size], *(lines[n : n + size] for n in range(4 + size, len(lines), size))]
    for number, group in enumerate(groups, start=1):
        part = "\n".join(group)
        header = HEADER if number > 1 and part.startswith("|") else ""
        more: dict[str, Any] = {"document_id": "lamps", "header": header, "start_char": at, "end_char": at + len(part)}
        made.append(found(part, key=number, start_line=text.count("\n", 0, at) + 1, **more))
        at += len(part) + 1
    return made


def read(run: Run, passages: list[RetrievedChunk], hit: RetrievedChunk, question: str = QUESTION) -> Evidence:
    reader = Reader(*passages)
    run.kit = replace(run.kit, document_reader=reader)
    evidence = Evidence((Hit(hit, 1.0, 0.5, 0.4, 1.0),), 1.0)
    return asyncio.run(table_reading(run, plan(question), evidence, []))


def test_all_passages_of_a_table_become_one_with_exact_offsets(make_run: Callable[..., Run]) -> None:
    passages = split(["| Desk | 30 |", "| Floor | 80 |", "| Wall | 45 |", "| Night | 20 |", "| Hall | 95 |"])
    made = read(make_run(), passages, passages[1])
    assert [hit.complete_table for hit in made.hits] == [True]
    table = made.hits[0].chunk
    assert table.text.startswith(HEADER)
    assert table.text.endswith("| Hall | 95 |")
    assert (table.start_char, table.start_line, table.header) == (len("Lamps:\n\n"), 3, "")
    assert table.end_char - table.start_char == len(table.text)


def test_a_table_that_does_not_answer_is_not_added(make_run: Callable[..., Run]) -> None:
    passages = split(["| Desk | 30 |", "| Floor | much |", "| Wall | 45 |"])
    made = read(make_run(), passages, passages[1])
    assert [hit.complete_table for hit in made.hits] == [False]


def test_a_document_that_may_not_be_read_stays_as_it_was_found(make_run: Callable[..., Run]) -> None:
    passages = split(["| Desk | 30 |", "| Floor | 80 |", "| Wall | 45 |"])
    hidden = replace(passages[1], document_id="hidden")
    run = make_run()
    made = read(run, passages, hidden)
    assert [hit.chunk for hit in made.hits] == [hidden]
    assert isinstance(run.kit.document_reader, Reader)
    [(asked, scope, _)] = run.kit.document_reader.asked
    assert (asked.document_id, asked.version, scope) == ("hidden", "v1", run.scope)


def test_a_table_with_too_many_rows_is_named_and_not_used(make_run: Callable[..., Run]) -> None:
    passages = split([f"| L{n} | {n} |" for n in range(MAX_ROWS + 1)], size=50)
    run = make_run()
    made = read(run, passages, passages[1])
    assert not any(hit.complete_table for hit in made.hits)
    assert [note.reason for note in run.degraded] == ["a table has 401 rows; values are computed from at most 400"]


@pytest.mark.parametrize(
    ("question", "needed", "query"),
    [
        ("Which lamp is the most expensive?", True, "lamp price preis"),
        ("Welche Lampen stehen im Flur?", True, ""),
        ("How many lamps were bought in 2022?", True, "lamps bought 2022"),
        ("When does the office open?", False, ""),
        ("Is the total above 100?", False, ""),
    ],
)
def test_a_query_names_the_column_instead_of_the_operation(question: str, needed: bool, query: str) -> None:
    assert (needs_table(question), table_query(question)) == (needed, query)


ASKED = {
    "Which bike is the most expensive?": ("2,545.00", "B024"),
    "How many bikes were bought in 2022?": ("Computed from 8 rows: 8", "B036"),
    "Was kosten alle Werkzeuge in Halle B zusammen?": ("8.804,65 €", "W-133"),
    "Wie viele Werkzeuge wurden 2022 gekauft?": ("Berechnet aus 14 Zeilen: 14", "W-132"),
    "How many participants did we have in Cardiff?": ("184", "Spreadsheet basics 6"),
    "Which course has the highest fee?": ("590", "Forklift licence 4"),
}


def test_values_are_computed_from_split_tables_and_every_row_is_cited(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("bike_fleet.csv", "werkzeug.md"):
        (folder / name).write_bytes((FILES / name).read_bytes())
    (folder / "courses.xlsx").write_bytes(workbook())

    async def ask_all() -> dict[str, Answer]:
        async with open_pincite() as pincite:
            await pincite.documents.add_all(collect([folder]))
            return {question: await pincite.questions.ask(question) for question in ASKED}

    for question, answer in asyncio.run(ask_all()).items():
        value, row = ASKED[question]
        assert value in answer.text.split("\n")[0], question
        assert row in answer.text
        first, *others = answer.citations
        assert (first.matched_by, first.support) == ("computed", 1.0)
        assert others[-1].matched_by == "code"
        assert all(one.quote.startswith("| ") and one.quote.endswith(" |") for one in answer.citations)
        assert answer.groundedness.score == 1.0
        assert answer.confidence.level != "low"
