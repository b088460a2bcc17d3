"""Cells, rows and computed values from three tables of more than thirty rows: CSV, Markdown and Excel."""

import io
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
import xlsxwriter

from pincite.core.query.hits import Hit
from pincite.extractive.compose import AnswerPart
from pincite.extractive.table.answers import table_answer
from pincite.extractive.table.compute import is_computed
from pincite.extractive.table.numbers import read_numbers, write_number
from pincite.extractive.tables import tables_in
from pincite.parsers import csv, xlsx
from pincite.text.answer_type import answer_type
from pincite.text.terms import question_language
from tests.builders import hit

FILES = Path(__file__).parent / "table_files"
TITLES = {
    "bike_fleet.csv": "bike_fleet.csv",
    "werkzeug.md": "Werkzeugbestand der Schreinerei",
    "courses.xlsx": "courses.xlsx",
}


def workbook() -> bytes:
    """The courses as an Excel file, with numbers as numbers."""
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, {"strings_to_numbers": True}) as book:
        sheet = book.add_worksheet("Courses")
        for number, line in enumerate((FILES / "courses.tsv").read_text(encoding="utf-8").splitlines()):
            sheet.write_row(number, 0, line.split("\t"))
    return made.getvalue()


@cache
def table_text(name: str) -> str:
    """The table of a file as the parsers write it."""
    if name == "courses.xlsx":
        text = xlsx.make_parser(xlsx.Options()).parse(workbook()).text
    elif name == "bike_fleet.csv":
        text = csv.make_parser(csv.Options()).parse((FILES / name).read_bytes()).text
    else:
        text = (FILES / name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if line.startswith("|"))


def complete(name: str) -> Hit:
    return replace(hit(table_text(name), title=TITLES[name], document_name=name), complete_table=True)


def asked(question: str, *hits: Hit) -> list[AnswerPart]:
    return table_answer(question, question_language(question), answer_type(question).form, hits)


BIKES, TOOLS, COURSES = "bike_fleet.csv", "werkzeug.md", "courses.xlsx"
COMPUTED = [
    (BIKES, "What is the total price of all bikes?", 36, "46,629.00"),
    (BIKES, "How much did we spend on E-bikes in total?", 9, "18,638.00"),
    (BIKES, "How many bikes are at the Campus station?", 7, "7"),
    (BIKES, "How many bikes were bought in 2022?", 8, "8"),
    (BIKES, "how many bikes at North Gate are in repair", 3, "3"),
    (BIKES, "What is the average price of a cargo bike?", 5, "2,476.10"),
    (BIKES, "average weight of the kids bikes", 4, "17.6"),
    (BIKES, "Which bike is the most expensive?", 36, "2,545.00"),
    (BIKES, "Which bike is the cheapest?", 36, "290.00"),
    (BIKES, "What is the heaviest bike?", 36, "31.3"),
    (BIKES, "Which is the oldest bike in the fleet?", 36, "2019-01-19"),
    (BIKES, "newest city bike?", 10, "2023-10-13"),
    (BIKES, "cheapest e-bike", 9, "1,985.00"),
    (BIKES, "How many different stations are there?", 36, "4"),
    (BIKES, "total price of the bikes made by Torv", 10, "15,327.00"),
    (BIKES, "Was kosten alle Fahrräder von Torv zusammen?", 0, ""),
    (BIKES, "how many bikes did we buy in August 2023", 3, "3"),
    (TOOLS, "Was kosten alle Werkzeuge zusammen?", 33, "21.883,45 €"),
    (TOOLS, "Wie viele Werkzeuge liegen in Halle B?", 10, "10"),
    (TOOLS, "Gesamtpreis der Werkzeuge in Halle B", 10, "8.804,65 €"),
    (TOOLS, "Welches Werkzeug ist das teuerste?", 33, "1.475,50 €"),
    (TOOLS, "Was ist das billigste Werkzeug?", 33, "42,90 €"),
    (TOOLS, "billigstes Werkzeug in Halle A", 13, "46,95 €"),
    (TOOLS, "Wie hoch ist der Preis im Durchschnitt?", 33, "663,13 €"),
    (TOOLS, "Durchschnittspreis der Werkzeuge von Yildiz", 14, "640,65 €"),
    (TOOLS, "Wie viele Werkzeuge wurden 2022 gekauft?", 14, "14"),
    (TOOLS, "Summe der Stückzahl bei Novak", 8, "49"),
    (TOOLS, "Was haben die Akkuschrauber insgesamt gekostet?", 5, "3.594,30 €"),
    (TOOLS, "Wie viele Stück haben wir von den Werkzeugen in Halle A?", 13, "53"),
    (TOOLS, "Wie viele Werkzeuge wurden im zweiten Quartal 2022 gekauft?", 3, "3"),
    (TOOLS, "Welches Werkzeug ist das älteste?", 33, "09.01.2020"),
    (COURSES, "How many participants were there in total?", 34, "489"),
    (COURSES, "How many participants did we have in Cardiff?", 13, "184"),
    (COURSES, "total hours of all courses", 34, "135.5"),
    (COURSES, "What is the average fee?", 34, "293.53"),
    (COURSES, "sum of the fees for Leeds", 13, "3410"),
    (COURSES, "How many courses did Okafor give?", 14, "14"),
    (COURSES, "How many courses were in May?", 6, "6"),
    (COURSES, "Which course has the highest fee?", 34, "590"),
    (COURSES, "Which course had the most participants?", 34, "22"),
    (COURSES, "How many people took part in first aid courses?", 0, ""),
    (COURSES, "participants of the first aid courses altogether", 6, "92"),
    (COURSES, "how many courses come with a certificate", 19, "19"),
    (COURSES, "Wie viele Kurse hat Lyle gegeben?", 0, ""),
]


