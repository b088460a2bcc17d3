"""The benchmark of web pages counts what came out as what it is, and tells who sees hidden words."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks._hidden import HIDDEN, SEEN, judged
from benchmarks._pages import KINDS, Page, Tally, due, pages_of, told, weigh
from benchmarks.webpages import hidden, line, measure, ours

PAGE = b"""<nav><a href=/1>First menu</a><a href=/2>Second menu</a></nav><main><h1>Bees</h1><p>They live in
<a href='https://b.example/hive'>hives</a>.</p><ul><li>worker</li><li>drone</li></ul><pre>hum()</pre>
<table><tr><th>Year</th><th>Hives</th></tr><tr><td>2025</td><td>12</td></tr></table></main>"""
TEXT = """# Bees

They live in [hives](https://b.example/hive).

- worker
- drone

```
hum()
```

| Year | Hives |
| --- | --- |
| 2025 | 12 |
"""


def shares(text: str) -> dict[str, float | None]:
    tally = Tally()
    weigh(Page("bees.html", PAGE), text, tally)
    return {kind: tally.share(kind) for kind in (*KINDS, "furniture")}


def test_what_came_out_as_what_it_is_counts() -> None:
    assert set(shares(TEXT).values()) == {1.0}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("headings", "# Bees", "Bees"),
        ("items", "- worker\n- drone", "worker drone"),
        ("rows", "| Year | Hives |\n| --- | --- |\n| 2025 | 12 |", "Year Hives 2025 12"),
        ("code", "```\nhum()\n```", "hum()"),
        ("links", "[hives](https://b.example/hive)", "hives"),
        ("furniture", "# Bees", "First menu Second menu\n\n# Bees"),
    ],
)
def test_what_came_out_as_something_else_does_not(kind: str, before: str, after: str) -> None:
    assert [name for name, share in shares(TEXT.replace(before, after)).items() if share != 1.0] == [kind]


def test_an_item_of_links_alone_may_be_a_menu_s_and_does_not_count() -> None:
    wanted, _ = due(Page("x.html", b"<ul><li><a href=/1>Home</a></li><li>See <a href=/2>this</a></li></ul>"))
    assert wanted.pieces["items"] == [("see", "this")]


def test_an_address_in_the_text_is_a_link() -> None:
    assert told("See https://b.example/x.").bare == {"https://b.example/x"}


def test_a_set_says_what_should_come_out(tmp_path: Path) -> None:
    articles, phrases, beside = (tmp_path / name for name in ("articles", "phrases", "beside"))
    (articles / "html").mkdir(parents=True)
    (articles / "html/a.html.gz").write_bytes(gzip.compress(PAGE))
    (articles / "ground-truth.json").write_text(json.dumps({"a": {"articleBody": "They live in hives."}}))
    (phrases / "eval").mkdir(parents=True)
    (phrases / "eval/b.html").write_bytes(PAGE)
    (phrases / "eval/unused.html").write_bytes(PAGE)
    given = {"file": "b.html", "with": ["They live"], "without": ["menu"]}
    (phrases / "evaldata.json").write_text(json.dumps({"https://b.example": given}))
    beside.mkdir()
    (beside / "c.html").write_bytes(PAGE)
    (beside / "c.md").write_text(TEXT)
    [article], [phrase], [page] = pages_of(articles), pages_of(phrases), pages_of(beside)
    assert article.text == "They live in hives."
    assert (phrase.wanted, phrase.unwanted, phrase.text) == (("They live",), ("menu",), None)
    assert page.text == "bees they live in hives worker drone hum year hives 2025 12"


def test_a_line_tells_what_was_measured_and_what_was_not(tmp_path: Path) -> None:
    pages = [Page("bees.html", PAGE, wanted=("live in hives",), unwanted=("first menu", "live in"))]
    told_line = line("bees", "pincite", measure(pages, "pincite", ours(), tmp_path / "out"))
    assert told_line.startswith("| bees | pincite | 1 | – | – | 1.000 | 0.500 | – | – | – | – | – | 1.000 |")
    assert (tmp_path / "out/bees.html.pincite.md").read_text() == TEXT.rstrip("\n")


def test_a_reader_that_shows_everything_fails_where_words_are_hidden() -> None:
    rows = hidden({"all": lambda data: data.decode()}).splitlines()
    assert f"| *right, of words that cannot be seen* | 0 of {len(HIDDEN)} |" in rows
    assert rows[-1] == f"| *right, of words that can be seen* | {len(SEEN)} of {len(SEEN)} |"


@pytest.mark.parametrize("way", ["`display: none`", "`hidden`", "comment", "`<template>`"])
def test_ours_leaves_hidden_words_out(way: str) -> None:
    assert dict(judged({way: HIDDEN[way]}, ours())) == {way: False}
