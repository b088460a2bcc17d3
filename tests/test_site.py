"""The documentation as a site: every page is reached, every link leads somewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.test_docs import ROOT, maker

site = maker("make_site")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site") / "site"
    site.build(folder)
    return folder


class Addresses(HTMLParser):
    """The links, files and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.links += [given[name] for name in ("href", "src", "srcset") if name in given]
        self.anchors |= {given["id"]} if "id" in given else set()


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[str, Addresses]:
    return {page.name: Addresses(page.read_text(encoding="utf-8")) for page in built.glob("*.html")}


def test_every_page_of_the_documentation_is_in_the_site() -> None:
    listed = {link.source for link in site.navigation()}
    assert set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "README.md"} <= listed


def test_every_link_leads_to_a_page_an_anchor_or_a_file(built: Path, pages: dict[str, Addresses]) -> None:
    broken = []
    for name, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            missing = target and not (built / target).is_file()
            page_name = target or name
            if missing or (anchor and page_name in pages and anchor not in pages[page_name].anchors):
                broken.append(f"{name}: {link}")
    assert broken == []


def test_every_page_is_reached_from_the_first(pages: dict[str, Addresses]) -> None:
    reached, waiting = set[str](), ["index.html"]
    while waiting:
        name = waiting.pop()
        if name in pages and name not in reached:
            reached.add(name)
            waiting += [link.partition("#")[0] for link in pages[name].links]
    assert reached == set(pages)


def test_the_site_loads_nothing_from_elsewhere(built: Path) -> None:
    loaded = re.compile(r'<(?:script|link|img|source)[^>]+(?:src|href|srcset)="(https?:)?//')
    assert [page.name for page in built.glob("*.html") if loaded.search(page.read_text(encoding="utf-8"))] == []
