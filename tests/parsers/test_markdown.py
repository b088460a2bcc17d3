"""Markdown files and their front matter."""

import pytest

from pincite.core.documents.document import Parsed
from pincite.errors import Unreadable
from pincite.parsers.markdown import Options, make_parser


def parse(text: str) -> Parsed:
    return make_parser(Options()).parse(text.encode())


def test_front_matter_is_read_and_stays_in_the_text():
    text = """---
title: Travel
  policy
authors: [Ann, Bob]
summary: What we pay
tags: hr, travel ,hr
category: Policies
url: https://example.com/a
source_urls: ["http://example.com/b", "ftp://example.com/c", "javascript:alert(1)", "https://example.com/a"]
---
# Heading

Text
"""
    parsed = parse(text)
    assert parsed.text == text
    assert parsed.text[parsed.body_start :].startswith("# Heading")
    assert (parsed.title, parsed.author, parsed.description) == ("Travel policy", "Ann, Bob", "What we pay")
    assert (parsed.tags, parsed.category) == (("hr", "travel"), "Policies")
    assert parsed.source_urls == ("http://example.com/b", "https://example.com/a")


def test_lists_and_scalars_of_other_kinds_become_words():
    parsed = parse("---\ntitle: 2024\ntags: [a, 1, {b: c}, null]\nauthor: Ann\ndescription: 2024-05-01\n---\nx")
    assert (parsed.title, parsed.tags, parsed.author) == ("2024", ("a", "1"), "Ann")
    assert parsed.description == "2024-05-01"


@pytest.mark.parametrize("end", ["---", "..."])
def test_front_matter_may_be_empty_or_end_with_dots(end: str):
    parsed = parse(f"---\n{end}\nx")
    assert parsed.text[parsed.body_start :] == "x"


@pytest.mark.parametrize(
    "front",
    [
        "title: [x",
        "just words",
        "title: 2024-13-45",
        "title: !!python/object/apply:os.system ['true']",
        "when: !!timestamp never",
        "[" * 1000,
        "- a\n- b",
    ],
)
def test_invalid_front_matter_is_content(front: str):
    parsed = parse(f"---\n{front}\n---\nx")
    assert (parsed.body_start, parsed.title, parsed.tags) == (0, None, ())


def test_a_rule_at_the_top_is_content():
    assert parse("---\n\ntext\n").body_start == 0


def test_aliases_do_not_blow_up():
    laughs = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
    )
    assert parse(f"---\n{laughs}tags: *j\n---\nx").tags == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Two\n\n# One `x`\n", "One x"),
        ("One\n===\n", "One"),
        ("```\n# no\n```\n", None),
        ("text", None),
        ("#\n\n# Second\n", "Second"),
    ],
)
def test_the_title_is_the_first_heading_of_level_one(text: str, title: str | None):
    assert parse(text).title == title


def test_front_matter_alone_is_not_a_text():
    with pytest.raises(Unreadable) as caught:
        parse("---\ntitle: x\n---\n\n")
    assert caught.value.code == "empty"


def test_line_ends_are_normalised_before_front_matter_is_looked_for():
    parsed = parse("\ufeff---\r\ntitle: x\r\n---\r\nbody\r\n")
    assert (parsed.title, parsed.text[parsed.body_start :]) == ("x", "body\n")
