import pytest

from pincite.core.protocols import NamedDocument
from pincite.extractive.whole.naming import (
    MIN_NAME_SHARE,
    is_in_name,
    month_signs,
    name_share,
    named_words,
    pair_named,
    spellings,
)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Please summarise the march site meeting", ["march", "site", "meeting"]),
        ("Fass mir bitte das Protokoll vom April kurz zusammen", ["protokoll", "april"]),
        ("What's the gist of the mail thread about tiles?", ["tiles"]),
        ("Give me an overview of the travel policy", ["travel", "policy"]),
    ],
)
def test_the_words_that_name_a_document(question: str, words: list[str]) -> None:
    assert [word for word in named_words(question) if word != "s"] == words


@pytest.mark.parametrize(
    ("question", "names", "is_named"),
    [
        ("Summarise the march site meeting", ("x", "site_meeting_2025-03-11.txt"), True),
        ("Summarise the april site meeting", ("x", "fire_drill_2025-03-11.txt"), False),
        ("Zusammenfassung Geräteliste", ("x", "Geraeteliste_AGQ.csv"), True),
        ("Fasse den Jahresbericht 2023 zusammen", ("Jahresbericht 2023 der AG", "a.pdf"), True),
        ("tldr 3.2 release notes", ("Release notes", "release_notes_3.2.html"), True),
        ("Summarise the plot of Hamlet", ("Travel policy", "travel.docx"), False),
    ],
)
def test_a_document_is_named_by_its_title_or_its_file_name(
    question: str, names: tuple[str, str], is_named: bool
) -> None:
    assert (name_share(named_words(question), names) >= MIN_NAME_SHARE) is is_named


def test_two_documents_are_named_by_the_words_that_only_one_of_them_has() -> None:
    known = [
        NamedDocument("a", "Lease – Quay 3", "lease_quay_3.md"),
        NamedDocument("b", "Lease – Quay 9", "lease_quay_9.md"),
        NamedDocument("c", "Lease – Mill 4", "lease_mill.md"),
    ]
    assert pair_named(["lease", "quay", "3"], ["quay", "9"], known) == ("a", "b")
    assert pair_named(["mill"], ["quay", "9"], known) == ("c", "b")
    assert pair_named(["lease"], ["lease"], known) == ()


def test_documents_that_share_the_other_words_are_the_pair() -> None:
    known = [
        NamedDocument("old", "Room hire", "room-hire-2023.md"),
        NamedDocument("minutes", "Board minutes", "board-minutes-2024-03-14.txt"),
        NamedDocument("new", "Room hire", "room-hire-2024.md"),
    ]
    assert pair_named(["room", "hire", "deposit", "2023"], ["2024"], known) == ("old", "new")


def test_months_and_umlauts_are_looked_up_as_file_names_write_them() -> None:
    assert month_signs("märz") == month_signs("march") == ["-03", ".03.", "_03"]
    assert month_signs("roof") == []
    assert spellings("geräteliste") == ["gerätelis", "geraetelis"]
    assert is_in_name("abkühlen", "Kryostat_Abkuehlen.md")
