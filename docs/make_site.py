"""Builds the documentation as a site that works from a folder, without a network: `python docs/make_site.py [FOLDER]`.

The pages are those that `docs/README.md` links; its headings are the groups of the navigation.
"""

import html
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "docs" / "README.md"
ASSETS = ROOT / "docs" / "site_assets"
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Link:
    """A page in the navigation: its group, its title there, and its Markdown file."""

    group: str
    title: str
    source: Path

    @property
    def target(self) -> str:
        """The path of the page in the site."""
        return page_path(self.source)


def page_path(source: Path) -> str:
    """The path in the site for a Markdown file: `docs/http.md` → `http.html`, `training/README.md` → `training.html`."""
    if source == INDEX:
        return "index.html"
    relative = source.relative_to(ROOT)
    parts = [part for part in relative.with_suffix("").parts if part != "docs"]
    if parts[-1] == "README" and len(parts) > 1:
        parts.pop()
    return "-".join(parts).lower() + ".html"


def navigation() -> list[Link]:
    """The pages in the order of the index."""
    links, group = [], ""
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = line[3:]
        for title, target in re.findall(r"\[([^\]]+)\]\(([^)]+\.md)\)", line):
            links.append(Link(group, title, (INDEX.parent / target).resolve()))
    return links


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its title, its body as HTML, and its sections for the search (anchor, heading, text)."""

    title: str
    body: str
    sections: list[tuple[str, str, str]]


def render(source: Path, pages: dict[Path, str]) -> Page:
    """Render a Markdown file; links to other pages lead to their place in the site."""
    tokens = _MARKDOWN.parse(source.read_text(encoding="utf-8"))
    title, sections, anchors = "", list[tuple[str, str, str]](), set[str]()
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = _plain(tokens[number + 1])
            anchor = _unique(slug(heading), anchors)
            token.attrSet("id", anchor)
            title = title or heading
            sections.append((anchor, heading, ""))
        elif token.type in ("inline", "fence", "code_block") and sections:
            anchor, heading, text = sections[-1]
            sections[-1] = anchor, heading, f"{text} {_plain(token)}".strip()
        for child in token.children or ():
            _relink(child, source, pages)
        if token.type == "html_block":
            token.content = re.sub(
                r'(src|srcset)="([^"]+)"', lambda m: f'{m[1]}="{_file_target(m[2], source)}"', token.content
            )
    return Page(title, _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}), sections)


def _plain(token: Token) -> str:
    if token.type != "inline":
        return token.content
    return "".join(
        child.content for child in token.children or () if child.type in ("text", "code_inline", "softbreak")
    )


def _unique(anchor: str, known: set[str]) -> str:
    found, number = anchor, 0
    while found in known:
        number += 1
        found = f"{anchor}-{number}"
    known.add(found)
    return found


def _relink(token: Token, source: Path, pages: dict[Path, str]) -> None:
    """Point a link or an image at its place in the site; a file that is no page becomes plain text."""
    if token.type == "image":
        token.attrSet("src", _file_target(str(token.attrGet("src")), source))
    if token.type != "link_open":
        return
    address = urlsplit(str(token.attrGet("href")))
    if address.scheme or not address.path:
        return
    target = (source.parent / address.path).resolve()
    if target in pages:
        token.attrSet("href", pages[target] + (f"#{address.fragment}" if address.fragment else ""))
    elif target.suffix in (".webp", ".svg", ".png"):
        token.attrSet("href", _file_target(address.path, source))
    else:
        token.attrSet("href", f"files/{target.relative_to(ROOT)}")


def _file_target(address: str, source: Path) -> str:
    if urlsplit(address).scheme:
        return address
    return f"files/{(source.parent / address).resolve().relative_to(ROOT)}"


def build(folder: Path) -> list[str]:
    """Write the site into an empty or earlier folder; return the paths of its pages."""
    links = navigation()
    pages = {INDEX: "index.html"} | {link.source: link.target for link in links}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    entries = []
    for source, target in pages.items():
        page = render(source, pages)
        (folder / target).write_text(_document(page, target, links), encoding="utf-8")
        entries += [
            {"p": target, "a": a, "t": page.title, "h": heading, "x": text} for a, heading, text in page.sections
        ]
    (folder / "search-index.js").write_text(
        f"window.SEARCH_INDEX = {json.dumps(entries, ensure_ascii=False)};\n", encoding="utf-8"
    )
    for asset in ASSETS.iterdir():
        shutil.copy(asset, folder / asset.name)
    _copy_files(folder)
    return list(pages.values())


def _copy_files(folder: Path) -> None:
    """Copy the files that pages show or link."""
    wanted = set()
    for page in folder.glob("*.html"):
        wanted |= set(re.findall(r'(?:src|srcset|href)="files/([^"#]+)"', page.read_text(encoding="utf-8")))
    for name in wanted:
        (folder / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "files" / name)


def _document(page: Page, target: str, links: list[Link]) -> str:
    groups: dict[str, list[str]] = {}
    for link in links:
        here = ' aria-current="page"' if link.target == target else ""
        groups.setdefault(link.group, []).append(
            f'<li><a href="{link.target}"{here}>{html.escape(link.title)}</a></li>'
        )
    menu = "".join(f"<h2>{html.escape(group)}</h2><ul>{''.join(items)}</ul>" for group, items in groups.items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(page.title)} · pincite</title>
<link rel="stylesheet" href="site.css">
<script defer src="search-index.js"></script>
<script defer src="search.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="index.html">pincite</a>
<label for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" aria-controls="results">
</header>
<ol id="results" aria-live="polite" hidden></ol>
<div class="columns">
<details class="menu" open><summary>Contents</summary><nav aria-label="Pages">{menu}</nav></details>
<main id="content">
{page.body}
</main>
</div>
</body>
</html>
"""


def main(arguments: list[str]) -> None:
    """Build the site and print where it is."""
    folder = Path(arguments[0]) if arguments else ROOT / "build" / "site"
    pages = build(folder)
    sys.stdout.write(f"{len(pages)} pages; open {folder / 'index.html'}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
