"""Conflicts between sources."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pincite.core.query.answer import Citation, Conflict
from pincite.core.query.hits import Hit
from pincite.query.ground.conflicts import disagree, find_conflicts
from tests.builders import hit

OLD = "| Condition | Limit |\n|---|---|\n| Relative humidity outside | 90 percent |\n| Gust | 24 m/s |"
NEW = "| Condition | Limit | Exceptions |\n|---|---|---|\n| Relative humidity outside | 85 percent | nobody |\n| Gust | 20 m/s | nobody |"


def cited(source: Hit, quote: str) -> Citation:
    start = source.chunk.start_char + source.chunk.text.index(quote)
    return Citation("[Source 1]", 0, 10, True, "number", 1, quote, start, start + len(quote), 1, 1, None, 1.0)


def found(one: str, other: str, quote: str | None = None, **more: object) -> tuple[Conflict, ...]:
    sources = [hit(one, key=1), hit(other, key=2, **{"created_at": datetime(2024, 3, 1, tzinfo=UTC), **more})]  # type: ignore[arg-type]
    return find_conflicts([cited(sources[0], quote or one)], sources)


def test_a_conflict_shows_both_statements_with_their_dates() -> None:
    [conflict] = found(OLD, NEW, "| Relative humidity outside | 90 percent |")
    assert conflict.subject == "Relative humidity outside"
    assert [(said.source, said.document_id, said.date) for said in conflict.statements] == [
        (1, "doc1", "2024-01-01"),
        (2, "doc2", "2024-03-01"),
    ]
    assert conflict.statements[1].quote == "| Relative humidity outside | 85 percent | nobody |"
    start = conflict.statements[1].start_char - 100
    assert NEW[start : start + len(conflict.statements[1].quote)] == conflict.statements[1].quote


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Unused days of leave expire on 31 March.", "Unused days of leave expire on 30 June."),
        ("Trainers are allowed on the ridge path.", "Trainers are not allowed on the ridge path."),
        ("The door code is 1111.", "The door code is 2222."),
        ("Unused days of leave expire on 31 March 2024.", "Unused days of leave expire on 30 June 2024."),
        ("Bills of the club must be paid within 14 days.", "Bills of the club must be settled within 30 days."),
        ("The revenue in Q1 2025 was 2.31 million euros.", "The revenue in Q1 2025 was 2.34 million euros."),
        ("The harbour bridge was opened on 3 May 2022.", "The harbour bridge was opened on 4 June 2023."),
        ("The first director of the station was Ada Lovelace.", "The first director of the station was Grace Hopper."),
    ],
)
def test_contradicting_sentences_are_a_conflict(one: str, other: str) -> None:
    assert len(found(one, other)) == 1
    assert disagree(one, other, "en")
    assert disagree(other, one, "en")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Unused days of leave expire on 31 March.", "Unused days of leave expire on March 31."),
        ("Ada Lovelace was born in Paris in 1900.", "Grace Hopper was born in London in 1950."),
        ("The town of Veld3 has a harbour with 5 cranes.", "The town of Veld13 has a harbour with 15 cranes."),
        ("The morning cabin leaves Vallmoos at 08:10.", "The evening cabin leaves Mittelstafel at 18:45."),
        (
            "Adults pay 28 francs for an evening.",
            "From July on adults pay 32 francs for an evening instead of 28 francs.",
        ),
        ("The young orchard grows apples on 9 trees.", "The old orchard grows apples on 2 trees."),
        ("The fee for new members of the club is 40 euros.", "The fee for old members of the club is 30 euros."),
        ("The plan costs 25 euros a month for families.", "The plan costs 40 euros a month for companies."),
        ("In 2022 the works of the bridge had 40 employees.", "In 2023 the works of the bridge had 44 employees."),
        ("Children pay 3 euros for the boat on the lake.", "Adults pay 5 euros for the boat on the lake."),
        ("The room is kept at 17 degrees all year.", "Fresh bread is baked at 240 degrees for an hour."),
    ],
)
def test_sentences_about_other_things_are_no_conflict(one: str, other: str) -> None:
    assert found(one, other) == ()


def test_one_document_does_not_disagree_with_itself_nor_one_language_with_another() -> None:
    assert found(OLD, NEW, "| Relative humidity outside | 90 percent |", document_id="doc1") == ()
    assert found(OLD, NEW, "| Relative humidity outside | 90 percent |", language="de") == ()


def answered(question: str, one: str, other: str, language: str = "en") -> tuple[Conflict, ...]:
    sources = [hit(one, key=1, language=language), hit(other, key=2, language=language)]
    second = replace(cited(sources[1], other), source=2)
    return find_conflicts([cited(sources[0], one), second], sources, question)


def test_two_cited_answers_with_other_figures_of_one_unit_are_a_conflict() -> None:
    [told] = answered(
        "was kostet ein saunabesuch",
        "Ein Saunabesuch kostet 4,50 Euro, ein Handtuch 1,20 Euro.",
        "Frau Brandt teilt mit, dass ein Saunabesuch seit Mai 6,00 Euro kostet, weil Holz teurer ist.",
        "de",
    )
    assert [said.source for said in told.statements] == [1, 2]
    text = "The reading room, which was repainted in spring and has new lamps, has 58 desks."
    assert answered("how many desks does the reading room have", text, "The reading room has 64 desks.")


def test_answers_about_other_years_other_things_or_in_other_units_are_none() -> None:
    question = "how much is the locker fee"
    assert not answered(question, "The locker fee was 20 euros in 2021.", "The locker fee is 25 euros in 2024.")
    assert not answered(question, "The locker fee is 20 euros.", "The bike fee is 25 euros.")
    assert not answered(question, "The locker fee is 20 euros.", "The locker fee is 20.00 euros.")


def test_a_heading_that_the_quote_leaves_out_does_not_hide_a_conflict() -> None:
    one, said = "The reading room has 64 desks.", "The reading room has 58 desks."
    sources = [hit(one, key=1), hit(f"Desks and lamps\n{said}", key=2)]
    second = replace(cited(sources[1], said), source=2)
    [told] = find_conflicts([cited(sources[0], one), second], sources, "how many desks are in the reading room")
    assert {statement.source for statement in told.statements} == {1, 2}
