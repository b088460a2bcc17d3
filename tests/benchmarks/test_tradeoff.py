from xml.etree import ElementTree

import numpy as np

from benchmarks._tradeoff import plot


def test_it_is_a_picture_with_a_curve_for_each_kind() -> None:
    shares = {"covered": np.array([0.2, 0.9, 0.8]), "near": np.array([0.1, 0.6]), "far": np.array([0.05, 0.1])}
    drawn = ElementTree.fromstring(plot(shares, 0.3))
    assert len([one for one in drawn.iter() if one.tag.endswith("circle")]) == 2
    assert {"near", "far"} <= {one.text for one in drawn.iter()}
