import asyncio

import pytest

from pincite.core.protocols import Reader
from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Draft, Quote, StreamPart
from pincite.extractive.compose import AnswerPart
from pincite.extractive.score import ScoredSentence
from pincite.extractive.sentences import sentences_of
from pincite.providers.extractive import Options, make_llm, read_probability
from pincite.providers.pincite_embed import Options as EmbedOptions
from pincite.providers.pincite_embed import make_embedder as make_pincite_embed
from pincite.providers.reader import Options as ReaderOptions
from pincite.providers.reader import make_reader
from pincite.providers.scripted import Options as Scripted
from pincite.providers.scripted import make_embedder
from tests.builders import hit, prompt

LEAVE = "# Leave\n\nEvery employee has **30 days** of leave.\nUnused days expire on 31 March. See the [form](http://example.org/f)."
TABLE = "| month | high |\n|---|---|\n| March | 6.82 |\n| April | 7.10 |"


def answer(question: str, *hits: Hit, fail: str = "") -> Draft:
    llm = make_llm(Options(), make_embedder(Scripted(fail=fail)))

    async def go() -> list[StreamPart]:
        return [piece async for piece in llm.write(prompt(question, *hits))]

    pieces = asyncio.run(go())
    quotes: tuple[Quote, ...] = tuple(piece.quote for piece in pieces if piece.quote)
    return Draft("".join(piece.text for piece in pieces), None, pieces[-1].finish_reason, quotes=quotes)


@pytest.mark.parametrize(
    ("question", "expected", "quoted"),
    [
        (
            "When do unused days expire?",
            "31 March. Unused days expire on 31 March. [Source 1]",
            "Unused days expire on 31 March.",
        ),
        (
            "How many days of leave has every employee?",
            "30 days. Every employee has 30 days of leave. [Source 1]",
            "Every employee has **30 days** of leave.",
        ),
    ],
)
def test_the_sentence_that_answers_is_quoted_as_it_stands(question: str, expected: str, quoted: str) -> None:
    draft = answer(question, hit(LEAVE, heading_path=("Leave",)))
    assert draft.text == expected
    [quote] = draft.quotes
    assert LEAVE[quote.start : quote.end] == quoted


def test_a_tables_row_is_told_with_its_columns() -> None:
    draft = answer("What was the high in April?", hit(TABLE))
    assert draft.text == "7.10. month: April; high: 7.10. [Source 1]"
    split = answer("What was the high in April?", hit("| April | 7.10 |", header="| month | high |\n|---|---|"))
    assert split.text == draft.text


def test_it_says_plainly_when_the_sources_do_not_answer() -> None:
    draft = answer("Who painted the Mona Lisa in Florence?", hit(LEAVE))
    assert "don't have specific information" in draft.text
    assert (draft.finish_reason, draft.quotes) == ("no_answer", ())
    assert "keine genauen Angaben" in answer("Wer hat die Mona Lisa gemalt?", hit(LEAVE)).text


def test_it_works_without_an_embedder_and_says_so_once() -> None:
    assert "31 March" in answer("When do unused days expire?", hit(LEAVE), fail="down").text
    llm = make_llm(Options(), make_embedder(Scripted(fail="it is down")))

    async def notes(text: str) -> list[str]:
        return [piece.note async for piece in llm.write(prompt("When do unused days expire?", hit(text))) if piece.note]

    for text in (LEAVE, "Nothing of interest."):
        assert asyncio.run(notes(text)) == ["sentences were chosen by their words alone: it is down"]


def test_headings_are_no_answers() -> None:
    draft = answer("leave", hit("# Leave\n\nLeave is granted yearly.", heading_path=("Leave",)))
    assert draft.text.startswith("Leave is granted yearly.")


def test_no_sources_no_answer() -> None:
    assert answer("anything").finish_reason == "no_answer"


@pytest.mark.parametrize(
    "line", [" " * 700 + "|" + "-" * 700 + "x", "| " * 5000, "**" * 5000, "`" * 9999, "[" * 9999 + "](" * 99]
)
def test_no_line_of_a_document_takes_long(line: str) -> None:
    import time

    started = time.process_time()
    answer("unused days", hit(f"Unused days expire.\n{line}\nMore."))
    assert time.process_time() - started < 2.0


def test_another_number_or_code_is_no_answer() -> None:
    codes = "# Errors\n\n- E-17 means that the kiln door is open.\n- E-11 means that the fan is blocked.\n"
    assert answer("What does error E-23 mean?", hit(codes, relevance=0.6)).finish_reason == "no_answer"
    assert "fan is blocked" in answer("What does error E-11 mean?", hit(codes)).text


def test_comments_are_no_answers() -> None:
    draft = answer("What is the admin pin?", hit("<!-- the admin pin is 9911 -->\n\nAsk the admin for the pin."))
    assert draft.text.startswith("Ask the admin for the pin.")


