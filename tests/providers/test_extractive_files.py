"""Each form of an answer from real files, through the whole pipeline and the real embedder; every citation is exact."""

import asyncio
import csv
from pathlib import Path

import pytest
import xlsxwriter

from pincite.core.query.answer import Answer
from pincite.engine.app import AsyncPincite
from pincite.ingest.accept.collect import collect

pytestmark = pytest.mark.slow

HANDBOOK = """# Harbour handbook

## Leave

Every employee has 25 days of leave a year. Unused days expire on 31 March.

## What to bring

On your first day bring the following:

- your passport
- a pair of boots
- two photographs

## Restarting the crane

To restart the crane:

1. Close the cab.
2. Turn the red key.
3. Wait for the green lamp.

## Names

The yellow tug is called Mole. Dogs are not allowed on the quay.
"""
ASKED = (
    "How many days of leave does every employee have?",
    "When do unused days expire?",
    "What is Mole?",
    "Are dogs allowed on the quay?",
    "What should I bring on my first day?",
    "How do I restart the crane?",
    "What is the draught of the Möwe?",
    "What was the toll in April?",
    "How much did the recoating of the main mirror cost?",
    "Who is the mayor of Valparaíso?",
)
PDF = Path(__file__).parents[2] / "examples" / "documents" / "annual-report-2023.pdf"


def make_files(folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    (folder / PDF.name).write_bytes(PDF.read_bytes())
    with (folder / "ships.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("Ship", "Length", "Draught"), ("Möwe", "31 m", "2.4 m"), ("Lachs", "18 m", "1.9 m")]
        )
    with xlsxwriter.Workbook(folder / "tolls.xlsx") as book:
        sheet = book.add_worksheet("Tolls")
        for number, row in enumerate([("Month", "Toll"), ("March", "310 francs"), ("April", "402 francs")]):
            sheet.write_row(number, 0, row)


@pytest.fixture(scope="module")
def answers(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    folder = tmp_path_factory.mktemp("files")
    make_files(folder)

    async def ask_all() -> dict[str, Answer]:
        settings = {"data": tmp_path_factory.mktemp("data"), "database.url": module_database_url}
        async with AsyncPincite(settings=settings) as pincite:
            await pincite.add_all(collect([folder]))
            found = {}
            for question in ASKED:
                found[question] = answer = await pincite.ask(question)
                scope = await pincite.scope()
                for citation in answer.citations:
                    source = answer.sources[(citation.source or 0) - 1]
                    text = (await pincite.services.library.text(scope, source.document_id, source.version)).text
                    assert text[citation.quote_start_char : citation.quote_end_char] == citation.quote
            return found

    return asyncio.run(ask_all())


@pytest.mark.parametrize(
    ("question", "begins", "quoted"),
    [
        (
            ASKED[0],
            "25 days. Every employee has 25 days of leave a year.",
            "Every employee has 25 days of leave a year.",
        ),
        (ASKED[1], "31 March. ", "Unused days expire on 31 March."),
        (ASKED[2], "The yellow tug is called Mole.", "The yellow tug is called Mole."),
        (ASKED[3], "Dogs are not allowed on the quay.", "Dogs are not allowed on the quay."),
        (ASKED[6], "2.4 m. ", "2.4 m"),
        (ASKED[7], "402 francs. ", "402 francs"),
        (ASKED[8], "41,300 francs. ", "41,300 francs"),
    ],
)
def test_the_answer_comes_first_and_its_source_is_cited(
    answers: dict[str, Answer], question: str, begins: str, quoted: str
) -> None:
    answer = answers[question]
    assert answer.text.startswith(begins)
    assert quoted in answer.citations[0].quote
    assert answer.groundedness.score == 1.0


@pytest.mark.parametrize(
    ("question", "items"),
    [
        (ASKED[4], ["- your passport", "- a pair of boots", "- two photographs"]),
        (ASKED[5], ["1. Close the cab.", "2. Turn the red key.", "3. Wait for the green lamp."]),
    ],
)
def test_every_item_is_told_and_cited(answers: dict[str, Answer], question: str, items: list[str]) -> None:
    answer = answers[question]
    assert [item for item in items if f"{item} [Source " in answer.text] == items
    assert len(answer.citations) >= len(items)


def test_what_the_files_do_not_cover_is_refused_by_name(answers: dict[str, Answer]) -> None:
    answer = answers[ASKED[9]]
    assert answer.citations == ()
    assert answer.text.startswith("I don't have specific information")
