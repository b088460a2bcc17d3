"""Web pages beside other libraries: what each reader keeps of them, what it leaves out, and how long it takes.

    ./run bench webpages --data DIR [DIR ...] [--out DIR]

Reads all web pages of each folder and tells how much of their text, headings, items of lists, rows of tables, code and
links came out as such, and how much of their navigation, footers and cookie banners did not; then which ways of hiding
words each reader sees through. `benchmarks/_pages.py` says how a folder tells what should come out; a folder that tells
nothing is judged by what its pages mark as their content. `--out` writes every text that came out, to be looked at.

The others are no dependencies. Who is not installed is left out; this runs all of them:

    uv run --with trafilatura==2.3.1 --with html-to-markdown==3.19.0 --with markitdown==0.1.8 \\
        python -m benchmarks.webpages --data DIR
"""

import argparse
import io
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median

from benchmarks._hidden import HIDDEN, SEEN, judged
from benchmarks._pages import KINDS, Page, Tally, characters, pages_of, weigh
from pincite.errors import Unreadable
from pincite.parsers.html import Options, make_parser

Read = Callable[[bytes], str]
COLUMNS = (
    "set", "reader", "pages", "text kept", "text that belongs", "wanted phrases", "unwanted left out", *KINDS,
    "furniture left out", "ms (median)", "ms (most)",
)  # fmt: skip


def ours() -> Read:
    """The product's own reader; a page it refuses has no text."""
    parser = make_parser(Options())

    def read(data: bytes) -> str:
        try:
            return parser.parse(data).text
        except Unreadable:
            return ""

    return read


def trafilatura() -> Read:
    """Trafilatura, asked for all the structure it can tell."""
    extract = import_module("trafilatura").extract
    asked = {"output_format": "markdown", "include_links": True, "include_formatting": True, "include_comments": False}
    return lambda data: extract(data, **asked) or ""


def html_to_markdown() -> Read:
    """html-to-markdown at its strongest against furniture; it takes text, which it gets in the right charset."""
    library = import_module("html_to_markdown")
    cleaning = library.PreprocessingOptions(preset="aggressive")
    options = library.ConversionOptions(preprocessing=cleaning, extract_metadata=False, skip_images=True)
    return lambda data: library.convert(characters(data), options).content or ""


def markitdown() -> Read:
    """Markitdown as it comes."""
    reader = import_module("markitdown").MarkItDown()
    return lambda data: reader.convert_stream(io.BytesIO(data), file_extension=".html").text_content


READERS: dict[str, Callable[[], Read]] = {
    "pincite": ours, "trafilatura": trafilatura, "html-to-markdown": html_to_markdown, "markitdown": markitdown,
}  # fmt: skip


def installed(names: Sequence[str]) -> dict[str, Read]:
    """Those readers that are here; who is not is told."""
    found: dict[str, Read] = {}
    for name in names:
        try:
            found[name] = READERS[name]()
            print(f"{name} {version(name)}", file=sys.stderr)
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    return found


def measure(pages: Sequence[Page], name: str, read: Read, out: Path | None) -> Tally:
    """What one reader makes of a set."""
    tally = Tally()
    read(pages[0].data)
    for page in pages:
        began = time.process_time()
        try:
            text = read(page.data)
        except Exception as error:  # another's reader may fail in any way: the page then has no text
            print(f"{name} on {page.name}: {error!r}"[:200], file=sys.stderr)
            text = ""
        tally.ms.append((time.process_time() - began) * 1000)
        weigh(page, text, tally)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{page.name[:80]}.{name}.md").write_text(text, encoding="utf-8", errors="replace")
    return tally


def line(folder: str, name: str, tally: Tally) -> str:
    """A line of the table."""
    shares = [tally.share(what) for what in ("kept", "belongs", "wanted", "unwanted", *KINDS, "furniture")]
    cells = [folder, name, str(len(tally.ms)), *("–" if one is None else f"{one:.3f}" for one in shares)]
    return f"| {' | '.join(cells)} | {median(tally.ms):.1f} | {max(tally.ms):.0f} |"


def hidden(readers: dict[str, Read]) -> str:
    """A table of the ways to hide words, and whether each reader leaves them out; then of words that can be seen."""
    rows = [f"| | {' | '.join(readers)} |", f"|---|{'---|' * len(readers)}"]
    for pieces, right in ((HIDDEN, False), (SEEN, True)):
        columns = [dict(judged(pieces, read)) for read in readers.values()]
        for way in pieces:
            told = ["shown" if column[way] else "left out" for column in columns]
            marked = [
                word if column[way] is right else f"**{word}**" for word, column in zip(told, columns, strict=True)
            ]
            rows.append(f"| {way} | {' | '.join(marked)} |")
        rights = [f"{sum(column[way] is right for way in pieces)} of {len(pieces)}" for column in columns]
        rows.append(f"| *right, of words that {'can' if right else 'cannot'} be seen* | {' | '.join(rights)} |")
    return "\n".join(rows)


def main() -> None:
    """Read all pages with all readers and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="folders of pages, each a set")
    parser.add_argument("--readers", nargs="*", choices=READERS, default=list(READERS))
    parser.add_argument("--out", type=Path, help="where to write what came out")
    chosen = parser.parse_args()
    readers = installed(chosen.readers)
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for folder in chosen.data:
        pages = pages_of(folder)
        for name, read in readers.items() if pages else ():
            out = chosen.out / folder.name if chosen.out else None
            print(line(folder.name, name, measure(pages, name, read, out)), flush=True)
    print(f"\n{hidden(readers)}")


if __name__ == "__main__":
    main()
