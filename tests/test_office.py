"""Everyday questions about the files of a small company, through the whole product without a language model.

The files are in `tests/office/`, beside a lease as a PDF with a title that a program filled in. What an answer must
and must not say was worked out by reading them.
"""

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite
from pincite.ingest.accept.collect import collect
from tests.pdf_maker import Line, make_pdf

pytestmark = pytest.mark.usefixtures("built_in_reader")

FOLDER = Path(__file__).parent / "office"
LEASE = [
    Line("Lease agreement, warehouse Harlow", 18),
    Line("1. Parties", 13, 1.6, bold=True),
    Line("The lessor is Kestrel Estates, the lessee is Lumen Lamps."),
    Line("2. Rent", 13, 1.6, bold=True),
    Line("The rent of the warehouse is 4,850 euros a month, due on the third working day."),
    Line("3. Deposit", 13, 1.6, bold=True),
    Line("The deposit amounts to three monthly rents, which is 14,550 euros."),
    Line("4. Early termination", 13, 1.6, bold=True),
    Line("The lessee may end the lease early for the first time on 31 May 2028, with six months' notice."),
]

Case = tuple[str, list[str], list[str]]
"""A question, what its answer must say in this order, and patterns that it must not contain."""

ANSWERED: list[Case] = [
    # the source's own yes or no, and no other
    ("Is the canteen open on Fridays?", ["No. The canteen is open Monday to Thursday"], [r"\bYes\b"]),
    ("Is the shop open on Sundays?", ["No. We are open Monday to Saturday"], [r"\bYes\b"]),
    ("Do you deliver to Norway?", ["No. We deliver to Sweden"], [r"\bYes\b"]),
    ("Is smoking allowed on the balcony?", ["No. Please use the shelter"], [r"\bYes\b"]),
    ("Can I return an opened lamp?", ["No. Only unopened lamps"], [r"\bYes\b"]),
    ("Is there free parking?", ["Yes, behind the building"], [r"\bNo\b", r"Yes\W+Yes"]),
    ("Is the archive open on weekends?", ["No. 12 opens the archive"], [r"\bYes\b", r"No\W+No"]),
    # a short answer that leads, where it is right
    ("When does the Harlow lease begin?", ["1 June 2025"], [r"\A7 March"]),
    ("When is the warehouse move?", ["14 and 15 June 2025"], [r"\A15 June", r"\A31 July"]),
    ("How high is the deposit for the Harlow warehouse?", ["three monthly rents", "14,550 euros"], [r"\Athree\."]),
    # a PDF without a usable title
    ("How much is the rent of the Harlow warehouse?", ["4,850 euros a month"], ["anonymous"]),
    ("When can we leave the Harlow lease early?", ["31 May 2028"], ["anonymous"]),
    # the passage is there
    ("What happens if Lindgren delivers late?", ["a penalty of 1 %"], []),
    ("Who approves a training for 1,200 euros?", ["everything above that by Ines Albrecht"], []),
    ("What is superlinear return according to Paul Graham?", ["grows faster than the work"], []),
    (
        "List all actions from the meeting on 12 March",
        ["Tom Berger orders", "Marek Nowak books", "Priya Nair tells", "Ines Albrecht ends"],
        ["Decision"],
    ),
    # across languages
    ("Wie viel Rabatt bekommen wir von Lindgren bei großen Bestellungen?", ["a discount of 4 %"], []),
    ("What is the hotel limit per night in Munich?", ["höchstens 160 Euro"], []),
    ("How long are nightly backups kept?", ["Nächtliche Sicherungen werden 35 Tage aufbewahrt"], []),
    ("May I fly to Hamburg?", ["Nach Hamburg darf nur fliegen"], []),
    ("Was kostet eine neue Zugangskarte?", ["A new card costs 25 euros"], []),
    ("Bis wann muss ich die Reisekostenabrechnung einreichen?", ["bis zum 10. des Folgemonats"], []),
    # a fact in a FAQ
    ("How many people work here?", ["74 people"], ["superlinear"]),
    # the line of a log, without those after it
    ("When did the backup job fail and why?", ["2025-04-03 02:17:33", "no space left"], ["213 GB", "snapshots"]),
    # tables: one row, and what is computed from all of them
    ("How much is the marketing budget in Q4?", ["61000"], ["Production", "Sales"]),
    ("What is Marek Nowak's phone number?", ["+49 40 5550 117"], ["Albrecht", "Priya"]),
    ("What is the price of LX-210?", ["64.50"], ["LX-200", "LX-240"]),
    ("Which lamp is the most expensive?", ["189.00", "LX-240"], ["LX-200", "LX-260"]),
    ("What is our total budget for 2025?", ["1228000"], ["revenue"]),
    # whole, and in the order of the document
    (
        "Summarise the Nova launch",
        ["rechargeable lamp", "79 euros", "2 September 2025", "Germany and Sweden"],
        [],
    ),
    # sections that the question names together
    ("Compare the insurance offers", ["Nordstern | Hansa", "3,900 euros", "3,450 euros"], []),
    ("What compensation did Ms Dubois get?", ["a voucher of 30 euros"], ["Dear Ms Dubois", "From:", "Subject"]),
]
REFUSED = ["What is the maternity leave policy?", "What is the wifi password?", "What is 17 * 23?"]
CONFLICTS = ["What is the door code?", "What was the revenue in Q1 2025?"]
WAYS: dict[str, dict[str, Any]] = {"agent": {"mode": "agent"}, "maximum": {"intelligence_level": "maximum"}}
"""Other ways to ask the first questions."""
CEO = "Who is the CEO of Lindgren Packaging?"


