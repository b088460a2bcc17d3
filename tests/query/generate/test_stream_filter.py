"""The stream filter: removed text, unchanged text, and independence of how the stream is cut."""

import re
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pincite.query.citations.marks import normalise_marks
from pincite.query.generate.link_policy import LinkPolicy
from pincite.query.generate.stream_filter import StreamFilter, strip_preamble

READERS = [MarkdownIt("commonmark", {"html": html}).enable("table") for html in (False, True)]
LINKED = re.compile(r"(?:https?://|(?<![\w.@-])www\.)[^\s<]+")
"""What a reader that makes links of bare addresses would take for one."""
SAMPLES = [
    "Sure! Based on the provided context, five days carry over. [Source 1]\n\nSUGGESTED_QUESTIONS: Why?|When?|Who?",
    "<think>\nHm. ![x](http://a)\n</think>\n\nGerne! Basierend auf dem Kontext: fünf Tage 🏖️. [Quelle 1]",
    "Hot![Source 1] and ![alt [n]](http://e/?q=(1) 't') or ![a][b] or ![c]. <IMG\nsrc='x'> <img> [Source 1, 2]",
    "Run:\n```sh\necho '![x](http://e)' # <think>\n```\nThen ![x](http://e) stop.\n\n~~~\nSUGGESTED_QUESTIONS: no\n~~~\n",
    '| a | b |\n|---|---|\n| `![x](u)` | ``<img src="x">`` |\n\n* one\n* two ` three\n\n日本語。文です！次の文。',
    "Of course.\n\n" + "word " * 60 + "a" * 950 + "![x](http://e)" + "b" * 20 + " end",
    "x **SUGGESTED_QUESTIONS:**\n- Why?\n2. When?\n\nand more [a link](http://e) after.",
]
PIECES = [
    "!",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\n\n",
    " ",
    "   ",
    "\t",
    ".",
    "S",
    "**",
    "=",
    "img",
    " src",
    "<think>",
    "</think>",
    "SUGGESTED_QUESTIONS:",
    "# Days\n\nFive.\n\n### SUGGESTED_QUESTIONS: Why?|When?",
    "|",
    "Sure",
    ", ",
    "http://e",
    "ü",
    "🏖",
    "Source 1",
    "\\",
    "- ",
    "1. ",
    "> ",
    "\r",
    "。",
    "![x](http://e)",
    "![x][r]",
    "\n[r]: http://e\n",
    "<img src=http://e>",
    "\n```\n",
    "\n~~~\n",
    "| a |\n|---|\n",
    "<div>\n",
    "<!--",
]


KNOWN = LinkPolicy.allowing(["See https://docs.example/a_(b)?x=1, or <http://k.example>. (www.w.example)"])
PIECES += [
    "https://docs.example/a_(b)?x=1",
    "http://k.example",
    "https://evil.example/?d=1",
    "www.w.example",
    "javascript:x",
    "](",
    "[a](",
    "[b]: ",
    "<a href=",
    "<http://",
    "data:text/html,",
    "\\href{",
    "@",
]


def clean(*pieces: str) -> tuple[str, tuple[str, ...]]:
    cleaner = StreamFilter(policy=LinkPolicy(KNOWN.allowed))
    shown = "".join([*(cleaner.feed(piece) for piece in pieces), cleaner.close()])
    return shown, cleaner.suggested_questions


def leads_to(reader: MarkdownIt, text: str) -> Iterator[str]:
    """All targets of an answer: links, and bare URLs outside code."""
    for block in reader.parse(text):
        for token in block.children or ():
            if token.type == "link_open":
                yield str(token.attrs["href"]).replace("%28", "(").replace("%29", ")")
            elif token.type == "text":
                yield from (found.rstrip(").,;:!?*_~]'\"") for found in LINKED.findall(token.content))