@pytest.mark.parametrize(("name", "question", "rows", "value"), COMPUTED)
def test_a_value_is_computed_from_all_rows(name: str, question: str, rows: int, value: str) -> None:
    made = asked(question, complete(name))
    assert [bool(part.computed) for part in made[:1]] == ([True] if value else [])
    if value:
        computed = made[0].computed
        assert computed
        assert (computed.value, len(computed.rows)) == (value, rows)
        assert value in made[0].text
        [table] = tables_in(table_text(name))
        assert is_computed(computed, table, question_language(question))


@pytest.mark.parametrize(
    ("name", "question"),
    [
        (BIKES, "What is the average price per station?"),
        (BIKES, "total price by type"),
        (BIKES, "Which is the second most expensive bike?"),
        (BIKES, "What are the three cheapest bikes?"),
        (BIKES, "How many bikes are not at Campus?"),
        (BIKES, "How many bikes cost more than 1000 euros?"),
        (BIKES, "How many blue bikes are there?"),
        (BIKES, "What is the total price of all helmets?"),
        (BIKES, "How many bikes were bought before 2021?"),
        (BIKES, "What is the total?"),
        (BIKES, "How many bikes did Harbour rent out?"),
        (BIKES, "Is the total price over 40,000?"),
        (BIKES, "What is the median price?"),
        (BIKES, "Compare the average price of city bikes and e-bikes"),
        (TOOLS, "Wie viele Werkzeuge sind kaputt?"),
        (TOOLS, "Was kosten die Werkzeuge außer denen in Halle B zusammen?"),
        (TOOLS, "Wie viel Prozent der Werkzeuge liegen in Halle A?"),
        (TOOLS, "Summe je Lagerort"),
        (TOOLS, "Wie viele Werkzeuge wurden vor 2022 gekauft?"),
        (COURSES, "What is the highest number?"),
        (COURSES, "How many items are there in total?"),
        (COURSES, "How much money did we spend altogether?"),
        (COURSES, "How many courses have a fee?"),
        (COURSES, "How many courses are planned for 2026?"),
        (COURSES, "average age of the participants"),
        (COURSES, "total hours per trainer"),
    ],
)
def test_nothing_is_computed_where_the_question_is_not_clear(name: str, question: str) -> None:
    assert asked(question, complete(name)) == []


GRANTS = """| Region | Spring | Autumn | Total |
| --- | --- | --- | --- |
| North | 100 | 250 | 350 |
| South | 80 | 70 | 150 |"""


