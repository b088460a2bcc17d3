"""What a web page is about: its main content, without navigation, banners, forms and other furniture."""

import re
from collections.abc import Callable, Iterator
from itertools import takewhile

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
    " navbox linenos lineno linenumber gutter rail recirc recirculation trending popular similar taboola outbrain sns"
    " commentlist respond".split()
)
"""What furniture is called in classes and ids: as a whole, or in its first or last piece."""
_NAMED_ANYWHERE = frozenset(
    "related recirculation newsletter taboola outbrain sponsored sidebar breadcrumb cookie".split()
)
"""The same in any of its pieces, as in `two-related-articles`."""
_NAMED_OUTSIDE = frozenset("header top bottom".split())
"""The same, but only outside an article: inside one this holds its title or its last words."""
_NAMED_IN_TEXT = frozenset("editsection linenos lineno linenumber".split())
"""What is no part of a line it stands in; other names there are for the looks, such as `comment` in code."""
_SAYING_OTHERWISE = frozenset("has with without no is js not".split())
_CALLOUT = re.compile(r"note|warning|tip|admonition|callout|info|important|caution|danger|hint|footnote|quote")
_PIECES = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")
_CONTENT = frozenset(["main", "article"])
_BODY = frozenset("articleBody entry-content e-content".split())
"""What an article's text is called by schema.org and by microformats."""
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
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
"""Never furniture by their names: these are made of their own words, as in `id="writing-comments"`."""
_TELLING = _HEADINGS | {"pre", "table"}
_PROSE = frozenset("p pre blockquote b i em strong font span code".split())
_HOLDING = frozenset("div section article main body center td tr tbody table form span font".split())
_INTRODUCED = 1.5
"""Letters of an article's text with its introduction, for each of the text alone; more is something else above it."""
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
    stack = [(body, False, index)]
    while stack:
        element, inside, tied = stack.pop()
        inside = inside or element.tag in _CONTENT or element.get("role") == "main"
        tied = tied or inside or _is_text(element)
        unwanted: list[Element] = []
        for child in element.children:
            if not isinstance(child, Element):
                continue
            if _is_furniture(child, inside, whole) or (not tied and _is_way_finding(child, whole)):
                unwanted.append(child)
            elif by_name and _is_small(child, whole) and _is_named(child, inside):
                unwanted.append(child)
                letters += child.chars - child.linked
            else:
                stack.append((child, inside, index or (tied and _is_list_alone(child))))
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
    if element.tag in _HEADINGS:
        return False
    names, anywhere = _NAMED if inside else _NAMED | _NAMED_OUTSIDE, _NAMED_ANYWHERE
    if element.tag not in BLOCKS:
        names, anywhere = _NAMED_IN_TEXT, frozenset()
    for name in f"{element.get('class')} {element.get('id')}".split():
        pieces = [piece.lower() for piece in _PIECES.split(name.strip("-_"))]
        known = {name.lower(), pieces[0], pieces[-1]} & names or anywhere.intersection(pieces)
        if known and pieces[0] not in _SAYING_OTHERWISE:
            return True
    return False


def _is_way_finding(element: Element, whole: int) -> bool:
    """Whether it is little but links, several of them."""
    small = element.chars <= _SMALL * whole
    return small and element.tag in _LISTS and element.links >= 3 and element.linked > _LINKS * element.chars


def _is_list_alone(element: Element) -> bool:
    """Whether it only wraps a list, which then stands where its wrapper does."""
    return all(
        child.tag in ("ul", "ol") if isinstance(child, Element) else not child.strip() for child in element.children
    )


def _marked(body: Element) -> Element | None:
    """The element that the page itself says is its main content, if it holds enough of it."""
    enough = _ENOUGH * (body.chars - body.linked)
    bodies, articles = _outermost(body, _is_body), _outermost(body, lambda element: element.tag == "article")
    mains = _outermost(body, lambda element: element.tag == "main" or element.get("role") == "main")
    for found in (bodies if len(bodies) == 1 else [], mains, articles if len(articles) == 1 else []):
        best = max(found, key=lambda element: element.chars, default=None)
        most = _MOST * sum(element.chars - element.linked for element in found)
        if best is not None and best.chars and best.chars - best.linked >= max(enough, most):
            return _introduced(body, best) if found is bodies else best
    return None


def _introduced(body: Element, text: Element) -> Element:
    """An article's text with what leads into it: from the title above on, or from where the article begins.

    That much above a text is no introduction where it is long: then it is the text alone.
    """
    above = list(takewhile(lambda element: element is not text, body.elements()))
    title = next((element for element in reversed(above) if element.tag == "h1"), None)
    around = (
        {*title.above()} if title else {one for one in above if one.tag == "article" or "itemscope" in one.attributes}
    )
    root = next((element for element in text.above() if element in around), text)
    cut = [*_beside(root, title or root, after=False), *_beside(root, text, after=True)]
    dropped = sum(child.chars for _, children in cut for child in children)
    if text.titles or root.chars - dropped > _INTRODUCED * text.chars:
        return text
    for element, children in cut:
        element.drop(children)
    return root


def _beside(root: Element, edge: Element, *, after: bool) -> Iterator[tuple[Element, list[Element]]]:
    """Elements from one up to its root, with those of their children that stand before it, or after it."""
    while edge is not root and edge.parent is not None:
        inside = [child for child in edge.parent.children if isinstance(child, Element)]
        at = next(number for number, child in enumerate(inside) if child is edge)
        yield edge.parent, inside[at + 1 :] if after else inside[:at]
        edge = edge.parent


def _outermost(body: Element, wanted: Callable[[Element], bool]) -> list[Element]:
    """The elements of a kind, without those inside one another."""
    found: list[Element] = []
    stack = [body]
    while stack:
        for child in stack.pop().children:
            if isinstance(child, Element):
                (found if wanted(child) else stack).append(child)
    return found


def _is_body(element: Element) -> bool:
    """Whether it says that it is an article's text, in the words of schema.org or of microformats."""
    named = f"{element.get('itemprop')} {element.get('class')}".split()
    return element.tag in BLOCKS and not _BODY.isdisjoint(named)


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
