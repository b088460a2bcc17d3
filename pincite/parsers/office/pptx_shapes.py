"""The shapes of a slide in reading order: placeholders take their place and bullets from layout and master."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.parsers.office.package import Element, Office, attribute, child, children, chosen, local, whole

_SHAPES = ("sp", "graphicFrame", "grpSp", "cxnSp", "pic")
_TITLES = ("title", "ctrTitle")
_MARGINAL = ("dt", "ftr", "sldNum", "hdr", "sldImg")
"""Date, footer and page number: the same on every slide."""
_BODIES = ("body", "obj", "", "subTitle")
_SAME_ROW = 228_600
"""A quarter of an inch: shapes whose tops are no further apart are read from left to right."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape, where it stands, what kind of placeholder it is, if any, and the styles its text inherits."""

    element: Element
    left: int
    top: int
    placeholder: str | None = None
    styles: tuple[Element, ...] = ()

    @property
    def is_title(self) -> bool:
        """Whether it is the slide's title."""
        return self.placeholder in _TITLES


class Layers:
    """What a slide inherits: the placeholders of its layout and master, and the master's styles."""

    def __init__(self, office: Office, layout: str) -> None:
        master = next(office.related(layout, "slideMaster"), None) if layout else None
        roots = [office.archive.xml(part) for part in (layout, master) if part]
        self.trees = [child(root, "cSld", "spTree") for root in roots]
        self.body_style = child(roots[-1], "txStyles", "bodyStyle") if len(roots) > 1 else None

    def behind(self, placeholder: Element) -> list[Element]:
        """The placeholders of layout and master that this one is made after, nearest first."""
        kind, index = attribute(placeholder, "type"), attribute(placeholder, "idx")
        found = []
        for tree in self.trees:
            same = [one for one in _flat(tree) if (ph := _placeholder(one)) is not None and _alike(ph, kind, index)]
            found += same[:1]
            if same:  # the master is asked for what the layout made of it
                kind = attribute(_placeholder(same[0]), "type") or kind
                index = ""
        return found


def shapes(tree: Element | None, layers: Layers) -> list[Shape]:
    """The shapes of a slide or group that may hold text: title first, then row by row."""
    found = [_shape(one, layers) for one in _flat(tree)]
    shown = [shape for shape in found if shape.placeholder not in _MARGINAL]
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


def _flat(tree: Element | None) -> Iterator[Element]:
    for one in () if tree is None else tree:
        if local(one) in _SHAPES:
            yield one
        elif local(one) == "AlternateContent" and (choice := chosen(one)) is not None:
            yield from _flat(choice)


def _shape(element: Element, layers: Layers) -> Shape:
    placeholder = _placeholder(element)
    behind = layers.behind(placeholder) if placeholder is not None else []
    places = [place for one in [element, *behind] if (place := _place(one))]
    left, top = places[0] if places else (0, 0)
    if placeholder is None:
        return Shape(element, left, top, None, tuple(_list_styles([element])))
    kind = attribute(placeholder, "type")
    styles = _list_styles([element, *behind])
    if kind in _BODIES and layers.body_style is not None:
        styles.append(layers.body_style)
    return Shape(element, left, top, kind, tuple(styles))


def _placeholder(element: Element) -> Element | None:
    about = next((one for one in element if local(one).startswith("nv")), None)
    return child(about, "nvPr", "ph")


def _alike(placeholder: Element, kind: str, index: str) -> bool:
    """Placeholders belong together by index, or, where that is not said, by kind; all titles are one kind."""
    if index and attribute(placeholder, "idx") == index:
        return True
    own = attribute(placeholder, "type")
    if kind in _TITLES:
        return own in _TITLES
    return not index and (own or "obj").replace("obj", "body") == (kind or "obj").replace("obj", "body")


def _list_styles(found: Sequence[Element]) -> list[Element]:
    return [style for one in found for style in children(child(one, "txBody"), "lstStyle")]


def _place(element: Element) -> tuple[int, int] | None:
    for path in (("spPr", "xfrm", "off"), ("grpSpPr", "xfrm", "off"), ("xfrm", "off")):
        if (offset := child(element, *path)) is not None:
            return whole(attribute(offset, "x")), whole(attribute(offset, "y"))
    return None