@pytest.mark.parametrize(
    ("question", "name", "said"),
    [
        ("What are our total grants for 2031?", "grants_2031.csv", "Computed from 2 rows: 500 (total of Total)."),
        ("How much are the total grants for 2031?", "grants_2031.csv", "Computed from 2 rows: 500 (total of Total)."),
        ("Wie hoch sind die Zuschüsse 2031 insgesamt?", "zuschüsse_2031.csv", "Berechnet aus 2 Zeilen: 500"),
        ("What are the total grants in spring?", "grants_2031.csv", "Computed from 2 rows: 180 (total of Spring)."),
        ("What are our total grants for the North?", "grants_2031.csv", "350. Region: North;"),
        ("What are our total grants for 2030?", "grants_2031.csv", ""),
        ("What are our total loans for 2031?", "grants_2031.csv", ""),
        ("What is the total price of the grants for 2031?", "grants_2031.csv", ""),
        ("What is the total?", "grants_2031.csv", ""),
    ],
)
def test_a_column_of_totals_is_summed_where_the_files_name_has_what_is_asked(
    question: str, name: str, said: str
) -> None:
    made = asked(question, replace(hit(GRANTS, title=name, document_name=name), complete_table=True))
    assert (made[0].text if made else "")[: len(said) or None] == said


@pytest.mark.parametrize(
    ("name", "question", "cell", "row"),
    [
        (BIKES, "What is the price of B017?", "365.50", "B017"),
        (BIKES, "Where is bike B017?", "Campus", "B017"),
        (BIKES, "weight of bike B030", "9.5", "B030"),
        (TOOLS, "Wer ist für den Messlaser C verantwortlich?", "Novak", "W-123"),
        (TOOLS, "Was kostet der Kompressor D?", "1.268,50 €", "W-132"),
        (TOOLS, "Lagerort von W-119?", "Halle B", "W-119"),
        (COURSES, "Who is the trainer of Negotiation 4?", "Okafor", "Negotiation 4"),
        (COURSES, "fee for Fire safety 4", "550", "Fire safety 4"),
        (COURSES, "How many participants did Data protection 5 have?", "22", "Data protection 5"),
    ],
)
def test_a_cell_is_given_with_its_row_and_nothing_else(name: str, question: str, cell: str, row: str) -> None:
    [part] = asked(question, complete(name))
    assert part.text.startswith(f"{cell}. ")
    assert f": {row};" in part.text
    assert row in table_text(name)[part.start : part.end]
    assert part.computed is None


@pytest.mark.parametrize(
    ("name", "question", "rows"),
    [
        (BIKES, "Which bikes from Lumen are worn?", ["B006", "B031", "B035"]),
        (TOOLS, "Welche Werkzeuge liegen in Transporter 1?", ["W-101", "W-102", "W-107", "W-122"]),
        (COURSES, "List all courses in Derry by Lyle", ["Negotiation 1", "Spreadsheet basics 3", "Negotiation 3"]),
    ],
)
def test_all_rows_that_fit_are_listed(name: str, question: str, rows: list[str]) -> None:
    made = asked(question, complete(name))
    assert [part.text.removeprefix("- ").split(";")[0].split(": ")[1] for part in made] == rows
    assert all(part.text.startswith("- ") for part in made)


@pytest.mark.parametrize(
    ("cells", "language", "values"),
    [
        (["1,200", "950", "2,000"], "en", [1200, 950, 2000]),
        (["1.200", "950"], "de", [1200, 950]),
        (["1 200", "12\u00a0000", "7"], "de", [1200, 12000, 7]),
        (["€ 12,50", "12.50 EUR", "€ 1,50", "€ 2,75"], "de", None),
        (["€ 12,50", "3,50 EUR", "–"], "de", [12.5, 3.5, None]),
        (["12.50 EUR", "1,012.50 EUR"], "en", [12.5, 1012.5]),
        (["3.5 h", "2 h"], "en", [3.5, 2]),
        (["3.5 h", "20 min"], "en", None),
        (["12", "about 15"], "en", None),
        (["-4.5", "+2", "−1"], "en", [-4.5, 2, -1]),
        (["1.234", "5.678"], "en", None),
        (["1.234", "5.678"], "de", [1234, 5678]),
        (["0.125", "1.250"], "en", [0.125, 1.25]),
        (["0170 555", "0171 556"], "en", None),
        (["E.116", "E.117"], "en", None),
        (["14.03.2017", "02.11.2021"], "de", None),
        (["1,20,000", "5"], "en", None),
        (["", "n/a"], "en", None),
    ],
)
def test_numbers_are_read_in_any_spelling(cells: list[str], language: str, values: list[float | None] | None) -> None:
    column = read_numbers(cells, language)
    assert (column and [None if one is None else float(one) for one in column.values]) == values


