"""Attack texts on the page, drawn in a real browser: scripts that run, requests that leave, and injected markup."""

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page

from pincite.api.routes import web_ui as served
from pincite.store.embedded.server import EmbeddedServer
from tests.api.live_server import LiveServer
from tests.hostile.attacks import attacks
from tests.page.attacks import ATTACKS, LEAKS
from tests.page.browser import Site, launched, watch
from tests.page.drawing import acting, show

COLUMNS = ("set", "texts", "became more than words", "ran or left")


def main() -> None:
    """Print a line for each set; whatever got through is named below, and makes it fail."""
    parser = argparse.ArgumentParser(prog="./run bench page", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of sets, each a .jsonl file of {text}; without it our own")
    parser.add_argument("--at-most", type=int, default=None, help="take only so many of each set")
    chosen = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    found = run(chosen)
    for wrong in found:
        print(wrong)
    raise SystemExit(1 if found else 0)


def run(chosen: argparse.Namespace) -> list[str]:
    """Draw every text; what went wrong."""
    with (
        tempfile.TemporaryDirectory(prefix="pincite-page-") as folder,
        EmbeddedServer.open(Path(folder) / "postgres") as server,
        LiveServer(Path(folder) / "data", **{"database.url": server.url}) as door,
        launched() as browser,
        Site(door, browser).context() as context,
    ):
        page = context.new_page()
        told = watch(page, door.url)
        page.goto(f"{door.url}/ask")
        page.locator("[data-ask]").wait_for()
        return [wrong for name, texts in sets(chosen) for wrong in drawn(page, told, name, texts[: chosen.at_most])]


def drawn(page: Page, told: list[str], name: str, texts: list[str]) -> list[str]:
    """One set, each text as an answer and as a document."""
    base, more, before = f"/assets/{served.release_digest()}", [], len(told)
    for cites in (True, False):
        for text, made in zip(texts, show(page, base, *texts, cites=cites), strict=True):
            more += [f"{name}: {what} ({text[:80]!r})" for what in acting(made)]
    page.wait_for_timeout(500)
    ran = told[before:] + ["something ran"] * bool(page.evaluate("window.attacked"))
    print(f"| {name} | {len(texts)} | {len(more)} | {len(ran)} |", flush=True)
    return more + [f"{name}: {what}" for what in ran]


def sets(chosen: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """The sets of the folder by name, and our own."""
    for file in sorted(chosen.data.glob("*.jsonl")) if chosen.data else ():
        texts = [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()]
        yield file.stem, list(dict.fromkeys(texts))
    yield "our own", [*ATTACKS, *LEAKS, *attacks(1000)]


if __name__ == "__main__":
    main()
