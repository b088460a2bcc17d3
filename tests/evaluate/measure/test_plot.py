"""The plot."""

import xml.etree.ElementTree as ET

from pincite.evaluate.compare import Comparison, Trial
from pincite.evaluate.measure.plot import WIDTH, plot
from tests.evaluate.makers import comparison

SVG = "{http://www.w3.org/2000/svg}"


def test_every_configuration_has_a_dot_in_its_order_of_merit() -> None:
    root = ET.fromstring(plot(comparison()))
    dots = [float(one.get("cx", "0")) for one in root.iter(f"{SVG}circle")]
    assert len(dots) == 3
    assert dots[1] > dots[0]
    assert all(0 < dot < WIDTH for dot in dots)
    words = " ".join(one.text or "" for one in root.iter(f"{SVG}text"))
    for expected in ("nDCG@10 on tiny, 100 questions", "rag.alpha=.3", "0.598", "13.0 ms"):
        assert expected in words


def test_the_plot_has_light_and_dark_colours() -> None:
    assert "prefers-color-scheme: dark" in plot(comparison())


def test_names_cannot_break_out_and_extremes_stay_inside() -> None:
    trials = tuple(Trial(f'<script>"{value}&', {"x": (value,) * 3}, (1.0,), ()) for value in (0.0, 1.0))
    root = ET.fromstring(plot(Comparison("<b>", 1, 3, trials)))
    assert not list(root.iter(f"{SVG}script"))
    assert all(0 <= float(one.get("cx", "0")) <= WIDTH for one in root.iter(f"{SVG}circle"))
