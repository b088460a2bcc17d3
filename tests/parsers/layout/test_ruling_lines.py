"""Rules of a PDF page."""

from contextlib import closing

import pypdfium2
import pytest

from pincite.parsers.layout import ruling_lines as module
from pincite.parsers.layout.ruling_lines import find_rules
from tests.pdf_maker import Rule, make_pdf


def found(*drawn: Rule):
    with closing(pypdfium2.PdfDocument(make_pdf([drawn]))) as document, closing(document[0]) as page:
        return find_rules(page, lambda x0, y0, x1, y1: (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))


def test_rules_run_across_or_down():
    across, down = found(Rule(10, 50, 200, 50), Rule(30, 10, 30, 90))
    assert [(rule.at, rule.start, rule.end) for rule in across] == [(50, 10, 200)]
    assert [(rule.at, rule.start, rule.end) for rule in down] == [(30, 10, 90)]


def test_slanted_and_tiny_lines_are_none():
    assert found(Rule(10, 10, 60, 60), Rule(10, 10, 12, 10)) == ((), ())


def test_a_page_with_too_many_is_a_drawing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MAX_RULES", 3)
    assert found(*[Rule(10, 10 * n, 200, 10 * n) for n in range(1, 6)]) == ((), ())
