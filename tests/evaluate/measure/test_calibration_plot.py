import xml.etree.ElementTree as ET

from pincite.evaluate.measure.calibration import to_bins
from pincite.evaluate.measure.calibration_plot import plot


def test_the_picture_has_a_dot_for_each_bin_and_escapes_its_title() -> None:
    drawn = ET.fromstring(plot(to_bins([(0.2, False), *[(0.9, True)] * 9]), "a < b"))
    dots = [one for one in drawn.iter() if one.tag.endswith("circle")]
    assert len(dots) == 2
    assert float(dots[0].attrib["r"]) < float(dots[1].attrib["r"])
    assert float(dots[0].attrib["cy"]) > float(dots[1].attrib["cy"])