@pytest.mark.slow
@pytest.mark.parametrize("text", SAMPLES)
def test_where_it_is_cut_on_its_way_changes_nothing(text: str) -> None:
    whole = clean(text)
    assert clean(*text) == whole
    for cut in range(len(text)):
        assert clean(text[:cut], text[cut:]) == whole
    for size in (2, 3, 7):
        assert clean(*(text[at : at + size] for at in range(0, len(text), size))) == whole


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.lists(st.integers(0, 200), max_size=8))
@settings(max_examples=400, deadline=None)
def test_whatever_is_written_and_however_it_is_cut(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    whole, _ = clean(text)
    assert clean(*(text[start:end] for start, end in pairwise(edges)))[0] == whole == clean(*text)[0]
    assert whole == whole.strip()
    for reader in READERS:
        assert "<img" not in reader.render(whole)
        assert set(leads_to(reader, whole)) <= KNOWN.allowed | {"http://www.w.example"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Look ![x](http://e/a.png) here.", "Look  here."),
        ("Look![x](http://e/a.png)!", "Look !"),
        ("![x][ref]\n\n[ref]: http://e", "[ref] : e"),
        ("So hot![1]", "So hot! [1]"),
        ("![long](http://e/" + "a" * 3000 + ") end", "end"),
        ("![never closed](http://e/" + "a" * 5000, "! [never closed] (e " + "a" * 3009),
        ("!![x](u)[y](http://e)", "! y (e)"),
        ("<im<img src=a>g src=http://e>", "g src=e >"),
        ('<img src="http://e" <b>x', "x"),
        ("<img src=http://e", "< img src=e"),
        ("<svg/onload=x>y", "y"),
        ("[![alt](http://i)](http://l)", "[ ] (l)"),
        ("Write `![x](u)` or `<img src=u>` or `<img>`.", "Write `! [x] (u)` or `< img src=u>` or `<img>`."),
        ("1. a\n   ```\n![x](http://e)\n", "1. a\n   ```\n! [x] (e)"),
        ("Sure: ```md\n![x](http://e)\n```", "```md\n![x](http://e)\n```"),
        ("![x](http://e)  ```\n![x](http://e)", "```\n![x](http://e)"),
        ("<div>\n```\n\n![x](http://e)", "<div>\n```\n\n! [x] (e)"),
        ("a < b and <imgur> stay", "a < b and <imgur> stay"),
    ],
)
def test_no_image_comes_through(text: str, left: str) -> None:
    assert clean(text)[0] == left


def test_fenced_code_and_tables_come_through_as_they_stand() -> None:
    text = "```md\n![x](http://e)\n<think>\n  SUGGESTED_QUESTIONS: a|b  \n```\n\n| a | [1] |\n|---|---|\n| x | `y` |"
    assert clean(text)[0] == text


def test_code_in_a_list_keeps_its_brackets() -> None:
    cleaner = StreamFilter(rewrite=lambda text: text.replace("[1]", "[Source 1]"))
    text = "Do [1]:\n\n1. this\n   ```python\n   a[1] = 2\n   ```\n2. that [1]"
    assert cleaner.feed(text) + cleaner.close() == text.replace("Do [1]", "Do [Source 1]").replace(
        "that [1]", "that [Source 1]"
    )


def test_reasoning_does_not_come_through() -> None:
    assert clean("<think>so\n\nit is</think>\n\nFive.")[0] == "Five."
    assert clean("One.\n<thinking>hm</thinking>\nTwo.")[0] == "One.\n\nTwo."
    assert clean("Models write `<think>` first.\nOr <think> later.")[0].endswith("later.")
    assert clean("<think>never ends") == ("", ())


def test_reasoning_without_an_opening_tag_is_left_out_where_the_model_thinks() -> None:
    def left(text: str, *, thinks: bool) -> str:
        cleaner = StreamFilter(thinks=thinks)
        return cleaner.feed(text) + cleaner.close()

    unopened = "the user asks about leave</think>\n\nFive."
    assert left(unopened, thinks=True) == "Five."
    assert left("Hm. So five</think> Five days.", thinks=True) == "Hm. So five Five days."  # what was shown stays
    assert left(unopened, thinks=False) == "the user asks about leave\n\nFive."  # other models are not waited for


@pytest.mark.parametrize(
    "text",
    [
        "Five.\n\nSUGGESTED_QUESTIONS: Why five?|Since when?",
        "Five. SUGGESTED_QUESTIONS: Why five? | Since when? |\n\n",
        "Five.\n**SUGGESTED_QUESTIONS:** Why five?|Since when?\n",
        "Five.\nSUGGESTED_QUESTIONS:\n- Why five?\n- Since when?\n",
        "Five.\nSUGGESTED_QUESTIONS:\n1. Why five?\n2) Since when?",
        "Five.\n\n### SUGGESTED_QUESTIONS: Why five?|Since when?",
        "Five.\n## **SUGGESTED_QUESTIONS**\n- Why five?\n- Since when?",
    ],
)
def test_suggested_questions_are_taken_out(text: str) -> None:
    assert clean(text) == ("Five.", ("Why five?", "Since when?"))


@pytest.mark.parametrize("link", ["![q](https://docs.example/c)", "see http://k.example"])
def test_a_suggested_question_with_a_link_is_left_out(link: str) -> None:
    cleaner = StreamFilter(policy=LinkPolicy.allowing(["https://docs.example/c http://k.example www.w.example"]))
    cleaner.feed(f"Five.\nSUGGESTED_QUESTIONS: Why {link}?|Since when?")
    cleaner.close()
    assert cleaner.suggested_questions == ("Since when?",)


def test_an_answer_that_is_only_a_preamble_is_kept() -> None:
    assert clean("Of course.")[0] == "Of course."
    assert clean("")[0] == ""


def test_it_lets_go_while_the_model_writes() -> None:
    cleaner = StreamFilter()
    assert cleaner.feed("Sure! Five days ") == "Five days"
    assert cleaner.feed("carry over. ") == " carry over."
    assert cleaner.feed("line\n") == " line"
    assert cleaner.close() == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Five days carry over. ", ["Five", " days", " carry", " over."]),
        ("According to the travel policy, trains come first. ", ["", "", "", "According to the travel", " policy,"]),
        ("I found five days. ", ["", "I found", " five", " days."]),
        ("Sure! Five days. ", ["", "Five", " days."]),
        ("Based on the provided context, five days. ", ["", "", "", "", "", "Five", " days."]),
        ("Laut den Dokumenten, die Frist endet. ", ["", "", "", "Die", " Frist", " endet."]),
        ("Laut Handbuch endet die Frist. ", ["", "Laut Handbuch", " endet", " die", " Frist."]),
        (
            "See [Source 1, 2] and (Source 3) too. ",
            ["See", "", "", " [Source 1, 2]", " and", "", " (Source 3)", " too."],
        ),
        ("> [1]: it ends. ", ["", "", "> [1]: it", " ends."]),
    ],
)
def test_each_word_is_shown_unless_it_may_have_to_be_removed(text: str, shown: list[str]) -> None:
    cleaner = StreamFilter()
    parts = [cleaner.feed(f"{word} ") for word in text.split()]
    assert parts[: len(shown)] == shown


