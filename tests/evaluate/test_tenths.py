import xml.etree.ElementTree as ET

from pincite.evaluate.tenths import Tenth, plot, tenths


def test_predictions_are_gathered_by_tenths() -> None:
    assert tenths([0.05, 0.15, 0.19, 1.0], [False, True, False, True]) == [
        Tenth(0.05, 0.0, 1),
        Tenth(0.16999999999999998, 0.5, 2),
        Tenth(1.0, 1.0, 1),
    ]


def test_the_picture_has_a_dot_for_each_tenth_and_escapes_its_title() -> None:
    drawn = ET.fromstring(plot([Tenth(0.2, 0.25, 4), Tenth(0.9, 0.8, 16)], "a < b"))
    dots = [one for one in drawn.iter() if one.tag.endswith("circle")]
    assert len(dots) == 2
    assert float(dots[0].attrib["r"]) < float(dots[1].attrib["r"])
    assert float(dots[0].attrib["cy"]) > float(dots[1].attrib["cy"])