@pytest.mark.parametrize(
    ("cells", "value", "shown"),
    [
        (["1.200,00 €", "3,50 €"], "1203.5", "1.203,50 €"),
        (["12", "415.5"], "2350", "2350"),
        (["$1,000", "$20"], "12345", "$12,345"),
    ],
)
def test_a_number_is_written_as_its_column_writes_it(cells: list[str], value: str, shown: str) -> None:
    column = read_numbers(cells, "en")
    assert column
    assert write_number(Decimal(value), column.style) == shown


def test_a_row_of_totals_is_not_added_in_and_is_quoted() -> None:
    head, total = asked("Was kosten alle Werkzeuge zusammen?", complete(TOOLS))[:2]
    assert head.text.startswith("Berechnet aus 33 Zeilen, davon 20 hier gezeigt: 21.883,45 € (Summe von Preis)")
    assert total.text.startswith("- Nr.: Summe;")


def test_a_row_of_totals_that_differs_is_quoted_alone() -> None:
    text = "| Item | Price |\n|---|---|\n| Cup | 3 |\n| Jug | 9 |\n| Total | 13 |"
    [part] = asked("What is the total price of all items?", replace(hit(text), complete_table=True))
    assert (part.text, part.computed) == ("13. Item: Total; Price: 13.", None)


def test_nothing_is_computed_from_a_part_of_a_table() -> None:
    assert asked("Which bike is the most expensive?", replace(complete(BIKES), complete_table=False)) == []


def test_nothing_is_computed_where_two_tables_answer_differently() -> None:
    one, other = (f"| Lamp | Price |\n|---|---|\n| Desk | 30 |\n| Floor | {price} |" for price in (80, 90))
    hits = [replace(hit(text, key=n), complete_table=True) for n, text in enumerate((one, other), start=1)]
    assert asked("Which lamp is the most expensive?", *hits) == []
    assert asked("Which lamp is the most expensive?", hits[0])[0].text == (
        "Computed from 2 rows: 80 (highest value of Price)."
    )


def test_a_column_that_is_not_clear_is_not_computed() -> None:
    text = "| Team | Budget 2023 | Budget 2024 |\n|---|---|---|\n| A | 10 | 20 |\n| B | 30 | 40 |"
    table = replace(hit(text), complete_table=True)
    assert asked("What is the total budget?", table) == []
    assert asked("What is the total budget 2024?", table)[0].text == (
        "Computed from 2 rows: 60 (total of Budget 2024)."
    )


def test_mixed_units_and_unreadable_cells_are_not_computed() -> None:
    text = "| Trip | Cost | Time |\n|---|---|---|\n| Rome | 300 EUR | 2 h |\n| Oslo | 200 USD | 3 days |"
    table = replace(hit(text), complete_table=True)
    assert asked("total cost of all trips", table) == []
    assert asked("average time of the trips", table) == []


def test_a_value_that_the_rows_do_not_give_is_found() -> None:
    head = asked("What is the average fee?", complete(COURSES))[0]
    [table] = tables_in(table_text(COURSES))
    assert head.computed
    assert is_computed(head.computed, table, "en")
    assert not is_computed(replace(head.computed, value="293.54"), table, "en")
    assert not is_computed(replace(head.computed, rows=head.computed.rows[1:]), table, "en")
    assert not is_computed(replace(head.computed, rows=((0, 5),)), table, "en")


def test_rows_and_pieces_are_both_counted_where_a_column_has_pieces() -> None:
    first, second = asked("Wie viele Werkzeuge liegen in Halle B?", complete(TOOLS))[:2]
    assert first.text == "Berechnet aus 10 Zeilen: 10 (Anzahl der Zeilen; Lagerort: Halle B)."
    assert second.text == "Berechnet aus 10 Zeilen: 57 (Summe von Stückzahl; Lagerort: Halle B)."


