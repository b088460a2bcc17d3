from dataclasses import replace

import pytest

from pincite.extractive.compose import AnswerPart, compose_answer, sides_of
from pincite.extractive.question import question_terms
from pincite.extractive.score import score_sentences
from pincite.extractive.sentences import sentences_of
from tests.builders import hit

TIMES = "| Run | Summer | Winter | Who |\n|---|---|---|---|\n| Morning | 07:40 | 08:10 | everybody |\n| Noon | 12:15 | 12:20 | everybody |\n| Evening | 18:45 | – | residents |"
STEPS = "To reset the mount:\n\n1. Close the cover.\n2. Switch it off:\n   - first the drive\n   - then the fan\n3. Wait.\n\nThen go to bed."


def told(question: str, text: str, **more: object) -> list[AnswerPart]:
    sources = [hit(text, **more)]
    found = sentences_of(sources)
    asked = question_terms(question, found)
    made = compose_answer(asked, score_sentences(asked, found, [0.5] * len(found)), sources)
    for said in made:
        assert 0 <= said.start < said.end <= len(text)
    return made


def quoted(text: str, made: list[AnswerPart]) -> list[str]:
    return [text[said.start : said.end] for said in made]


def test_a_cell_is_said_first_and_its_row_is_cited() -> None:
    said = told("When does the morning run leave in winter?", TIMES)[0]
    assert said.text == "08:10. Run: Morning; Summer: 07:40; Winter: 08:10; Who: everybody."
    assert quoted(TIMES, [said]) == ["| Morning | 07:40 | 08:10 | everybody |"]


def test_no_cell_is_said_first_where_several_are_compared() -> None:
    said = told("Compare the morning run in winter", TIMES)[0]
    assert said.text == "Run: Morning; Summer: 07:40; Winter: 08:10; Who: everybody."


def test_all_rows_that_match_are_listed_and_each_is_cited() -> None:
    made = told("Which runs are for everybody?", TIMES)
    assert [said.text.split(";")[0] for said in made] == ["- Run: Morning", "- Run: Noon"]
    assert quoted(TIMES, made) == TIMES.split("\n")[2:4]


def test_steps_are_numbered_after_what_leads_to_them() -> None:
    made = told("How do I reset the mount?", STEPS)
    assert [said.text for said in made] == [
        "To reset the mount:", "1. Close the cover.", "2. Switch it off: – first the drive – then the fan", "3. Wait.",
    ]  # fmt: skip
    assert quoted(STEPS, made)[1] == "Close the cover."
    assert [said.gap for said in made[1:]] == ["\n"] * 3


def test_a_sentence_that_leads_to_a_list_brings_it_along() -> None:
    text = "In a storm these rules hold:\n\n- stay inside\n- close the door\n\nThe cook decides."
    assert [said.text for said in told("Which rules hold in a storm?", text)] == [
        "In a storm these rules hold:", "- stay inside", "- close the door",
    ]  # fmt: skip
    assert len(told("What holds in a storm?", text)) == 3


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Is the dome heated?", "The dome is never heated."),
        ("Is the dome heated?", "The dome is heated."),
        ("Is the canteen open on Fridays?", "No. The canteen is open Monday to Thursday. On Fridays a truck comes."),
        ("Is the shop open on Sundays?", "No.\n\nThe shop is open from Monday to Saturday."),
        ("Is there free parking?", "**Yes.** Free parking is behind the building."),
        ("Ist der Keller offen?", "Nein. Der Keller ist nur am Montag offen."),
        ("May I ride at 9?", "You may ride at 9 if the master agrees."),
    ],
)
def test_a_yes_or_no_is_written_only_where_the_source_says_it(question: str, text: str) -> None:
    language = "de" if question.startswith("Ist") else "en"
    first = told(question, text, language=language)[0]
    quote = " ".join(text[first.start : first.end].replace("*", "").split())
    assert first.text == quote
    assert quote.split()[0] == text.replace("*", "").split()[0]


def test_a_value_is_not_said_where_the_sentence_lacks_the_verb_of_the_question() -> None:
    signed = "Tom reported that the Harlow lease was signed on 7 March."
    assert told("When does the Harlow lease begin?", signed)[0].text == signed
    assert told("When was the Harlow lease signed?", signed)[0].text == f"7 March. {signed}"
    assert told("How high is the deposit?", "The deposit is three months' rent.")[0].text.startswith("The deposit")


