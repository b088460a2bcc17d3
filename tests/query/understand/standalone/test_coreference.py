import time
from collections import Counter
from pathlib import Path

import pytest

from pincite.core.query.question import Exchange
from pincite.query.understand.followup import is_follow_up
from pincite.query.understand.standalone.coreference import make_standalone, place_beside


def turns(*questions: str, answer: str = "") -> list[Exchange]:
    return [Exchange(question, question, answer) for question in questions]


@pytest.mark.parametrize(
    ("before", "asked", "whole"),
    [
        ("When does the cable car run in winter?", "And in summer?", "When does the cable car run in summer?"),
        ("When does the cable car open?", "And the canteen?", "When does the canteen open?"),
        ("When is lunch in the canteen?", "What about dinner?", "When is dinner in the canteen?"),
        ("When does the cable car run?", "How much does it cost?", "How much does the cable car cost?"),
        ("What is the laser comb?", "What is its power?", "What is the laser comb's power?"),
        ("How are the ropes of the cable car kept?", "Who inspects them?", "Who inspects the ropes of the cable car?"),
        (
            "What did the Europa Clipper mission find?",
            "Who paid for this mission?",
            "Who paid for the Europa Clipper mission?",
        ),
        (
            "What is the rent of the Basel office?",
            "How many desks does it have?",
            "How many desks does the Basel office have?",
        ),
        (
            "How many desks does the Basel office have?",
            "And Zurich?",
            "How many desks does the Zurich office have?",
        ),
        ("When did Anna Keller join?", "Where does she live?", "Where does Anna Keller live?"),
        ("Is the dome heated?", "Why?", None),
        ("Is the dome heated?", "Does that hold for guests?", None),
        ("What is an Earth satellite?", "What are the benefits?", None),
        ("Who wrote the report?", "When did she hand it in?", None),  # nobody was named
        ("Compare the rules for guests with the rules for staff.", "Are they strict?", None),  # two plurals
        ("Wer hat den Kollegen eingestellt?", "Wo arbeitet er?", None),  # `der Kollege`, `der Hafen`
        ("Was kostet der neue Drucker?", "Wer hat ihn bestellt?", "Wer hat den neuen Drucker bestellt?"),
        ("Wer ist der Kunde?", "Wie lautet seine Adresse?", "Wie lautet die Adresse vom Kunden?"),
        ("Wie viele Stunden hat der Kurs?", "Wie melde ich mich dafür an?", "Wie melde ich mich für den Kurs an?"),
        ("Who leads Helios?", "Wer unterschreibt seine Verträge?", None),  # another language
        ("Wann fährt die Seilbahn im Winter?", "Und im Sommer?", "Wann fährt die Seilbahn im Sommer?"),
        ("Was kostet der Abend?", "Und für Kinder?", "Was kostet der Abend für Kinder?"),
        ("Wann läuft die Schneefräse?", "Wer darf sie bedienen?", "Wer darf die Schneefräse bedienen?"),
        ("Was steht über den Gratweg im Buch?", "Ist er offen?", "Ist der Gratweg offen?"),
        ("Fahren Hunde mit der Seilbahn?", "Wie teuer ist sie?", "Wie teuer ist die Seilbahn?"),
        ("Wo steht das Teleskop?", "Wer arbeitet damit?", "Wer arbeitet mit dem Teleskop?"),
        ("Wann öffnet die Kantine?", "Was ist mit dem Laden?", None),
    ],
)
def test_references_are_replaced_by_their_antecedents(before: str, asked: str, whole: str | None) -> None:
    assert make_standalone(asked, turns(before)) == whole


def test_a_person_is_found_in_the_answer() -> None:
    said = turns("Who runs the cable car?", answer="The Cable Car is run by Nadja Pfistri. [Source 1]")
    assert make_standalone("When did she start?", said) == "When did Nadja Pfistri start?"
    said = turns("Wer leitet die Station?", answer="Das ist Ilse Vantobel. [Source 1]")
    assert make_standalone("Seit wann arbeitet sie hier?", said) == "Seit wann arbeitet Ilse Vantobel hier?"


def test_an_older_name_is_no_antecedent_after_a_new_topic() -> None:
    said = [
        *turns("Wer genehmigt Urlaub?", answer="Das ist Ilse Vantobel. [Source 1]"),
        *turns("Darf man den Dienstwagen privat nutzen?", "Wann kommt Öl in das Auto?"),
    ]
    assert make_standalone("Wie oft muss er zur Prüfung?", said) == "Wie oft muss der Dienstwagen zur Prüfung?"


def test_german_antecedents_agree_in_gender() -> None:
    said = turns("Was kostet der Abend?", "Ab welchem Alter dürfen Kinder kommen?")
    assert make_standalone("Fällt er bei Regen aus?", said) == "Fällt der Abend bei Regen aus?"


@pytest.mark.slow
def test_a_long_answer_or_question_before_takes_no_time() -> None:
    started = time.process_time()
    for answer in ("A-" * 25_000, "Aa von " * 10_000, "A. " * 15_000, "Aa A. " * 10_000):
        make_standalone("What did he do?", turns("Who wrote it?", answer=answer))
    for before in ("Sure! " * 10_000, "in winter " * 5_000, "the Dome " * 5_000):
        for asked in ("And in summer?", "What does it cost?", "And the canteen?"):
            make_standalone(asked, turns(before))
    assert time.process_time() - started < 5  # twice as long, each took a minute when time grew with the square


