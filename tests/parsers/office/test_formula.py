"""Formulas on one line."""

import pytest

from pincite.parsers.office.formula import formula
from pincite.parsers.office.zip_safety import parse_xml


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<r><t>E=m</t></r><sSup><e><t>c</t></e><sup><t>2</t></sup></sSup>", "E=mc^2"),
        ("<f><num><t>1</t></num><den><t>n+1</t></den></f>", "(1)/(n+1)"),
        ("<rad><deg/><e><t>x</t></e></rad>", "√(x)"),
        ("<sSubSup><e><t>a</t></e><sub><t>i</t></sub><sup><t>3</t></sup></sSubSup>", "a_i^3"),
        ("<unknown><t>y</t></unknown>", "y"),
    ],
)
def test_a_formula_reads_from_left_to_right(inner: str, text: str):
    assert formula(parse_xml(f"<oMath>{inner}</oMath>".encode())) == text


def test_deep_formulas_take_no_longer_than_they_are():
    deep = "<f><num>" * 100 + "<t>x</t>" + "</num></f>" * 100
    assert formula(parse_xml(deep.encode())).count("(") == 200
