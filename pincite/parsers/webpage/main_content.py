"""What a web page is about: its main content, without navigation, banners, forms and other furniture."""

import re

from pincite.parsers.webpage.inline import BLOCKS
from pincite.parsers.webpage.tables import is_layout
from pincite.parsers.webpage.tree import Element

_FURNITURE = frozenset("nav footer menu aside".split())
_ROLES = frozenset(
    "navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist".split()
)
_NAMED = frozenset(
    "nav navbar navigation menu sidebar sidenav breadcrumb breadcrumbs footer masthead topbar cookie cookies consent gdpr"
    " banner ad ads advert advertisement promo sponsor sponsored social share sharing related recommended newsletter"
    " subscribe signup comment comments disqus pagination pager toc popup modal overlay toolbar editsection noprint"
    " navbox linenos lineno linenumber gutter".split()
)
"""What furniture is called in classes and ids: as a whole, or in its first or last piece."""
_NAMED_OUTSIDE = frozenset("header top bottom".split())
"""The same, but only outside an article: inside one this holds its title or its last words."""
_NAMED_IN_TEXT = frozenset("editsection linenos lineno linenumber".split())
"""What is no part of a line it stands in; other names there are for the looks, such as `comment` in code."""
_SAYING_OTHERWISE = frozenset("has with without no is js not".split())
_CALLOUT = re.compile(r"note|warning|tip|admonition|callout|info|important|caution|danger|hint|footnote|quote")
_PIECES = re.compile(r"[-_]+")
_CONTENT = frozenset(["main", "article"])
_LISTS = frozenset("div section ul ol table td p dl".split())

_SMALL = 0.4
"""Share of a page's text up to which something may be furniture by its name alone."""
_LINKS = 0.7
"""Share of links in a text from which on it is for finding one's way."""
_INDEX = 0.6
"""The same for a whole page: one that is a list of links is about these."""
_FEW_LETTERS = 600
"""Letters outside links that a form may have; more is a page that stands in a form as a whole."""
_MOST = 0.6
"""Share of a page's text that is not furniture, whatever it is called."""
_FEW_WORDS, _LITTLE = 60, 0.05
"""Letters, and share of the page's, that may stand beside the content without being missed; all of them together."""
_SOME_PROSE = 100
"""Letters in paragraphs from which on what stands between them belongs to them."""
_TELLING = frozenset("h1 h2 h3 h4 h5 h6 pre table".split())
_PROSE = frozenset("p pre blockquote b i em strong font span code".split())
_HOLDING = frozenset("div section article main body center td tr tbody table form span font".split())
_ENOUGH = 0.25
"""Share of the text that what is marked as the main content must hold: beside it there may be much else."""


def main_of(html: Element) -> tuple[Element, Element | None]:
    """The element that holds the main content, and the page's title where it stands outside of that.

    The furniture is taken out of the tree.
    """
    body = body_of(html)
    titles = [element for element in body.elements(_FURNITURE) if element.tag == "h1"]
    _prune(body)
    found = _marked(body) or _tightest(body)
    outside = found.titles == 0 and len(titles) == 1 and titles[0].chars > 0
    return found, titles[0] if outside else None


def body_of(html: Element) -> Element:
    """What is shown of a page, furniture and all."""
    return next((child for child in html.children if isinstance(child, Element) and child.tag == "body"), html)


def _prune(body: Element) -> None:
    """Take the furniture out; where names would take most of the text, they mean something else on this page."""
    found, named = _furniture(body, by_name=True)
    if named > _MOST * (body.chars - body.linked):
        found, _ = _furniture(body, by_name=False)
    for element, unwanted in found:
        element.drop(unwanted)


def _furniture(body: Element, *, by_name: bool) -> tuple[list[tuple[Element, list[Element]]], int]:
    """Elements with those of their children that are furniture, and how many letters are so by their name alone."""
    whole, index = body.chars, body.linked > _INDEX * body.chars
    found: list[tuple[Element, list[Element]]] = []
    letters = 0
    stack = [(body, False)]
    while stack:
        element, inside = stack.pop()
        inside = inside or element.tag in _CONTENT or element.get("role") == "main"
        unwanted: list[Element] = []
        loose = not inside and not index and not _is_text(element)
        for child in element.children:
            if not isinstance(child, Element):
                continue
            if _is_furniture(child, inside, whole) or (loose and _is_way_finding(child, whole)):
                unwanted.append(child)
            elif by_name and _is_small(child, whole) and _is_named(child, inside):
                unwanted.append(child)
                letters += child.chars - child.linked
            else:
                stack.append((child, inside))
        if unwanted:
            found.append((element, unwanted))
    return found, letters