@pytest.fixture(scope="module")
def answers(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """The answers to all questions, in one library with the default settings."""
    home = tmp_path_factory.mktemp("office")
    files = Path(shutil.copytree(FOLDER, home / "files"))
    (files / "scan_0047.pdf").write_bytes(make_pdf([LEASE], title="(anonymous)", author="(anonymous)"))
    asked = [*(case[0] for case in ANSWERED), *REFUSED, *CONFLICTS, CEO]

    async def main() -> dict[str, Answer]:
        async with AsyncPincite(home / "data", settings={"database.url": module_database_url}) as pincite:
            await pincite.add_all(collect([files]))
            answered = {text: await pincite.ask(Question(text)) for text in asked}
            for how, chosen in WAYS.items():
                for text, _, _ in ANSWERED[:6]:
                    answered[f"{text} ({how})"] = await pincite.ask(Question(text, **chosen))
            return answered

    return asyncio.run(main())


def check(answer: Answer, must: list[str], never: list[str]) -> None:
    at = 0
    for part in must:
        found = answer.text.find(part, at)
        assert found >= 0, f"{part!r} is missing or too early: {answer.text}"
        at = found
    for pattern in never:
        assert not re.search(pattern, answer.text), answer.text
    assert answer.citations, answer.text


@pytest.mark.parametrize(("question", "must", "never"), ANSWERED)
def test_the_answer_says_what_the_files_say(
    answers: dict[str, Answer], question: str, must: list[str], never: list[str]
) -> None:
    check(answers[question], must, never)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(("question", "must", "never"), ANSWERED[:6])
def test_a_yes_or_no_is_the_sources_own_in_every_mode(
    answers: dict[str, Answer], how: str, question: str, must: list[str], never: list[str]
) -> None:
    check(answers[f"{question} ({how})"], must, never)


@pytest.mark.parametrize("question", [*REFUSED, CEO])
def test_what_no_file_says_is_not_answered(answers: dict[str, Answer], question: str) -> None:
    assert answers[question].citations == ()
    assert answers[question].confidence.level == "low"


@pytest.mark.parametrize("question", CONFLICTS)
def test_two_files_that_disagree_are_told_and_confidence_is_not_high(answers: dict[str, Answer], question: str) -> None:
    assert answers[question].context_sufficiency.has_conflicts
    assert any("disagree" in warning for warning in answers[question].warnings)
    assert answers[question].confidence.level != "high"


def test_files_of_the_same_name_are_told_apart_by_their_folders(answers: dict[str, Answer]) -> None:
    cited = [one for one in answers["What is the door code?"].sources if one.cited]
    assert {(one.folder, one.document_name) for one in cited} == {
        ("files/north", "notes.txt"),
        ("files/south", "notes.txt"),
    }


def test_the_title_of_a_pdf_is_its_first_line_and_no_heading_is_lost(answers: dict[str, Answer]) -> None:
    [source, *_] = [one for one in answers["How much is the rent of the Harlow warehouse?"].sources if one.cited]
    assert (source.title, source.heading_path[-1]) == ("Lease agreement, warehouse Harlow", "2. Rent")