def test_each_side_of_a_comparison_has_its_sentence() -> None:
    text = "In 2021 the limit was 90 percent. It rained. In 2024 the limit was 85 percent."
    made = told("What is the difference between the limits of 2021 and 2024?", text)
    assert quoted(text, made) == ["In 2021 the limit was 90 percent.", "In 2024 the limit was 85 percent."]


def test_a_value_is_not_said_where_the_figure_asked_about_is_missing() -> None:
    text = "In 2022 there were 171 usable nights."
    assert told("How many usable nights were there in 2023?", text)[0].text == text
    assert told("How many usable nights were there in 2022?", text)[0].text == f"171 usable nights. {text}"


def test_a_value_that_is_the_whole_sentence_is_said_once() -> None:
    assert told("When is supper?", "18:30.", title="Supper")[0].text == "18:30."


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between the limits of 2021 and 2024?", [["2021"], ["2024"]]),
        ("Compare Murmel and Dohle.", [["murmel"], ["dohle"]]),
        ("Wie unterscheiden sich Sommer und Winter?", [["sommer"], ["winter"]]),
        ("Compare the mirrors.", []),
        ("Compare and explain.", []),
        ("How do the error codes E-07 and E-11 differ?", [["07"], ["11"]]),
        ("Compare the water rules with the power rules of the station.", [["water"], ["power"]]),
        ("Wie unterscheiden sich die Regeln für Wasser und die Regeln für Strom?", [["wasser"], ["strom"]]),
    ],
)
def test_the_things_compared_are_found(question: str, sides: list[list[str]]) -> None:
    assert [[word.text for word in side] for side in sides_of(question_terms(question, []))] == sides


CARDS = "Can I pay by card?\n\nYes. We take Visa and Mastercard, but not American Express."


def test_a_yes_to_a_broader_question_is_not_repeated() -> None:
    assert told("Can I pay by card?", CARDS)[0].text.startswith("Yes. We take Visa")
    assert told("Can I pay with American Express?", CARDS)[0].text.startswith("We take Visa")
    assert told("Which card do you take?", CARDS)[0].text.startswith("We take Visa")


def test_a_no_to_a_question_near_the_one_asked_is_quoted_with_that_question() -> None:
    text = "## Do you lend skis to beginners?\n\nNo. Skis are lent from the second course on."
    said = "No. Skis are lent from the second course on."
    assert told("Do you lend skis to beginners?", text)[0].text == said
    assert told("Can beginners get skis here?", text)[0].text == f"Do you lend skis to beginners? {said}"
    assert told("When are skis lent?", text)[0].text == said.removeprefix("No. ")
    german = "## Verleihen Sie Ski an Anfänger?\n\nNein. Ski gibt es ab dem zweiten Kurs."
    assert told("Kann ich als Anfänger Ski bekommen?", german, language="de")[0].text.startswith(
        "Verleihen Sie Ski an Anf"
    )


def test_a_value_that_is_denied_is_not_said_first() -> None:
    text = "The Spring Regatta will not be on 17 May 2025 this year. Classes are named later, in a letter to everybody."
    assert not told("When is the Spring Regatta?", text)[0].text.startswith("17 May")


def test_a_cancelled_date_is_quoted_with_the_new_one() -> None:
    text = "The regatta will not take place on 17 May. We have moved it to Saturday, 24 May 2025."
    said = told("When is the regatta?", text)[0].text
    assert said == text


def test_a_sentence_of_another_document_that_lacks_the_number_asked_about_is_not_quoted() -> None:
    sources = [
        hit(f"The lease runs for {years} years.", key=n, document_id=title, title=title, document_name=f"{title}.md")
        for n, (title, years) in enumerate([("Quay 3", "three"), ("Quay 9", "five"), ("Quays", "seven")])
    ]
    found = sentences_of(sources)

    def cited(question: str) -> list[int]:
        asked = question_terms(question, found)
        scored = score_sentences(asked, found, [0.5] * len(found))
        level = [replace(one, score=1.0 - 0.1 * one.sentence.source) for one in scored]
        return [part.source for part in compose_answer(asked, sorted(level, key=lambda one: -one.score), sources)]

    assert cited("How is the lease of Quay 3?") == [1]
    assert cited("How are the leases of Quay 3 and Quay 9?") == [1, 2]
