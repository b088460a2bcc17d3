import re
from xml.etree import ElementTree

import pytest

from benchmarks.peers.environments import REQUIREMENTS, SYSTEMS
from benchmarks.peers.report import Line, plot, table

LINES = [
    Line("one", "pincite", "yes", 0.8, 50.0, 5.0, 9.0, 400.0),
    Line("one", "other", "no", 0.7, 60.0, 50.0, 90.0, 300.0),
    Line("two", "pincite", "yes", 0.5, 50.0, 5.0, 9.0, 400.0),
]


def test_the_best_of_every_column_is_bold_and_only_that() -> None:
    rows = table(LINES, {}).splitlines()[2:]
    assert rows[0] == "| one | pincite | **0.800** | 50.0 | **5.0** | **9.0** | 400 | yes |"
    assert rows[1] == "| one | other | 0.700 | **60.0** | 50.0 | 90.0 | **300** | no |"


def test_who_could_not_be_installed_is_told_with_the_reason() -> None:
    assert "txtai is missing, it could not be installed here: no wheel" in table(LINES, {"txtai": "no wheel"})


def test_the_picture_shows_every_system_of_every_set_where_it_belongs() -> None:
    root = ElementTree.fromstring(plot(LINES))
    dots = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert [dot.get("class") for dot in dots] == ["ours", "dot", "ours"]
    ours, other = ((float(dot.get("cx", "")), float(dot.get("cy", ""))) for dot in dots[:2])
    assert ours[0] < other[0]  # faster is further left
    assert ours[1] < other[1]  # better is further up


@pytest.mark.parametrize("system", SYSTEMS)
def test_everything_a_system_needs_is_pinned(system: str) -> None:
    if system == "pincite":
        return
    lines = (REQUIREMENTS / f"{system}.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 20
    assert [line for line in lines if not re.match(r"[\w.-]+==[\w.]+( ; .*)?$", line)] == []
