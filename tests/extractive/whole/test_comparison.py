import pytest

from pincite.core.query.hits import Hit
from pincite.extractive.question import question_terms
from pincite.extractive.score import score_sentences
from pincite.extractive.sentences import sentences_of
from pincite.extractive.whole.comparison import compared, sides_in
from tests.builders import hit


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Compare the red lease and the blue lease", ("the red lease", "the blue lease")),
        ("What is the difference between Basic and Plus?", ("Basic", "Plus")),
        ("soft food: cat vs dog, how many days", ("cat", "dog")),
        ("Vergleiche Vertrag A1 mit Vertrag B2", ("Vertrag A1", "Vertrag B2")),
        ("Unterschied zwischen Halle 7 und Halle 9", ("Halle 7", "Halle 9")),
        ("Which one is longer, Quay 3 or Quay 9?", ("Quay 3", "Quay 9")),
        ("When does it open?", None),
    ],
)
def test_the_sides_of_a_comparison(question: str, sides: tuple[str, str] | None) -> None:
    assert sides_in(question) == sides


def lease(number: int, rent: str, years: str) -> list[Hit]:
    texts = {
        "1. Term": f"The lease runs for {years} years.",
        "2. Rent": f"The rent is {rent} euros per month. It is due on the first day.",
        "3. Pets": "Pets are not allowed.",
        "4. Signatures": f"Signed by {'Petra Lind' if number == 3 else 'Anselm Rook'}.",
    }
    title = f"Lease Quay {number}"
    return [
        hit(
            f"## {heading}\n{text}", key=10 * number + n, title=title, document_id=title,
            document_name=f"lease_quay_{number}.md", heading_path=(title, heading),
            start_char=500 * n, end_char=500 * n + 499,
        )
        for n, (heading, text) in enumerate(texts.items())
    ]  # fmt: skip


BOTH = [*lease(3, "980", "three"), *lease(9, "1,240", "five")]


def told(question: str, sources: list[Hit]) -> str:
    found = sentences_of(sources)
    asked = question_terms(question, found)
    made = compared(asked, score_sentences(asked, found, [0.5] * len(found)), sources)
    for part in made:
        assert sources[part.source - 1].chunk.text[part.start : part.end]
    return "".join(f"{part.gap if n else ''}{part.text} [{part.source}]" for n, part in enumerate(made))


def test_what_differs_is_a_table_with_a_citation_in_each_cell() -> None:
    assert told("Compare Quay 3 and Quay 9", BOTH) == (
        "| | Lease Quay 3 | Lease Quay 9 |\n|---|---|---|\n"
        "| 1. Term | The lease runs for three years. [1] | The lease runs for five years. [5] |\n"
        "| 2. Rent | The rent is 980 euros per month. [2] | The rent is 1,240 euros per month. [6]"
    )


def test_the_sides_are_in_the_order_of_the_question() -> None:
    assert told("Compare Quay 9 and Quay 3", BOTH).startswith("| | Lease Quay 9 | Lease Quay 3 |")


def test_only_the_aspect_asked_for_is_compared() -> None:
    assert told("rent of Quay 3 vs Quay 9", BOTH) == (
        "- **Lease Quay 3**: The rent is 980 euros per month. [2]\n"
        "- **Lease Quay 9**: The rent is 1,240 euros per month. [6]"
    )


def test_two_sections_are_compared_by_the_sentences_that_are_alike() -> None:
    sources = [
        hit(f"## {one}s\n\nA night for a {one} costs {fee} euros. {more}", key=n, document_id="d", title="Kennel",
            heading_path=("Kennel", f"{one}s"), start_char=500 * n, end_char=500 * n + 499)
        for n, (one, fee, more) in enumerate([("dog", 31, "Dogs run."), ("cat", 22, "Cats sleep.")])
    ]  # fmt: skip
    assert told("Compare dogs and cats", sources) == (
        "| dogs | cats |\n|---|---|\n| A night for a dog costs 31 euros. [1] | A night for a cat costs 22 euros. [2]"
    )


