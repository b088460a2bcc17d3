"""Conversations in a terminal."""

from dataclasses import replace

from pincite.cli.view.chat import StreamingText, print_sessions, print_sources, print_welcome
from pincite.cli.view.screen import Screen
from pincite.core.accounts.conversations import Session

from .makers import DAY, answer, seen, source


def flowed(*pieces: str, width: int = 30, colour: bool = False) -> str:
    def show(screen: Screen) -> None:
        flow = StreamingText(screen)
        for piece in pieces:
            flow.write(piece)
        flow.end()

    return seen(show, width, colour=colour)


def test_text_is_wrapped_wherever_the_pieces_end() -> None:
    told = "  The key hangs behind the\n  blue cup. [1]\n\n  It is cold.\n"
    assert flowed("The key hangs behind the", " blue cup. [Source 1]\n\nIt is", " cold.") == told
    assert flowed("The key hangs behind the blue cup. [Source 1]\n\nIt is cold.") == told


def test_code_and_tables_keep_their_lines() -> None:
    text = "```\nx = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n```\n| a very long cell | another long cell |"
    assert flowed(text).splitlines() == [f"  {line}" for line in text.split("\n")]


def test_marks_are_coloured_and_nothing_steers_the_terminal() -> None:
    assert "\x1b[1;36m[1]" in flowed("So it is. [Source 2]", colour=True)
    assert "\x1b" not in flowed("\x1b[31mred\x1b[0m")


def test_all_sources_of_an_answer() -> None:
    sources = (source(1, snippet="The key\nhangs."), source(2, cited=False))
    told = seen(lambda screen: print_sources(screen, answer("x", sources, ())))
    assert told.startswith("  [1] Handbook › Keys\n      file1.md, lines 3–9; relevance 90%\n      │ The key hangs.\n")
    assert "[2]" in told
    assert "no passage" in seen(lambda screen: print_sources(screen, answer("x", (), ())))


def test_the_sessions_are_listed() -> None:
    session = Session("s_1", "Where is\x1b[2J the key?", DAY, DAY, 3)
    told = seen(lambda screen: print_sessions(screen, [session, replace(session, id="s_2")], "s_2"), 120)
    assert "s_1" in told
    long = replace(session, id="s_" + "x" * 22, title="word " * 20)
    assert long.id in seen(lambda screen: print_sessions(screen, [long], None), 80)
    assert "2024-01-31" in told
    assert "\x1b" not in told
    assert "no sessions" in seen(lambda screen: print_sessions(screen, [], None))


def test_a_conversation_that_goes_on_says_so() -> None:
    session = Session("s_1", "The key", DAY, DAY, 1)
    assert "continuing “The key”, 1 turn" in seen(lambda screen: print_welcome(screen, session))
    assert "ask a question" in seen(lambda screen: print_welcome(screen, None))