STAFF = replace(
    hit(
        "| Name | Team | Phone number | E-mail | Start date |\n|---|---|---|---|---|\n"
        "| Marek Nowak | Finance | 0101 | m@ex.example | 2018-03-01 |\n"
        "| Anna Nowak | Finance | 0102 | a@ex.example | 2020-09-15 |\n"
        "| Ewa Lis | IT | 0111 | e@ex.example | 2022-06-01 |"
    ),
    complete_table=True,
)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("What is Marek Nowak's phone number?", ["0101. "]),
        ("phone number of Nowak", ["- 0101. ", "- 0102. "]),
        ("email of Ewa Lis", ["e@ex.example. "]),
        ("Who started most recently?", ["Computed from 3 rows: 2022-06-01", "- Name: Ewa Lis"]),
        ("How many people are in Finance?", ["Computed from 2 rows: 2", "- Name: Marek", "- Name: Anna"]),
        ("Compare the start dates of Ewa Lis and Anna Nowak", ["- 2020-09-15. ", "- 2022-06-01. "]),
        ("Which employees are in IT?", ["- Name: Ewa Lis"]),
    ],
)
def test_people_are_found_by_name(question: str, begins: list[str]) -> None:
    made = asked(question, STAFF)
    assert len(made) == len(begins)
    assert all(part.text.startswith(begin) for part, begin in zip(made, begins, strict=True))


def test_a_long_list_says_how_many_rows_are_left_out() -> None:
    made = asked("Welche Werkzeuge hat Yildiz?", complete(TOOLS))
    assert len(made) == 14
    text = "| Door | Colour |\n|---|---|\n" + "\n".join(f"| D{n} | red |" for n in range(30))
    listed = asked("Which doors are red?", replace(hit(text), complete_table=True))
    assert len(listed) == 20
    assert listed[-1].text.endswith("(10 more rows)")


CLUB = replace(
    hit(
        "| Mitgliedsnr. | Nachname | Abteilung | Beitrag pro Jahr | Eintritt | Gesperrt ab |\n|---|---|---|---|---|---|\n"
        "| 1001 | Albers | Wandern | 180 | 01.04.2012 | 01.01.2025 |\n"
        "| 1002 | Brandt | Rennen | 240 | 15.03.2019 | 01.06.2026 |\n"
        "| 1003 | Claussen | Rennen | 200 | 01.09.2021 | 01.07.2025 |"
    ),
    complete_table=True,
)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Summe der Beiträge", "620"),
        ("Durchschnittlicher Beitrag im Rennen", "220"),
        ("Wer zahlt den höchsten Beitrag?", "240"),
        ("Was ist der späteste Eintritt?", ""),
        ("Wer hat den neuesten Eintritt?", "01.09.2021"),
        ("Wie lange dauert eine Mitgliedschaft im Durchschnitt?", ""),
        ("Welche Abteilung hat die meisten Mitglieder?", ""),
        ("Summe der Mitgliedsnummern", ""),
    ],
)
def test_labels_and_other_kinds_of_values_are_not_computed(question: str, value: str) -> None:
    made = asked(question, CLUB)
    assert (made[0].computed.value if made and made[0].computed else "") == value


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many plants are in stock?", "127"),
        ("What is the total value of the stock?", ""),
        ("How many deliveries were in April 2024?", ""),
        ("Wie viele Kilometer haben alle zusammen?", ""),
        ("Which supplier has the most plants?", ""),
        ("total stock of Greenleaf plants", "120"),
    ],
)
def test_pieces_are_not_taken_for_money_and_amounts_not_for_rows(question: str, value: str) -> None:
    text = (
        "| Plant | Supplier | Unit price | In stock | Last delivery | Kilometerstand |\n|---|---|---|---|---|---|\n"
        "| Lavender | Greenleaf | £6.50 | 120 | 2024-04-12 | 300 |\n| Cherry | Orchard | £64.00 | 7 | 2024-04-15 | 400 |"
    )
    made = asked(question, replace(hit(text), complete_table=True))
    shown = made[0].computed.value if made and made[0].computed else made[0].text.split(".")[0] if made else ""
    assert shown == value


YES_NO = "| Boat | Seats | Motor | Cabin |\n|---|---|---|---|\n" + "\n".join(
    f"| {row} |"
    for row in ("Heron | 4 | yes | no", "Teal | 2 | no | no", "Swan | 6 | yes | yes", "Gull | 3 | no | yes")
)


@pytest.mark.parametrize(
    ("question", "boats"),
    [
        ("which boats have no motor", ["Teal", "Gull"]),
        ("which boats have a cabin", ["Swan", "Gull"]),
        ("Which boats have a motor and no cabin?", ["Heron"]),
        ("which boats come without a sail", []),
    ],
)
def test_a_column_of_yes_and_no_chooses_rows(question: str, boats: list[str]) -> None:
    parts = asked(question, replace(hit(YES_NO, title="boats.csv"), complete_table=True))
    assert [part.text.split(";")[0] for part in parts] == [f"- Boat: {boat}" for boat in boats]


