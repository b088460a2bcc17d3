"""Sentences about another identifier, and headings without a value, are left out."""

from pincite.extractive.filter import without_others
from pincite.extractive.question import question_terms
from pincite.extractive.sentences import sentences_of
from tests.builders import hit

TABLE = "| Room | Laser | Wavelength |\n|---|---|---|\n| E.112 | diode | 635 nm |\n| E.119 | fibre | 1064 nm |"
RELEASES = "Release 3.2 came on 11 June. Release 3.3 is planned for autumn. The team was pleased."


def kept(question: str, text: str, asked: str = "", **more: object) -> list[str]:
    sources = [hit(text, **more)]
    found = sentences_of(sources)
    return [one.text for one in without_others(question_terms(question, found), found, sources, asked)]


def test_rows_of_other_rooms_do_not_answer() -> None:
    assert kept("Which wavelength has the laser in E.114?", TABLE) == []
    assert kept("Which wavelength has the laser in E.119?", TABLE) == ["| E.119 | fibre | 1064 nm |"]


def test_a_sentence_about_another_version_does_not_answer() -> None:
    assert kept("When does 3.3 come out?", RELEASES) == ["Release 3.3 is planned for autumn.", "The team was pleased."]


def test_of_two_versions_one_is_enough() -> None:
    assert len(kept("Can I go back from 3.3 to 3.2?", RELEASES)) == 3


def test_what_stands_under_the_identifier_is_about_it() -> None:
    under = kept("What changed in 4.1?", "The port is new.", heading_path=("Changes", "4.1 (2024-02-01)"))
    assert under == ["The port is new."]


def test_a_heading_answers_where_it_has_the_value_asked_for() -> None:
    text = "## 4.1 (2024-02-01)\n\nThe port is new."
    more = {"heading_path": ("Changes", "4.1 (2024-02-01)")}
    assert "4.1 (2024-02-01)" in kept("When did 4.1 come out?", text, **more)
    assert kept("What is new in 4.1?", text, **more) == ["The port is new."]


def test_without_identifiers_every_sentence_stays() -> None:
    assert len(kept("Was the team pleased?", RELEASES)) == 3


def test_a_quoted_mail_does_not_answer_where_the_reply_does() -> None:
    mail = "The regatta is moved to 24 May.\n\n> The regatta is on 17 May. Race officer: Rainer Kranz.\n> Bring boots."
    assert kept("When is the regatta?", mail) == ["The regatta is moved to 24 May."]
    assert any("boots" in one for one in kept("Which boots do I bring?", "Hello all.\n\n> Bring boots."))


def test_a_follow_up_about_another_place_is_not_answered_with_the_first_one() -> None:
    text = "The move to Bremen is on 13 May 2024. Kassel follows four weeks later."
    asked = "When is the move to Kassel?"
    assert kept(asked, text, "and kassel?") == ["Kassel follows four weeks later."]
    assert len(kept(asked, text)) == 2
    assert len(kept("When is the move to Linz?", text, "and linz?")) == 2
