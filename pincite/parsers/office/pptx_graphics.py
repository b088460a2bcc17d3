"""Reads the texts and numbers of tables, charts and diagrams on slides."""

from collections.abc import Mapping, Sequence

from pincite.parsers.office.merged_cells import Cell, Row, fill_merged_cells
from pincite.parsers.office.number_format import format_value
from pincite.parsers.office.package import Element, attribute, child, children, local_name, parse_int
from pincite.parsers.office.pptx_text import plain_text

MAX_POINTS = 2_000
"""Maximum number of points of a chart that are written."""


def table_rows(table: Element, links: Mapping[str, str]) -> list[list[str]]:
    """The texts of a table, with merged cells filled in."""
    rows = [_row(row) for row in children(table, "tr")]
    return fill_merged_cells(rows, lambda cell: plain_text(child(cell, "txBody"), links))


def _row(row: Element) -> Row:
    """The cells of a row, without those that are covered by a merged cell on their left."""
    found = []
    for column, cell in enumerate(children(row, "tc")):
        if attribute(cell, "hMerge") not in ("1", "true"):
            span = min(max(parse_int(attribute(cell, "gridSpan"), 1), 1), len(row) - column)
            found.append(Cell(cell, column, span, attribute(cell, "vMerge") in ("1", "true")))
    return tuple(found)


def chart_title(root: Element) -> str:
    """The title of a chart; empty where it has none."""
    return plain_text(child(root, "chart", "title", "tx", "rich"), {})


def chart_rows(root: Element) -> list[list[str]]:
    """A chart as a table with a row per category and a column per series."""
    series = [one for one in root.iter() if local_name(one) == "ser"]
    columns = [_points(_values(one)) for one in series]
    labels: dict[int, str] = {}
    for one in series:
        labels = _points(child(one, "cat") if child(one, "cat") is not None else child(one, "xVal")) | labels
    indices = sorted({index for column in [labels, *columns] for index in column})[:MAX_POINTS]
    if not indices:
        return []
    names = [_series_name(one) for one in series]
    return [["", *names], *([labels.get(at, ""), *(column.get(at, "") for column in columns)] for at in indices)]


def diagram_texts(root: Element) -> list[str]:
    """The texts of a diagram's boxes."""
    points = (one for one in root.iter() if local_name(one) == "pt")
    return [text for one in points if (text := plain_text(child(one, "t"), {}))]


def _values(series: Element) -> Element | None:
    found = child(series, "val")
    return child(series, "yVal") if found is None else found


def _series_name(series: Element) -> str:
    return next((str(one.text or "") for one in _descendants(child(series, "tx"), "v")), "")


def _points(source: Element | None) -> dict[int, str]:
    """The values of a series by index; labels of several levels are joined, the outermost first."""
    levels: list[dict[int, str]] = []
    for cache in _descendants(source, "strCache", "numCache", "lvl"):
        format_code = child(cache, "formatCode")
        code = "General" if format_code is None else str(format_code.text or "General")
        numeric = local_name(cache) == "numCache"
        levels.append({})
        for point in children(cache, "pt"):
            text = str(getattr(child(point, "v"), "text", "") or "")
            levels[-1][parse_int(attribute(point, "idx"))] = _format_number(text, code) if numeric else text
    found = dict(levels[0]) if levels else {}
    for level in levels[1:]:  # an outer label applies until the next one
        outer = ""
        for place in sorted(found):
            outer = level.get(place, outer)
            found[place] = f"{outer} {found[place]}".strip()
    return found


def _format_number(text: str, code: str) -> str:
    try:
        return format_value(float(text), code)
    except ValueError:
        return text


def _descendants(element: Element | None, *names: str) -> Sequence[Element]:
    return [] if element is None else [one for one in element.iter() if local_name(one) in names]