def test_where_one_side_is_missing_nothing_is_compared() -> None:
    assert told("Compare Quay 3 and Mill 7", BOTH) == ""
    assert told("Compare Quay 3 and Quay 9", lease(3, "980", "three")) == ""


def sections(title: str, language: str = "en", **texts: str) -> list[Hit]:
    return [
        hit(f"# {title}\n\n## {name}\n\n{text}" if n == 0 else f"## {name}\n\n{text}", key=n, document_id=title,
            title=title, language=language, heading_path=(title, name), start_char=500 * n, end_char=500 * n + 499)
        for n, (name, text) in enumerate(texts.items())
    ]  # fmt: skip


CARRIERS = sections(
    "Courier quotes for the shop",
    Overview="We asked for them in spring.",
    Alba="Price: 410 pounds a month. Trucks run daily.",
    Birk="Price: 385 pounds a month. Trucks run daily.",
)


@pytest.mark.parametrize(
    "question", ["Compare the courier quotes", "What is the difference between the quotes?", "Compare the two quotes"]
)
def test_sections_below_a_title_with_the_plural_of_the_question_are_the_sides(question: str) -> None:
    assert told(question, CARRIERS) == (
        "| Alba | Birk |\n|---|---|\n"
        "| Price: 410 pounds a month. [2] | Price: 385 pounds a month. [3] |\n"
        "| Trucks run daily. [2] | Trucks run daily. [3]"
    )


def test_an_aspect_of_such_sections_is_compared_alone() -> None:
    assert told("Compare the prices of the courier quotes", CARRIERS) == (
        "- **Alba**: Price: 410 pounds a month. [2]\n- **Birk**: Price: 385 pounds a month. [3]"
    )


def test_more_than_two_sections_have_a_column_each() -> None:
    tariffs = sections(
        "Stromtarife",
        "de",
        Klar="Der Preis beträgt 31 Cent je Kilowattstunde.",
        Nord="Der Preis beträgt 29 Cent je Kilowattstunde.",
        Welle="Der Preis beträgt 34 Cent je Kilowattstunde.",
    )
    assert told("Vergleiche die Tarife", tariffs) == (
        "| Klar | Nord | Welle |\n|---|---|---|\n| Der Preis beträgt 31 Cent je Kilowattstunde. [1] | "
        "Der Preis beträgt 29 Cent je Kilowattstunde. [2] | Der Preis beträgt 34 Cent je Kilowattstunde. [3]"
    )


@pytest.mark.parametrize(
    "question", ["Compare the courier quote", "Compare the couriers", "Compare the insurance quotes"]
)
def test_sections_are_not_compared_where_their_title_lacks_the_plural_or_another_word(question: str) -> None:
    assert told(question, CARRIERS) == ""


def test_sections_that_say_nothing_alike_are_not_compared() -> None:
    assert (
        told("Compare the rules", sections("House rules", Pets="Dogs stay outside.", Quiet="Music ends at ten.")) == ""
    )


def test_the_sentence_under_the_heading_of_an_aspect_is_told() -> None:
    halls = [
        hit(f"## {heading}\n\n{text}", key=10 * n + place, document_id=f"Hall {n}", title=f"Hall {n}",
            heading_path=(f"Hall {n}", heading), start_char=500 * place, end_char=500 * place + 499)
        for n in (1, 2)
        for place, (heading, text) in enumerate(
            [("Deposit", f"The deposit is {n} times the rent."), ("Rent", f"The rent is {n}10 euros.")]
        )
    ]  # fmt: skip
    assert told("rent of Hall 1 vs Hall 2", halls) == (
        "- **Hall 1**: The rent is 110 euros. [2]\n- **Hall 2**: The rent is 210 euros. [4]"
    )


def test_sections_that_lack_the_aspect_asked_for_are_not_quoted_in_turn() -> None:
    years = sections("Changes", **{"2022": "Bugs were fixed.", "2023": "Two readers joined."})
    assert told("Compare 2022 and 2023", years).startswith("- **2022**: Bugs were fixed. [1]")
    assert told("Compare the donations of 2022 and 2023", years) == ""
