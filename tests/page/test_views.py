"""Every view can be read by everybody: axe finds nothing wrong, in both themes, wide and narrow."""

import pytest

from tests.page.browser import COLOURS, NARROW, WIDE, Site, unreadable
from tests.page.views import VIEWS, View, furnish, measure


@pytest.fixture(scope="module")
def furnished(site: Site) -> Site:
    """A server with something on it."""
    furnish(site)
    measure(site, questions=8)
    return site


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_axe_finds_nothing_wrong(furnished: Site, view: View) -> None:
    login = "" if view.logged_in else None
    with furnished.visit(view.path, login=login, expected=("401",)) as page:
        view.prepare(page)
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme="light")
            assert unreadable(page) == [], f"light, {size['width']} px"
            page.emulate_media(color_scheme="dark")
            assert unreadable(page, *COLOURS) == [], f"dark, {size['width']} px"
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= NARROW["width"], "the page can be pushed sideways"
        page.set_viewport_size({"width": 320, "height": WIDE["height"]})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