HALLS = """\
| Hall | Racks | Max. load | Height | Rent per month |
|---|---|---|---|---|
| A | 12 | 2.5 t | 4.1 m | 900 |
| B | 30 | 4.0 t | 6.2 m | 1750 |
| C | 8 | 9.5 t | 5.0 m | 1200 |
"""
TRAINS = """\
| Route | Guard | Journey | Seats per coach | Seats |
|---|---|---|---|---|
| Alder Line | Ines Roth | 95 minutes | 60 | 240 |
| Birch Line | Tom Vail | 140 minutes | 48 | 192 |
| Cedar Line | Ines Roth | 70 minutes | 52 | 312 |
"""


def in_table(question: str, text: str, title: str = "Overview") -> list[str]:
    found = replace(hit(text, title=title), complete_table=True)
    return [part.text for part in asked(question, found)]


@pytest.mark.parametrize("question", ["max load hall B", "what is the maximum load in hall B"])
def test_a_superlative_in_the_name_of_a_column_asks_for_the_cell_of_the_named_row(question: str) -> None:
    assert in_table(question, HALLS) == [
        "4.0 t. Hall: B; Racks: 30; Max. load: 4.0 t; Height: 6.2 m; Rent per month: 1750."
    ]


def test_no_maximum_is_computed_from_a_column_that_is_a_maximum_by_name() -> None:
    assert in_table("max load of the halls", HALLS) == []
    assert in_table("which hall has the highest rent", HALLS)[0].startswith("Computed from 3 rows: 1750")


def test_a_letter_that_names_no_row_is_not_passed_over() -> None:
    assert in_table("max load hall F", HALLS) == []
    assert in_table("rent of hall F", HALLS) == []


def test_the_longest_is_found_by_the_unit_of_the_cells() -> None:
    found = in_table("which route is longest", TRAINS)
    assert found[0] == "Computed from 3 rows: 140 minutes (highest value of Journey)."
    assert len(found) == 2
    assert "Birch Line" in found[1]


def test_the_longest_is_not_told_where_a_time_and_a_length_could_be_meant() -> None:
    text = "| Trail | Walk | Track |\n|---|---|---|\n| Moor | 90 min | 4 km |\n| Fen | 60 min | 6 km |\n"
    assert in_table("which trail is longest", text) == []


def test_words_after_per_do_not_name_what_a_column_measures() -> None:
    text = "| Crop | Grower | Yield kg | Price per kg |\n|---|---|---|---|\n| Kale | Ada Penn | 120 | 2 |\n"
    text += "| Leek | Ada Penn | 300 | 3 |\n| Beet | Jo Lind | 80 | 1 |\n"
    assert in_table("total kg by ada penn", text)[0].startswith("Computed from 2 rows: 420 (total of Yield kg")
    assert in_table("which crop gave the biggest yield", text)[0].startswith("Computed from 3 rows: 300")


ROTA = """| Date | Desk | Loans last year |
|---|---|---|
| Saturday 7 June | Ines Calder | 41 |
| Saturday 14 June | Tom Wexley | 58 |
| Saturday 21 June | Priya Nambiar | 37 |"""


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("how many loans were there last year", "136"),  # 41 + 58 + 37, not the number of rows
        ("how many loans did we have in total on the three june saturdays last year", "136"),
        ("how many loans did we have on the four june saturdays last year", ""),
        ("how many loans did we have in july last year", ""),
        ("how many loans did we have on the third june saturday last year", ""),
    ],
)
def test_a_period_in_a_columns_name_does_not_hide_what_it_counts(question: str, value: str) -> None:
    made = asked(question, replace(hit(ROTA, title="Rota, Saturdays in June", heading_path=()), complete_table=True))
    assert (made[0].computed.value if made and made[0].computed else "") == value


COURSES_DE = """| Kursnr | Titel | Preis Mitglieder (€) | Preis Gäste (€) |
|---|---|---|---|
| K01 | Messer schärfen | 12 | 20 |
| K02 | Schweißen | 78 | 110 |
| K03 | Löten | 16 | 26 |"""


def test_a_short_noun_is_the_first_part_of_a_columns_name() -> None:
    [value, row] = asked("Welcher Kurs ist für Gäste am teuersten?", replace(hit(COURSES_DE), complete_table=True))
    assert value.computed
    assert value.computed.value == "110"
    assert "Titel: Schweißen" in row.text
