"""Pages put together."""

from pincite.parsers.layout.document import build_document
from pincite.parsers.layout.words import PageWords, Sheet
from pincite.text.sentences import normalise


def leaf(words, *texts: str) -> PageWords:
    found = [word for number, text in enumerate(texts) for word in words(text, base=200 + 12 * number)]
    return PageWords(300, 800, (Sheet(0, 300, 800, tuple(found)),) if found else ())


def test_pages_are_joined_and_their_marks_are_those_of_the_whole(words):
    book = build_document([leaf(words, "one two"), leaf(words), leaf(words, "three", "four")])
    assert book.text == normalise(book.text) == "one two\n\nthree\nfour"
    assert [page.start for page in book.pages] == [0, 9, 9]
    assert [[book.text[mark.start : mark.end] for mark in page.unpack_marks()] for page in book.pages] == [
        ["one", "two"],
        [],
        ["three", "four"],
    ]


def test_what_runs_in_another_direction_comes_after_and_is_never_the_title(words):
    aside = Sheet(3, 800, 300, tuple(words("STAMP", base=20, size=40)))
    main = leaf(words, "text that is read")
    book = build_document([PageWords(300, 800, (*main.sheets, aside))])
    assert (book.text, book.title) == ("text that is read\n\nSTAMP", None)
    stamp = book.pages[0].unpack_marks()[-1].box
    assert stamp
    assert stamp[3] == 800


def test_the_title_is_the_first_heading_of_the_highest_level(words):
    large = [
        *words("The title", base=40, size=20),
        *words("Section", base=80, size=14),
        *words("text and more text of it", base=120),
    ]
    assert build_document([PageWords(300, 800, (Sheet(0, 300, 800, tuple(large)),))]).title == "The title"


def test_no_pages_are_no_text():
    assert build_document([]).text == ""