def test_a_number_in_brackets_is_a_mark_in_a_line_and_defines_a_footnote_at_its_start() -> None:
    cleaner = StreamFilter(rewrite=lambda text: normalise_marks(text, [])[0])
    text = "It ends [1]: soon.\n[2]: a note\n> [3]: a note [4]."
    shown = "".join([*(cleaner.feed(char) for char in text), cleaner.close()])
    assert shown == "It ends [Source 1]: soon.\n[2]: a note\n> [3]: a note [Source 4]."
    assert normalise_marks(text, [])[0] == shown  # as in the whole text


def test_citations_are_normalised_as_a_whole() -> None:
    cleaner = StreamFilter(rewrite=lambda text: text.replace("[source 1]", "[Source 1]"))
    text = "One two three four five six seven eight nine [source 1] `[source 1]`."
    shown = "".join([*(cleaner.feed(char) for char in text), cleaner.close()])
    assert shown.count("[Source 1]") == 2


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Sure! Based on the provided context, five days carry over.", "Five days carry over."),
        ("Certainly. Here is the answer to your question: Five days.", "Five days."),
        ("Of course, according to the documents provided: yes.", "Yes."),
        ("I'd be happy to help you with that! Five days.", "Five days."),
        ("According to the given sources and documents, no.", "According to the given sources and documents, no."),
        ("Great question! From the available documentation: it is blue.", "It is blue."),
        ("Gerne! Basierend auf dem bereitgestellten Kontext: fünf Tage.", "Fünf Tage."),
        ("Natürlich! Hier ist die Antwort auf deine Frage: Fünf Tage.", "Fünf Tage."),
        ("Laut den vorliegenden Dokumenten, die Frist beträgt zehn Tage.", "Die Frist beträgt zehn Tage."),
        ("Auf Grundlage der bereitgestellten Informationen: Ja.", "Ja."),
        ("Selbstverständlich.", ""),
        ("Sure, I'll help:\nFive days.", "Five days."),
        ("I can help you with that. Five days.", "Five days."),
        ("Absolutely! Five days.", "Five days."),
        ("Okay, five days.", "Five days."),
        ("Answer: Five days.", "Five days."),
        ("Thank you for your question! Five days.", "Five days."),
        ("Let me help you with that. Five days.", "Five days."),
        ("Here's what I found:\n\nFive days.", "Five days."),
        ("To answer your question: five days.", "Five days."),
        ("Vielen Dank für deine Frage! Fünf Tage.", "Fünf Tage."),
        ("Antwort: Fünf Tage.", "Fünf Tage."),
        ("Um deine Frage zu beantworten: Fünf Tage.", "Fünf Tage."),
        ("Hier ist, was ich gefunden habe: Fünf Tage.", "Fünf Tage."),
    ],
)
def test_preambles_are_removed(text: str, left: str) -> None:
    assert strip_preamble(text) == left
    assert clean(*text)[0] == (left or text)


@pytest.mark.parametrize(
    "text",
    [
        "To answer the phone, press 2.",
        "Let me be carried over, says the form.",
        "Here is what to do: call the office.",
        "The answer: five days.",
        "Okay is the name of the button.",
        "Answers are sent by mail.",
        "According to the travel policy, trains come first.",
        "Based on the 2024 contract, the notice period is ten days.",
        "Sure-footed animals live there.",
        "Natürlich gewachsene Hölzer sind teurer.",
        "Basierend auf dem bereitgestellten Kontext verfallen die Tage im März.",
        "Laut den vorliegenden Dokumenten, beträgt die Frist zehn Tage.",
        "Here are the three conditions: a, b and c.",
        "According to [Source 1], five days carry over.",
        "Klare Regeln helfen.",
        "I'll help those who ask, says the handbook.",
        "From the kitchen: soup.",
    ],
)
def test_other_openings_stay(text: str) -> None:
    assert strip_preamble(text) == text
    assert clean(*text)[0] == text


@pytest.mark.parametrize("text", ["based on the " + "provided " * 9000, "here is the " + "a " * 9000, "sure! " * 9000])
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.thread_time()
    strip_preamble(text)
    assert time.thread_time() - started < 1
