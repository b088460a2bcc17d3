"""Markdown on the page: what acts is gone, what is marked is marked exactly, and however a text arrives it reads the same."""

import json

import pytest

from pincite.api.routes import web_ui as served
from tests.page.attacks import ATTACKS, LEAKS
from tests.page.browser import Site
from tests.page.drawing import acting, show

ANSWER = """## Leave

Up to **five vacation days** carry over [Source 1], but `[Source 2]` in code is code.

- one [Source 2]
- two, with ![a picture](http://outside.invalid/x.png) and <img src=http://outside.invalid/y onerror=alert(1)>

| who | days |
|---|---|
| all | 5 [Source 1] |

```python
x = [1]  # ![no](http://outside.invalid/z)
```

A [link](https://example.org/a) and an [evil one](javascript:alert(1)). 🦉 [3]
"""
STREAM = """async ([base, bytes, cuts]) => {
  const { eventReader } = await import(`${base}/common/events.js`);
  const { rendered } = await import(`${base}/common/markdown.js`);
  const shown = (text) => { const box = document.createElement('div'); box.append(rendered(text, { cites: true })); return box.innerHTML; };
  const all = Uint8Array.from(bytes);
  const read = (pieces) => {
    let text = '';
    const decoder = new TextDecoder();
    const reader = eventReader(({ name, data }) => { if (name === 'token') text += data.text; });
    for (const piece of pieces) reader(decoder.decode(piece, { stream: true }));
    return text;
  };
  const whole = read([all]);
  const html = shown(whole);
  const differs = (cut) => {
    const text = read([all.slice(0, cut), all.slice(cut)]);
    return text !== whole || (cut % 50 === 0 && shown(text) !== html);
  };
  return [whole, cuts.filter(differs)];
}"""


@pytest.fixture
def base() -> str:
    return f"/assets/{served.release_digest()}"


def test_what_acts_is_gone_and_what_is_said_is_there(site: Site, base: str) -> None:
    with site.visit("/ask") as page:
        [(made, _)] = show(page, base, ANSWER, cites=True)
    assert "<strong>five vacation days</strong>" in made
    assert made.count('class="cite"') == 4
    assert "<code>[Source 2]</code>" in made
    assert "<img" not in made
    assert "javascript:" not in made
    assert 'href="https://example.org/a" rel="noopener noreferrer nofollow" target="_blank"' in made
    assert "<h4>Leave</h4>" in made


def test_a_stream_cut_anywhere_reads_as_the_whole(site: Site, base: str) -> None:
    words = [ANSWER[at : at + 7] for at in range(0, len(ANSWER), 7)]
    events = "".join(
        f"id: {n}\r\nevent: token\r\ndata: {json.dumps({'text': w}, ensure_ascii=False)}\r\n\r\n: hm\n\n"
        for n, w in enumerate(words)
    )
    raw = list(events.encode())
    with site.visit("/ask") as page:
        whole, differing = page.evaluate(STREAM, [base, raw, list(range(1, len(raw)))])
    assert whole == ANSWER
    assert differing == []


def test_text_cut_anywhere_never_becomes_something_that_acts(site: Site, base: str) -> None:
    hostile = "See ![x](http://outside.invalid/a.png?q=secret) and <img src=x onerror=alert(1)> [a](javascript:alert(2)) <b>end</b>"
    with site.visit("/ask") as page:
        made = show(page, base, *(hostile[:at] for at in range(len(hostile) + 1)), cites=True)
    assert {element[0] for _, elements in made for element in elements} <= {"p", "a"}
    assert not [href for _, elements in made for _, *href in elements if "javascript" in "".join(href)]


@pytest.mark.parametrize("cites", [True, False])
def test_no_attack_runs_and_nothing_leaves(site: Site, base: str, cites: bool) -> None:
    with site.visit("/ask") as page:
        made = show(page, base, *ATTACKS, *LEAKS, cites=cites)
        page.wait_for_timeout(200)
        assert page.evaluate("window.attacked") is None
    assert [wrong for one in made for wrong in acting(one)] == []


MARK = """async ([base, text, start, end]) => {
  const { rendered } = await import(`${base}/common/markdown.js`);
  const box = document.createElement('div');
  box.append(rendered(text, { spans: [{ start, end, make: () => document.createElement('mark') }] }));
  return [[...box.querySelectorAll('mark')].map((one) => one.textContent), box.querySelectorAll('table tr').length, box.textContent];
}"""
MARKED = [
    ("Plain words here.", "words", ["words"]),
    ("# A heading\n\nText.", "# A heading", ["A heading"]),
    ("- one\n- two\n- three\n", "- two", ["two"]),
    ("1. first\n2. second\n", "2. second", ["second"]),
    ("> quoted text", "> quoted text", ["quoted text"]),
    ("Up to **five** days.", "Up to **five** days.", ["Up to ", "five", " days."]),
    ("All _very_ good.", "_very_", ["very"]),
    ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "| 3 | 4 |", ["3", "4"]),
    ("```\ncode here\n```\n", "code here", ["code here"]),
    ("🦉🦉 two owls, then words.", "words", ["words"]),
    ("One.\n\nTwo.\n\nThree.", "One.\n\nTwo.", ["One.", "Two."]),
    ("See [the rules](https://example.org/r) first.", "the rules", ["the rules"]),
    ("Brackets \u2e55 7 \u2e58 of ours.", "of ours", ["of ours"]),
]


def test_a_span_is_marked_exactly_whatever_it_stands_in(site: Site, base: str) -> None:
    with site.visit("/ask") as page:
        for text, wanted, expected in MARKED:
            start = text.index(wanted)
            marks, rows, shown = page.evaluate(MARK, [base, text, start, start + len(wanted)])
            assert [mark for mark in marks if mark.strip()] == expected, text
            assert rows == (3 if text.startswith("|") else 0)
            assert "\u2e55" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("61000. Department: Marketing; Quarter: Q4. [Source 1]", "<p>61000. Department"),
        ("14. Juni 2025 ist der Umzug.", "<p>14. Juni 2025"),
        ("500) is the minimum.", "<p>500) is"),
        ("Steps:\n\n3. Third.\n4. Fourth.", '<ol start="3">'),
        ("1. Only one.", "<ol>"),
    ],
)
def test_a_number_that_begins_a_sentence_is_no_mark_of_a_list(site: Site, base: str, text: str, shown: str) -> None:
    with site.visit("/ask") as page:
        [(made, _)] = show(page, base, text, cites=True)
    assert shown in made
