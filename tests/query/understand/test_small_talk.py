import time

import pytest

from pincite.query.understand.small_talk import is_small_talk, talk_kind


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello there!",
        "Good morning",
        "Guten Tag!",
        "Moin",
        "Thanks a lot!",
        "Thank you so much",
        "Vielen Dank für die Hilfe",
        "Danke.",
        "ok",
        "Alles klar!",
        "Bye",
        "Auf Wiedersehen",
        "Hi! How are you?",
        "Wie geht es dir?",
        "Who are you?",
        "Wer bist du?",
        "What can you do?",
        "What did I just ask?",
        "Was habe ich gerade gefragt?",
        "Summarise our conversation so far",
        "Repeat your last answer",
        "Wiederhole bitte deine letzte Antwort",
        "Fasse unser Gespräch zusammen",
        "Tell me a joke",
    ],
)
def test_small_talk_is_recognised(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hello!", "greeting"),
        ("Hi there. Thanks for your help!", "thanks"),
        ("Tschüss", "goodbye"),
        ("Hallo, wie geht es dir?", "how_are_you"),
        ("What can you do for me?", "about_me"),
        ("Was kannst du alles?", "about_me"),
        ("What is 17 * 23?", "arithmetic"),
        ("12 + 30 =", "arithmetic"),
        ("Was ist 12 mal 30?", "arithmetic"),
        ("Was sind 15 Prozent von 200?", "arithmetic"),
        ("ok", "other"),
        ("2024-06-05", None),
        ("What is 3.2?", None),
        ("06/2024", None),
        ("What is item 17 * in the list?", None),
    ],
)
def test_the_kind_of_small_talk(text: str, kind: str | None) -> None:
    assert talk_kind(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "When does the canteen open?",
        "Hello, when does the canteen open?",
        "Thanks, and what about leave?",
        "What is a greeting?",
        "Danke, und wann öffnet sie?",
        "Who are the members of the board?",
        "Hi-fi amplifier",
        "How are you billed?",
        "yes or no",
        "Wie geht man mit Reklamationen um?",
        "What did the board say?",
        "Okay, summarise the report.",
        "What can you do with a lathe?",
        "Summarise the conversation between Ada and Karl",
        "Wer bist du und was kostet die Fähre?",
        "leave",
    ],
)
def test_a_polite_question_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize("text", ["", " ", "hello " * 1000, "thanks " * 15 + "x", "what did i ask " * 8, "." * 4000])
def test_it_takes_no_time(text: str) -> None:
    started = time.process_time()
    is_small_talk(text)
    assert time.process_time() - started < 2.0
