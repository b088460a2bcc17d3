"""Questions to begin with: each document once before any twice, one's own language first."""

from pincite.query.ground.starters import Starter, starter_questions

LEASE = (
    "a",
    "Lease",
    "en",
    "# Lease\n\nIt is long. The rent of the warehouse is 4,200 euros a month.\n\n## When does the lease begin?\n\nIn June.\n",
)
RULES = ("b", "Regeln", "de", "# Regeln\n\nDie Führung dauert etwa zwei Stunden.\n")
PRICES = ("c", "Prices", "en", "| lamp | 12 |\n")


def test_questions_are_made_in_the_order_of_languages_and_documents() -> None:
    assert starter_questions([LEASE, PRICES, RULES], "de") == [
        Starter("Wie lange dauert die Führung?", "b", "Regeln"),
        Starter("What is the rent of the warehouse?", "a", "Lease"),
        Starter("When does the lease begin?", "a", "Lease"),
        Starter("Summarise Prices", "c", "Prices"),
    ]


def test_no_more_than_four_and_none_twice() -> None:
    many = [(f"d{n}", f"D{n}", "en", f"A ticket number {n % 9} costs 3 francs.") for n in range(40)]
    found = starter_questions(many)
    assert len({one.question for one in found}) == len({one.document_id for one in found}) == 4


def test_a_language_without_forms_gives_no_question() -> None:
    assert starter_questions([("a", "Titre", "xx", "Le billet coûte 5 euros.")]) == []
