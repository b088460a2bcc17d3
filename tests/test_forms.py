"""Whole answers without a language model: lists, steps, summaries, comparisons, follow-ups and small talk.

The documents are in `tests/forms/`. What each answer must and must not have was worked out by reading them.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.question import Exchange, Question
from pincite.ingest.accept.collect import collect

pytestmark = pytest.mark.usefixtures("built_in_reader")

FOLDER = Path(__file__).parent / "forms"
Turns = tuple[str, ...]

QUESTIONS: list[tuple[Turns, Sequence[str], Sequence[str], str]] = [
    # lists and steps: in this order, nothing else
    (
        ("how do I request time off",),
        ["1. Check the team calendar", "2. Fill in form HR-7", "3. Name a stand-in", "4. Send the form", "5. Wait"],
        ["Sick", "27 days"],
        "time_off_policy.md",
    ),
    (
        ("How can I apply for leave?",),
        ["1. Check the team calendar", "2. Fill in form HR-7", "5. Wait"],
        ["wedding"],
        "time_off_policy.md",
    ),
    (
        ("list all actions from the site meeting",),
        ["- Action: Bram orders", "- Action: Tilda hangs", "- Action: Ines tells", "- Action: Rune checks"],
        ["Excused", "Nordlys"],
        "site_meeting_2025-02-11.txt",
    ),
    (
        ("What do I need to bring to clean the press?",),
        ["- Lint-free cloths", "- Wash 40", "- Nitrile gloves", "- Torque wrench"],
        ["red bin", "blanket that smells"],
        "press_cleaning.txt",
    ),
    (
        ("how do I wash the blanket of the press?",),
        ["1. Loosen", "2. Wipe", "3. Let it dry", "4. Tighten"],
        ["Torque wrench", "red bin"],
        "press_cleaning.txt",
    ),
    (
        ("What do I need to bring to the kennel?",),
        ["the vaccination card", "the usual food", "a blanket"],
        ["Torque", "40 euros"],
        "pets_faq.html",
    ),
    (
        ("How do I book a place in the kennel?",),
        ["1. Choose the dates", "2. Send the vaccination card", "3. Pay the deposit"],
        ["blanket"],
        "pets_faq.html",
    ),
    (
        ("Which occasions give me special leave?",),
        ["Own wedding", "Birth of a child", "Moving house", "Death of a parent"],
        ["HR-7"],
        "time_off_policy.md",
    ),
    (
        ("what are the stations of the evening round",),
        ["1. Check the boiler", "2. Read the gas meter", "7. Read the water meter", "14. Sign the log sheet"],
        ["master key"],
        "caretaker_round.md",
    ),
    (
        ("Wie schalte ich die Siebträgermaschine ein?",),
        ["1. Wassertank", "2. Hauptschalter", "3. Zwölf Minuten", "4. Leerbezug"],
        ["Entkalker"],
        "Kaffeemaschine_Anleitung.md",
    ),
    (
        ("wie entkalke ich die kaffeemaschine",),
        ["1. Maschine ausschalten", "2. 100 ml", "3. Programm C", "4. Zweimal"],
        ["Leerbezug"],
        "Kaffeemaschine_Anleitung.md",
    ),
    (
        ("Was darf alles nicht in den Tank?",),
        ["- Milch", "- Sprudelwasser", "- Spülmittel"],
        ["Programm C"],
        "Kaffeemaschine_Anleitung.md",
    ),
    (
        ("when did the backup job fail and why?",),
        ["2025-01-13 02:17:44", "no space left on /vault"],
        ["215 GB", "kernel"],
        "backup_server.log.txt",
    ),
    # summaries: every section
    (
        ("Summarise the time off policy",),
        ["Entitlement", "27 days", "Requesting leave", "Sick leave", "Special leave"],
        [],
        "time_off_policy.md",
    ),
    (
        ("Give me an overview of the site meeting in February",),
        ["6 March", "Nordlys", "bakery"],
        ["20 February"],
        "site_meeting_2025-02-11.txt",
    ),
    (
        ("What was decided in the site meeting?",),
        ["it stays until 6 March", "Agreed on the double-glazed type"],
        [],
        "site_meeting_2025-02-11.txt",
    ),
    (
        ("Fasse das Protokoll des Elternbeirats zusammen",),
        ["4.300 Euro", "4,60 Euro", "11. Juli"],
        ["Ursprünglich"],
        "Protokoll_Elternbeirat_2025-01-23.txt",
    ),
    (
        ("Worum geht es in der Anleitung für die Siebträgermaschine?",),
        ["Einschalten", "Entkalken", "Störungen"],
        [],
        "Kaffeemaschine_Anleitung.md",
    ),
    (("tldr catering offer",), ["EUR 26.50 per person", "24 March"], ["Dear Ines"], "catering_offer.eml"),
    (("What is the caretaker handbook about?",), ["Evening round", "master key"], [], "caretaker_round.md"),
    # comparisons: by aspect, or one aspect
    (
        ("Compare the lease of Quay 3 and the lease of Quay 9",),
        ["| 1. Term |", "| 2. Rent |", "EUR 980", "EUR 1,240", "| 4. Notice |", "six months"],
        ["Pets are not allowed"],
        "lease_quay_3.md",
    ),
    (
        ("Was ist der Unterschied zwischen dem Lease Quay 3 und Quay 9?",),
        ["EUR 980", "EUR 1,240"],
        ["Pets are not allowed"],
        "lease_quay_9.md",
    ),
    (("rent quay 3 vs quay 9",), ["EUR 980", "EUR 1,240"], ["notice of"], "lease_quay_9.md"),
    (
        ("Which one has the longer notice, Quay 3 or Quay 9?",),
        ["three months", "six months"],
        ["EUR 980"],
        "lease_quay_3.md",
    ),
    (
        ("Compare dogs and cats in the kennel",),
        ["| Dogs | Cats |", "31 euros", "22 euros"],
        ["deposit"],
        "pets_faq.html",
    ),
    (
        ("What is the difference between dogs and cats in price per night?",),
        ["31 euros", "22 euros"],
        ["window"],
        "pets_faq.html",
    ),
    # follow-ups
    (("How much does a night for a dog cost?", "and for a cat?"), ["22 euros"], ["31 euros"], "pets_faq.html"),
    (
        ("What is the rent of Quay 3?", "and of Quay 9?"),
        ["EUR 1,240"],
        ["EUR 980"],
        "lease_quay_9.md",
    ),
    (
        ("When does the lease of Quay 3 start?", "And how long does it run?"),
        ["three years"],
        ["five years"],
        "lease_quay_3.md",
    ),
    (
        ("Was kostet das Mittagessen ab März?", "Und wer hat nach einem vegetarischen Tag gefragt?"),
        ["Obermüller"],
        [],
        "Protokoll_Elternbeirat_2025-01-23.txt",
    ),
    (("How many days do I get for my own wedding?", "and for moving house?"), ["1"], [], "time_off_policy.md"),
    (("Who hangs the nets?", "and who orders the skylights?"), ["Bram"], [], "site_meeting_2025-02-11.txt"),
    # small talk: nothing is cited
    (("Hello!",), ["Hello"], ["don't have"], ""),
    (("thanks a lot",), ["You're welcome"], [], ""),
    (("What can you do?",), ["documents"], ["don't have"], ""),
    (("who are you",), ["pincite"], [], ""),
    (("bye",), ["Goodbye"], [], ""),
    (("Guten Morgen",), ["Hallo"], [], ""),
    (("Vielen Dank!",), ["Gern geschehen"], [], ""),
    (("Was kannst du alles?",), ["Dokumente"], [], ""),
    (("What is 17 * 23?",), ["documents"], ["don't have", "391"], ""),
    (("Was ist 12 plus 30?",), ["Dokumente"], ["42"], ""),
]
"""The turns of a conversation; what the last answer must have, in this order; what it must not have; a file it cites."""


def wrong(answer: Answer, must: Sequence[str], never: Sequence[str], cited: str) -> str:
    """What is wrong with an answer; empty where nothing is."""
    at = 0
    for part in must:
        found = answer.text.find(part, at)
        if found < 0:
            return f"lacks {part!r}" if part not in answer.text else f"has {part!r} too early"
        at = found
    if said := [part for part in never if part in answer.text]:
        return f"has {said[0]!r}"
    names = {source.document_name for source in answer.sources if source.cited}
    if cited and cited not in names:
        return f"cites {sorted(names)}"
    return "" if cited or not names else f"cites {sorted(names)}"


def test_answers_have_the_form_asked_for(open_pincite: Callable[..., Any]) -> None:
    async def go() -> list[str]:
        faults = []
        async with open_pincite(cache__enabled=False, embedding__provider="pincite_embed") as pincite:
            await pincite.add_all(collect([FOLDER]))
            for turns, must, never, cited in QUESTIONS:
                before: tuple[Exchange, ...] = ()
                for turn in turns[:-1]:
                    said = await pincite.ask(Question(turn, conversation=before))
                    before = (*before, Exchange(turn, turn, said.text))
                answer = await pincite.ask(Question(turns[-1], conversation=before))
                if fault := wrong(answer, must, never, cited):
                    faults.append(f"{' >> '.join(turns)}: {fault}\n{answer.text}")
        return faults

    faults = asyncio.run(go())
    assert not faults, "\n\n".join(faults)
