"""Versions: the releases of a documentation added one after the other, queried as of their time, compared, removed.

    ./run bench versions --data DIR [--pages N]

DIR holds `haystack-docs/documents.tar.gz` with a folder `documents/RELEASE/…` for each release, the oldest first by
name. Of every page in every release one line that occurs in no other release is searched for: it must be found as of
its own release, and of no other. After all pages are removed, nothing may be found as of any time.
"""

import argparse
import asyncio
import re
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from pincite import AsyncPincite
from pincite.core.documents.document import Upload
from pincite.core.query.question import Filters, Question

WORDS = 5
"""A line of fewer words says too little to be told from others; the rule below a table's header has none."""
WORD = re.compile(r"[^\W\d_]{2,}")
LONGEST = 300
"""Characters of a line that is asked for, at most."""
FRONT = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
"""What a page says about itself is not part of its text."""

Release = Mapping[str, str]
"""The text of each page, by its path."""


@dataclass(frozen=True)
class Line:
    """A line that one release of a page has and no release of any page has else."""

    page: str
    release: int
    text: str


def main() -> None:
    """Print a line of a table: how many were found where they should be, and how many where they should not."""
    parser = argparse.ArgumentParser(prog="./run bench versions", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with haystack-docs/documents.tar.gz")
    parser.add_argument("--pages", type=int, default=40, help="pages of each release (40)")
    chosen = parser.parse_args()
    names, releases = read_releases(chosen.data / "haystack-docs" / "documents.tar.gz", chosen.pages)
    with tempfile.TemporaryDirectory(prefix="pincite-versions-") as folder:
        asyncio.run(run(Path(folder), names, releases))


def read_releases(path: Path, pages: int) -> tuple[list[str], list[Release]]:
    """The releases by name, each with the same pages: those that all have, evenly spread."""
    found: dict[str, dict[str, str]] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                _, release, *rest = PurePosixPath(member.name).parts
                found.setdefault(release, {})["/".join(rest)] = file.read().decode()
    names = sorted(found, key=lambda name: [int(part) for part in name.split(".")])
    common = sorted(set.intersection(*(set(found[name]) for name in names)))
    kept = common[:: max(1, len(common) // pages)][:pages]
    return names, [{page: found[name][page] for page in kept} for name in names]


def own_lines(releases: Sequence[Release]) -> Iterator[Line]:
    """Of each page in each release the longest line that stands nowhere else."""
    for number, release in enumerate(releases):
        elsewhere = [text for n, one in enumerate(releases) if n != number for text in one.values()]
        others = " ".join(" ".join(text.split()) for text in elsewhere)
        for page, text in release.items():
            lines = [" ".join(line.split())[:LONGEST] for line in FRONT.sub("", text).splitlines()]
            own = [line for line in lines if len(WORD.findall(line)) >= WORDS and line not in others]
            if own:
                yield Line(page, number, max(own, key=len))


async def run(data: Path, names: Sequence[str], releases: Sequence[Release]) -> None:
    """Add, ask, compare, remove."""
    lines = list(own_lines(releases))
    async with AsyncPincite(data) as pincite:
        pincite.services.workers.start()
        times, ids = list[datetime](), dict[str, str]()
        for release in releases:
            ids |= await _add(pincite, release)
            times.append(await _now(pincite))
        missed = [line for line in lines if not await _finds(pincite, line, times[line.release])]
        elsewhere = [
            line
            for line in lines
            for number, time in enumerate(times)
            if number != line.release and await _finds(pincite, line, time)
        ]
        unseen = [line for line in lines if not await _is_shown(pincite, line, ids[line.page], len(releases))]
        for document in ids.values():
            await pincite.remove(document)
        stale = [line for line in lines for time in (None, *times) if await _finds(pincite, line, time)]
    print(
        f"| {', '.join(names)} | {len(ids)} pages | {len(lines) - len(missed)} of {len(lines)} found as of their release | "
        f"{len(elsewhere)} found as of another | {len(lines) - len(unseen)} of {len(lines)} shown by diff | "
        f"{len(stale)} found after removal |"
    )
    for what, wrong in (("not found", missed), ("found elsewhere", elsewhere), ("not in diff", unseen)):
        for line in wrong:
            print(f"{what}: {names[line.release]} {line.page}: {line.text}")


async def _add(pincite: AsyncPincite, release: Release) -> dict[str, str]:
    ids = {}
    for page, text in release.items():
        path = PurePosixPath(page)
        upload = Upload(f"{path.stem}.md", text.encode(), folder=str(path.parent).strip("."))
        ids[page] = (await pincite.documents.upload(upload)).document.id
    await pincite.documents.wait(list(ids.values()))
    return ids


async def _now(pincite: AsyncPincite) -> datetime:
    [[(moment,)]] = await pincite.services.database.run_batch("", "select clock_timestamp()", values={})
    assert isinstance(moment, datetime)
    return moment


async def _finds(pincite: AsyncPincite, line: Line, time: datetime | None) -> bool:
    """Whether a search for the line finds it, word for word, in the page it stands in."""
    found = await pincite.search(Question(line.text, filters=Filters(as_of=time)))
    return any(line.text in " ".join(hit.chunk.text.split()) for hit in found.hits)


async def _is_shown(pincite: AsyncPincite, line: Line, document: str, releases: int) -> bool:
    """Whether the difference to the release beside it shows the line: added since the one before, or removed since."""
    versions = [one.id for one in reversed(await pincite.services.library.versions(await pincite.scope(), document))]
    if len(versions) < releases:  # a page that did not change between two releases has fewer
        return True
    before, after, kind = (line.release - 1, line.release, "added") if line.release else (0, 1, "removed")
    found = await pincite.documents.difference(document, versions[before], versions[after])
    changed = (" ".join(one.text.split()) for hunk in found.hunks for one in hunk.lines if one.kind == kind)
    return any(line.text in text for text in changed)


if __name__ == "__main__":
    main()
