"""Orders the shapes of a slide for reading; placeholders inherit position and bullets from layout and master."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.parsers.office.package import (
    Element,
    Office,
    attribute,
    child,
    children,
    local_name,
    parse_int,
    selected_alternative,
)

_SHAPES = ("sp", "graphicFrame", "grpSp", "cxnSp", "pic")
_TITLES = ("title", "ctrTitle")
_FOOTER_TYPES = ("dt", "ftr", "sldNum", "hdr", "sldImg")
"""Placeholders that are left out: date, footer, page number, header and slide image."""
_BODIES = ("body", "obj", "", "subTitle")
_SAME_ROW = 228_600
"""Maximum distance of the tops of shapes in one row, which is read from left to right: a quarter of an inch, in EMU."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape, its position, its placeholder type, if any, and the styles that its text inherits."""

    element: Element
    left: int
    top: int
    placeholder: str | None = None
    styles: tuple[Element, ...] = ()

    @property
    def is_title(self) -> bool:
        """Whether the shape is the slide's title."""
        return self.placeholder in _TITLES


class Layers:
    """The placeholders of a slide's layout and master, and the master's styles, which the slide inherits."""

    def __init__(self, office: Office, layout: str) -> None:
        master = next(office.related(layout, "slideMaster"), None) if layout else None
        roots = [office.archive.xml(part) for part in (layout, master) if part]
        self.trees = [child(root, "cSld", "spTree") for root in roots]
        self.body_style = child(roots[-1], "txStyles", "bodyStyle") if len(roots) > 1 else None

    def inherited(self, placeholder: Element) -> list[Element]:
        """The placeholders of layout and master from which a placeholder inherits, the layout first."""
        kind, index = attribute(placeholder, "type"), attribute(placeholder, "idx")
        found = []
        for tree in self.trees:
            same = [
                one
                for one in _shape_elements(tree)
                if (ph := _placeholder(one)) is not None and _matches(ph, kind, index)
            ]
            found += same[:1]
            if same:  # the master is searched for the type of the layout's placeholder
                kind = attribute(_placeholder(same[0]), "type") or kind
                index = ""
        return found


def shapes(tree: Element | None, layers: Layers) -> list[Shape]:
    """The shapes of a slide or group that may hold text: the title first, then row by row."""
    found = [_shape(one, layers) for one in _shape_elements(tree)]
    shown = [shape for shape in found if shape.placeholder not in _FOOTER_TYPES]
    titles = [shape for shape in shown if shape.is_title]
    return titles + _by_rows([shape for shape in shown if not shape.is_title])


def _by_rows(found: list[Shape]) -> list[Shape]:
    rows: list[list[Shape]] = []
    for shape in sorted(found, key=lambda shape: shape.top):
        if rows and shape.top - rows[-1][0].top <= _SAME_ROW:
            rows[-1].append(shape)
        else:
            rows.append([shape])
    return [shape for row in rows for shape in sorted(row, key=lambda shape: shape.left)]


def _shape_elements(tree: Element | None) -> Iterator[Element]:
    for one in () if tree is None else tree:
        if local_name(one) in _SHAPES:
            yield one
        elif local_name(one) == "AlternateContent" and (choice := selected_alternative(one)) is not None:
            yield from _shape_elements(choice)


def _shape(element: Element, layers: Layers) -> Shape:
    placeholder = _placeholder(element)
    inherited = layers.inherited(placeholder) if placeholder is not None else []
    places = [place for one in [element, *inherited] if (place := _position(one))]
    left, top = places[0] if places else (0, 0)
    if placeholder is None:
        return Shape(element, left, top, None, tuple(_list_styles([element])))
    kind = attribute(placeholder, "type")
    styles = _list_styles([element, *inherited])
    if kind in _BODIES and layers.body_style is not None:
        styles.append(layers.body_style)
    return Shape(element, left, top, kind, tuple(styles))


def _placeholder(element: Element) -> Element | None:
    about = next((one for one in element if local_name(one).startswith("nv")), None)
    return child(about, "nvPr", "ph")


def _matches(placeholder: Element, kind: str, index: str) -> bool:
    """Whether a placeholder has this index or, where no index is given, this type; all titles are one type."""
    if index and attribute(placeholder, "idx") == index:
        return True
    own = attribute(placeholder, "type")
    if kind in _TITLES:
        return own in _TITLES
    return not index and (own or "obj").replace("obj", "body") == (kind or "obj").replace("obj", "body")


def _list_styles(found: Sequence[Element]) -> list[Element]:
    return [style for one in found for style in children(child(one, "txBody"), "lstStyle")]


def _position(element: Element) -> tuple[int, int] | None:
    for path in (("spPr", "xfrm", "off"), ("grpSpPr", "xfrm", "off"), ("xfrm", "off")):
        if (offset := child(element, *path)) is not None:
            return parse_int(attribute(offset, "x")), parse_int(attribute(offset, "y"))
    return None