def _is_furniture(element: Element, inside: bool, whole: int) -> bool:
    if element.tag in ("body", "main", "article"):
        return False
    if element.tag in _FURNITURE:
        return not _is_part_of_the_text(element, inside)
    if element.tag == "form":
        return element.chars - element.linked < _FEW_LETTERS and element.chars <= _SMALL * whole
    if element.get("role") in _ROLES or element.tag == "header":
        return not inside or element.tag != "header"
    return False


def _is_small(element: Element, whole: int) -> bool:
    """Whether it may be furniture by its name: it neither holds much nor the page's title."""
    held = element.tag in _CONTENT or element.titles > 0
    return not held and element.chars <= _SMALL * whole


def _is_part_of_the_text(element: Element, inside: bool) -> bool:
    """A quotation's author, or a remark that is set apart."""
    if element.tag == "footer":
        return element.parent is not None and element.parent.tag == "blockquote"
    named = f"{element.get('class')} {element.get('role')}".lower()
    return element.tag == "aside" and inside and bool(_CALLOUT.search(named))


def _is_named(element: Element, inside: bool) -> bool:
    names = _NAMED if inside else _NAMED | _NAMED_OUTSIDE
    if element.tag not in BLOCKS:
        names = _NAMED_IN_TEXT
    for name in f"{element.get('class')} {element.get('id')}".lower().split():
        pieces = _PIECES.split(name.strip("-_"))
        known = {name, pieces[0], pieces[-1]} & names
        if known and pieces[0] not in _SAYING_OTHERWISE:
            return True
    return False


def _is_way_finding(element: Element, whole: int) -> bool:
    """Whether it is little but links, several of them."""
    small = element.chars <= _SMALL * whole
    return small and element.tag in _LISTS and element.links >= 3 and element.linked > _LINKS * element.chars


def _marked(body: Element) -> Element | None:
    """The element that the page itself says is its main content, if it holds enough of it."""
    enough = _ENOUGH * (body.chars - body.linked)
    marked = [element for element in body.elements() if element.tag == "main" or element.get("role") == "main"]
    articles = [element for element in body.elements(frozenset(["article"])) if element.tag == "article"]
    for found in (marked, articles if len(articles) == 1 else []):
        best = max(found, key=lambda element: element.chars, default=None)
        if best is not None and best.chars and best.chars - best.linked >= enough:
            return best
    return None


def _tightest(root: Element) -> Element:
    """The innermost element that holds all of the text but for a few words such as the name of the site."""
    index = root.linked > _INDEX * root.chars
    spare = min(_FEW_WORDS, _LITTLE * _letters(root, index=index))
    while root.chars:
        inside = [child for child in root.children if isinstance(child, Element)]
        best = max(inside, key=lambda child: child.chars, default=None)
        if best is None or best.tag not in _HOLDING or (best.tag == "table" and not is_layout(best)):
            break
        beside = [child for child in root.children if child is not best]
        spare -= sum(_letters(child, index=index) for child in beside)
        if spare < 0 or any(_tells(child) for child in beside):
            break
        root = best
    return root


def _letters(child: Element | str, *, index: bool) -> int:
    """Letters, those in links aside; of an index all."""
    if isinstance(child, str):
        return len(child.strip())
    return child.chars if index else child.chars - child.linked


def _tells(child: Element | str) -> bool:
    return isinstance(child, Element) and (child.tag in _TELLING or child.has(_TELLING))


def _is_text(element: Element) -> bool:
    """Whether paragraphs stand right in it, so that lists of links between them belong to the text."""
    prose = (
        len(child.strip()) if isinstance(child, str) else child.chars - child.linked
        for child in element.children
        if isinstance(child, str) or child.tag in _PROSE
    )
    return sum(prose) >= _SOME_PROSE
