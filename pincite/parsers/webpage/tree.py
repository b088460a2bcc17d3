"""A web page as a tree of what can be seen, built and walked without recursion: pages may be nested deeply."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pincite.errors import Unreadable
from pincite.parsers.webpage.visibility import Styles

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH = 2_000
MAX_ELEMENTS = 1_000_000

_OPENED = re.compile(
    r"<(/?)(?:div|section|article|main|aside|nav|header|footer|blockquote|ul|ol|dl|table|form|fieldset|figure|details|"
    r"center|address|pre|menu|dir|listing|summary|hgroup|search)(?=[\s/>])",
    re.IGNORECASE,
)
"""Elements for each of which a parser looks at all that are open, so that a deep pile of them takes quadratic time."""

_LITTLE = 0.2
"""Letters that are hidden as a script hides what it shows later, for each that can be seen; more are shown later."""


@dataclass(slots=True, eq=False)
class Element:
    """An element that can be seen, with what is inside: letters, those of them in links, links, and titles of the page.

    It is filled while the tree is built and changed while that is pruned, by nobody else.
    """

    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    parent: "Element | None" = None
    children: "list[Element | str]" = field(default_factory=list)
    chars: int = 0
    linked: int = 0
    links: int = 0
    titles: int = 0

    def get(self, name: str) -> str:
        """An attribute's value, empty where there is none."""
        return self.attributes.get(name) or ""

    def elements(self, closed: frozenset[str] = frozenset()) -> "Iterator[Element]":
        """All elements inside, in the order of the page; of those with a `closed` tag only the outermost."""
        stack = [iter(self.children)]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif isinstance(child, Element):
                yield child
                if child.tag not in closed:
                    stack.append(iter(child.children))

    def has(self, tags: frozenset[str]) -> bool:
        """Whether there is an element with one of these tags inside."""
        return any(element.tag in tags for element in self.elements())

    def above(self) -> "Iterator[Element]":
        """The elements it stands in, from the inside out."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent

    def drop(self, unwanted: "list[Element]") -> None:
        """Take some of its children out of the page."""
        gone, lost = set(map(id, unwanted)), Element("")
        self.children = [child for child in self.children if id(child) not in gone]
        for child in unwanted:
            lost.count(child)
        for element in (self, *self.above()):
            element.count(lost, -1)

    def count(self, inside: "Element", sign: int = 1) -> None:
        """Count in, or out again, what another element holds."""
        self.chars += sign * inside.chars
        self.linked += sign * inside.linked
        self.links += sign * inside.links
        self.titles += sign * inside.titles


class Visitor(Protocol):
    """Who walks through a tree: `enter` says whether to go inside, and `leave` follows where it was gone inside."""

    def enter(self, element: Element) -> bool: ...
    def leave(self, element: Element) -> None: ...
    def text(self, text: str) -> None: ...


def walk(root: Element, visitor: Visitor) -> None:
    """Show a visitor all that is inside, in the order of the page."""
    stack = [(root, iter(root.children))]
    while stack:
        element, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            if stack:
                visitor.leave(element)
        elif isinstance(child, str):
            visitor.text(child)
        elif visitor.enter(child):
            stack.append((child, iter(child.children)))


def words(root: Element, between: Callable[[Element], str] = lambda _: "") -> str:
    """The text inside as it stands in the file; `between` says what an element puts in front of its own."""
    parts: list[str] = []
    stack = [iter(root.children)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif isinstance(child, str):
            parts.append(child)
        else:
            parts.append(between(child))
            stack.append(iter(child.children))
    return "".join(parts)


def read_tree(page: str) -> Element:
    """The page's `html` element with all that a reader would see, and its head."""
    from selectolax.lexbor import LexborHTMLParser  # a native library: only the process that reads a page loads it

    _check_depth(page)
    root, styles = LexborHTMLParser(page).root, Styles.of(page)
    if root is None:
        return Element("html")
    html, passed_over = _built(root, styles, scripted=False)
    return html if passed_over <= _LITTLE * html.chars else _built(root, styles, scripted=True)[0]


def _built(root: "LexborNode", styles: Styles, *, scripted: bool) -> tuple[Element, int]:
    """The tree of what is shown, and how many letters were passed over that a script may show; none if it does."""
    above = Element("html", root.attributes)
    node, depth, count, passed_over = root.child, 0, 0, 0
    looks = [styles.look("html", above.attributes, styles.start())]
    while node is not None:
        built: Element | None = None
        if node.is_text_node:
            if looks[-1].legible or above.tag == "title":
                _take(above, node.text_content or "")
        elif node.is_element_node and styles.shows(node.tag or "", attributes := node.attributes):
            if not scripted and styles.may_hide(node.tag or "", attributes):
                passed_over += len(node.text().strip())
            else:
                built = Element(node.tag or "", attributes, above)
                above.children.append(built)
                count += 1
            if count > MAX_ELEMENTS:
                raise Unreadable(f"it has more than {MAX_ELEMENTS:,} elements; split it", code="limit")
        if built and (inside := node.child) is not None:
            looks.append(styles.look(built.tag, built.attributes, looks[-1]))
            node, above, depth = inside, built, depth + 1
            continue
        if built:
            _close(built)
        while node is not None and node.next is None and depth:
            node, depth = node.parent, depth - 1
            looks.pop()
            _close(above)
            assert above.parent is not None
            above = above.parent
        node = node.next if node is not None else None
    return above, passed_over


def _take(above: Element, text: str) -> None:
    above.children.append(text)
    above.chars += len(text.strip())


def _close(element: Element) -> None:
    """Count what is inside, once it is all there."""
    if element.tag == "a" and ("href" in element.attributes or "name" not in element.attributes):
        element.linked = element.chars
        element.links += 1
    elif element.tag == "h1":
        element.titles += 1
    if element.parent is not None and element.tag != "head":
        element.parent.count(element)


def _check_depth(page: str) -> None:
    depth = 0
    for found in _OPENED.finditer(page):
        depth = max(0, depth - 1) if found[1] else depth + 1
        if depth > MAX_DEPTH:
            raise Unreadable(f"its elements are nested more than {MAX_DEPTH:,} deep; simplify it", code="limit")