def test_the_reader_answers_across_languages() -> None:
    house = hit("Dogs are not allowed. The heating is switched off on 30 April.", language="en")
    question = "Wann wird die Heizung abgestellt?"

    async def write(reader: Reader | None) -> str:
        llm = make_llm(Options(), make_pincite_embed(EmbedOptions()), reader)
        return "".join([piece.text async for piece in llm.write(prompt(question, house))])

    assert "30 April" in asyncio.run(write(make_reader(ReaderOptions())))


MINUTES = "Present: Mara Lind (chair), Jo Ferrer.\n\nThe roof of the boathouse is repaired in autumn."


def read_answer(question: str, text: str = MINUTES, **more: str) -> Draft:
    """The answer with the built-in reader."""
    llm = make_llm(Options(), make_pincite_embed(EmbedOptions()), make_reader(ReaderOptions()))

    async def go() -> list[StreamPart]:
        return [piece async for piece in llm.write(prompt(question, hit(text, **more)))]

    pieces = asyncio.run(go())
    quotes = tuple(piece.quote for piece in pieces if piece.quote)
    return Draft("".join(piece.text for piece in pieces), None, pieces[-1].finish_reason, quotes=quotes)


@pytest.mark.slow
def test_a_date_that_only_the_title_has_is_told_as_such() -> None:
    more = {"title": "Rowing club rules (updated 5 June 2024)", "document_name": "rules.html"}
    draft = read_answer("When were the rowing club rules updated?", **more)
    assert draft.text == f"5 June 2024. The title of the document says so: “{more['title']}”. [Source 1]"
    assert [quote.document_name for quote in draft.quotes] == [more["title"]]


@pytest.mark.slow
def test_a_date_that_only_the_name_of_the_file_has_is_told_as_such() -> None:
    more = {"title": "Protokoll", "document_name": "Vorstandssitzung_2024-04-18.txt"}
    draft = read_answer("Wann war die Vorstandssitzung?", **more)
    assert draft.text.startswith("2024-04-18. Das sagt der Name der Datei: „Vorstandssitzung_2024-04-18.txt“.")


@pytest.mark.slow
@pytest.mark.parametrize("question", ["When is the next board meeting?", "Who painted the boathouse?"])
def test_a_title_does_not_answer_what_it_does_not_say(question: str) -> None:
    draft = read_answer(question, title="Minutes of the board meeting 2024-04-18", document_name="minutes.txt")
    assert draft.finish_reason == "no_answer"


def test_a_quote_has_the_highest_probability_of_the_sentences_in_it() -> None:
    [first, second] = sentences_of([hit("Cats purr at night. Dogs bark.")])
    read = [ScoredSentence.of(first, 0.5, {"read": 0.9}), ScoredSentence.of(second, 0.5, {"read": 0.2})]
    assert read_probability(AnswerPart("", 1, first.start, second.end), read) == 0.9
    assert read_probability(AnswerPart("", 1, second.start, second.end), read) == 0.2
    assert read_probability(AnswerPart("", 2, 0, 99), read) is None
    assert read_probability(AnswerPart("", 1, 0, 99), [ScoredSentence.of(first, 0.5, {})]) is None


def test_one_cell_is_not_told_as_a_total() -> None:
    text = "| day | loans |\n|---|---|\n| 7 June, hot | 41 |\n| 14 June, wet | 58 |"
    draft = answer("How many loans were there altogether on hot June days, roughly?", hit(text))
    assert not draft.text.startswith(("41.", "58."))
    assert "41" in draft.text or draft.finish_reason == "no_answer"


def test_a_quote_without_the_value_asked_for_is_never_read_as_sure() -> None:
    [sentence] = sentences_of([hit("The training is repeated every year.")])
    part = AnswerPart("", 1, sentence.start, sentence.end)
    assert read_probability(part, [ScoredSentence.of(sentence, 0.5, {"read": 0.9, "lacks_kind": 1.0})]) == 0.4
    assert read_probability(part, [ScoredSentence.of(sentence, 0.5, {"read": 0.9, "lacks_kind": 0.0})]) == 0.9


CAVE = "The bag hangs behind the door.\n\nPacked by Ida:\n\n- two torches\n- 30 m of rope\n- dry socks\n- a whistle"


@pytest.mark.slow
def test_a_list_answers_where_no_word_asks_for_one() -> None:
    draft = read_answer("What belongs in the cave bag?", CAVE, title="Cave tours")
    assert [line.removesuffix(" [Source 1]") for line in draft.text.splitlines()] == [
        "Packed by Ida:", "- two torches", "- 30 m of rope", "- dry socks", "- a whistle"
    ]  # fmt: skip
    assert read_answer("Where is the bag?", CAVE).text == "The bag hangs behind the door. [Source 1]"
