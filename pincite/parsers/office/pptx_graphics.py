"""Tables, charts and diagrams of a slide: the words and numbers they are drawn from."""

from collections.abc import Mapping, Sequence

from pincite.parsers.office.merged_cells import Cell, Row, filled
from pincite.parsers.office.number_format import shown
from pincite.parsers.office.package import Element, attribute, child, children, local, whole
from pincite.parsers.office.pptx_text import plain

MAX_POINTS = 2_000
"""Points of a series that are written out at most."""


def table_rows(table: Element, links: Mapping[str, str]) -> list[list[str]]:
    """The texts of a table, merged cells filled in."""
    rows = [_row(row) for row in children(table, "tr")]
    return filled(rows, lambda cell: plain(child(cell, "txBody"), links))


def _row(row: Element) -> Row:
    """The cells that show something of their own; those covered from the left are there as well, and empty."""
    found = []
    for column, cell in enumerate(children(row, "tc")):
        if attribute(cell, "hMerge") not in ("1", "true"):
            span = min(max(whole(attribute(cell, "gridSpan"), 1), 1), len(row) - column)
            found.append(Cell(cell, column, span, attribute(cell, "vMerge") in ("1", "true")))
    return tuple(found)


def chart_title(root: Element) -> str:
    """The title of a chart; empty where it has none."""
    return plain(child(root, "chart", "title", "tx", "rich"), {})


def chart_rows(root: Element) -> list[list[str]]:
    """A chart as a table: a row per category, a column per series."""
    series = [one for one in root.iter() if local(one) == "ser"]
    columns = [_points(_values(one)) for one in series]
    labels: dict[int, str] = {}
    for one in series:
        labels = _points(child(one, "cat") if child(one, "cat") is not None else child(one, "xVal")) | labels
    indices = sorted({index for column in [labels, *columns] for index in column})[:MAX_POINTS]
    if not indices:
        return []
    names = [_name(one) for one in series]
    return [["", *names], *([labels.get(at, ""), *(column.get(at, "") for column in columns)] for at in indices)]


def diagram_texts(root: Element) -> list[str]:
    """The texts of a diagram's boxes."""
    points = (one for one in root.iter() if local(one) == "pt")
    return [text for one in points if (text := plain(child(one, "t"), {}))]


def _values(series: Element) -> Element | None:
    found = child(series, "val")
    return child(series, "yVal") if found is None else found


def _name(series: Element) -> str:
    return next((str(one.text or "") for one in _all(child(series, "tx"), "v")), "")


def _points(source: Element | None) -> dict[int, str]:
    """The points of a series by their number; of labels in several levels, each from the outermost in."""
    levels: list[dict[int, str]] = []
    for cache in _all(source, "strCache", "numCache", "lvl"):
        format_code = child(cache, "formatCode")
        code = "General" if format_code is None else str(format_code.text or "General")
        numeric = local(cache) == "numCache"
        levels.append({})
        for point in children(cache, "pt"):
            text = str(getattr(child(point, "v"), "text", "") or "")
            levels[-1][whole(attribute(point, "idx"))] = _number(text, code) if numeric else text
    found = dict(levels[0]) if levels else {}
    for level in levels[1:]:  # an outer label goes on until the next one
        outer = ""
        for place in sorted(found):
            outer = level.get(place, outer)
            found[place] = f"{outer} {found[place]}".strip()
    return found


def _number(text: str, code: str) -> str:
    try:
        return shown(float(text), code)
    except ValueError:
        return text


def _all(element: Element | None, *names: str) -> Sequence[Element]:
    return [] if element is None else [one for one in element.iter() if local(one) in names]