def test_a_question_after_an_empty_turn_is_not_empty() -> None:
    for before in ("", " ", "?"):
        for asked in (
            "And the canteen?",
            "What about him?",
            "Does that hold?",
            "Is it open?",
            "What are the benefits?",
        ):
            assert (make_standalone(asked, turns(before)) or place_beside(asked, turns(before))).strip()


def test_where_nothing_was_named_the_question_stays() -> None:
    assert make_standalone("Is it open?", turns("Why?")) is None


def test_questions_do_not_grow_from_turn_to_turn() -> None:
    said = turns("Is the dome heated in winter?")
    for asked in ["Why?", "And on Sunday?", "Does that hold for guests?", "Is that so?", "Why?", "With dogs?"] * 5:
        whole = make_standalone(asked, said) or place_beside(asked, said)
        said.append(Exchange(asked, whole, ""))
        assert len(whole) < 300


@pytest.mark.parametrize(
    ("before", "text", "whole"),
    [
        ("What is the rent of Quay 3?", "and of Quay 9?", "What is the rent of Quay 9?"),
        (
            "What is the penalty for late delivery?",
            "and for early delivery?",
            "What is the penalty for early delivery?",
        ),
        ("What's the price of the large room?", "and the small one?", "What's the price of the small room?"),
        ("What did we spend in 2023?", "2022?", "What did we spend in 2022?"),
        ("Was kostet der Transport nach Linz?", "nach Wien?", "Was kostet der Transport nach Wien?"),
        ("Does the policy cover theft?", "what about fire?", "Does the policy cover fire?"),
        ("How many days do I get?", "what about part-timers?", None),
        ("Summarise the travel policy", "and the expense policy?", "Summarise the expense policy"),
        ("When is the next meeting?", "and who is invited?", None),
    ],
)
def test_the_part_that_changed_takes_its_place(before: str, text: str, whole: str | None) -> None:
    assert make_standalone(text, [Exchange(before, before, "")]) == whole


CHAINS = Path(__file__).parent / "follow_ups.txt"


def chains() -> list[tuple[str, str, list[tuple[str, list[str]]]]]:
    """The language, the half, and the turns of each chain: what is asked, and what is right."""
    found: list[tuple[str, str, list[tuple[str, list[str]]]]] = []
    for line in CHAINS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language, half = line.strip("[]").split()
            found.append((language, half, []))
        elif line and not line.startswith("#"):
            asked, _, right = line.partition(" => ")
            found[-1][2].append((asked, right.split(" | ") if right else [asked]))
    return found


def understood(questions: list[str]) -> list[str]:
    """What each question of a chain is searched as; `?` where it is searched beside the last one."""
    said: list[Exchange] = []
    found: list[str] = []
    for asked in questions:
        follows = is_follow_up(asked, said)
        whole = make_standalone(asked, said) if follows else asked
        found.append(whole or "?")
        said.append(Exchange(asked, whole or place_beside(asked, said), ""))
    return found


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(("half", "least"), [("open", 1.0), ("held", 0.9)])
def test_chains_of_follow_ups_are_understood(language: str, half: str, least: float) -> None:
    of_half = [turns for one, other, turns in chains() if (one, other) == (language, half)]
    assert len(of_half) == 15
    counts, wrong = Counter[bool](), []
    for script in of_half:
        for (asked, right), got in list(zip(script, understood([asked for asked, _ in script]), strict=True))[1:]:
            counts[got in right] += 1
            wrong += [] if got in right else [f"{asked} -> {got}"]
    assert counts[True] >= least * counts.total(), wrong


def test_a_chain_of_possessives_does_not_compound() -> None:
    asked = ["Who leads Helios?", "And who signs its contracts?", "What is its budget?"]
    assert understood(asked) == [asked[0], "Who signs Helios's contracts?", "What is Helios's budget?"]


@pytest.mark.parametrize(
    ("questions", "standalone"),
    [
        (
            [
                "Was kostet eine Führung?",
                "Und wie viele Personen dürfen an einer Führung teilnehmen?",
                "Seit wann gilt das?",
            ],
            "Wie viele Personen dürfen an einer Führung teilnehmen? Seit wann gilt das?",
        ),
        (
            ["What does a tour cost?", "And how many guests may join a tour at night?", "Does that hold on Sundays?"],
            "How many guests may join a tour at night? Does that hold on Sundays?",
        ),
        (
            ["Wie hoch ist der Beitrag?", "Gilt das auch für Kinder?", "Seit wann ist das so?"],
            "Wie hoch ist der Beitrag? Seit wann ist das so?",
        ),
    ],
)
def test_a_follow_up_stands_beside_the_last_question_that_can_be_understood_alone(
    questions: list[str], standalone: str
) -> None:
    said: list[Exchange] = []
    for asked in questions:
        whole = make_standalone(asked, said) or place_beside(asked, said) if is_follow_up(asked, said) else asked
        said.append(Exchange(asked, whole, ""))
    assert said[-1].standalone == standalone


def test_what_is_not_clear_stands_beside_the_last_question_that_was() -> None:
    said = turns("Is the dome heated?")
    first = place_beside("Why?", said)
    assert first == "Is the dome heated? Why?"
    said.append(Exchange("Why?", first, ""))
    assert place_beside("Does that hold for guests?", said) == "Is the dome heated? Does that hold for guests?"
    assert make_standalone("Who heats it?", said) == "Who heats the dome?"
