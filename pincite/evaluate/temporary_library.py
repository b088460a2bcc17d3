"""A temporary library with the documents of a set; deleted afterwards, or kept for the next run."""

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.documents.document import AddedAll
from pincite.engine.app import AsyncPincite
from pincite.engine.index.tools import INDEX_FORMAT
from pincite.errors import Invalid
from pincite.evaluate.runner import Report
from pincite.evaluate.variants import Variant
from pincite.ingest.accept.collect import Collected, NamedFile

DONE_FILE = "evaluation.json"
"""File that marks a kept library as complete."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Files of a library by name, as text or as a path; `fingerprint` identifies their contents."""

    name: str
    files: Mapping[str, str | Path]
    fingerprint: str


@asynccontextmanager
async def temporary_library(
    corpus: Corpus, variant: Variant, *, keep: Path | None, report: Report
) -> AsyncIterator[tuple[AsyncPincite, tuple[str, ...]]]:
    """Open a library with these files, indexed with the settings of a variant; also yields the files that failed.

    It always has its own embedded database, so that a question set never mixes with users' documents.
    """
    if keep is not None:
        place = keep / f"{corpus.name}-{_key(corpus, variant)}"
        async with _open_library(place, variant.settings) as pincite:
            yield pincite, await _fill_library(pincite, corpus, place, report)
        return
    with tempfile.TemporaryDirectory(prefix="pincite-eval-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        async with _open_library(place, variant.settings) as pincite:
            yield pincite, await _fill_library(pincite, corpus, place, report)


@asynccontextmanager
async def _open_library(place: Path, settings: Settings) -> AsyncIterator[AsyncPincite]:
    own = with_values(settings, {"data": place, "database.url": None})
    async with AsyncPincite(settings=own) as pincite:
        yield pincite


async def _fill_library(pincite: AsyncPincite, corpus: Corpus, place: Path, report: Report) -> tuple[str, ...]:
    """Add the files unless the library is complete; an interrupted run is continued."""
    done = place / DONE_FILE
    if done.exists():
        return tuple(json.loads(done.read_text(encoding="utf-8"))["left_out"])
    with tempfile.TemporaryDirectory(prefix="pincite-set-") as folder:
        files = []
        for name, content in corpus.files.items():
            path = content if isinstance(content, Path) else Path(folder) / name
            if isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            files.append(NamedFile(path, name.rpartition("/")[0]))
        left_out = _failed_files(await pincite.add_all(Collected(files, [], []), report=report))
        await pincite.admin.wait_until_built(report=report)
    if len(left_out) == len(corpus.files):
        raise Invalid(f"no document of the set could be indexed; the first error: {left_out[0]}")
    done.write_text(json.dumps({"set": corpus.name, "left_out": left_out}), encoding="utf-8")
    return tuple(left_out)


def _failed_files(result: AddedAll) -> list[str]:
    failed = [one.document for one in result.added if one.document.error]
    refused = [f"{Path(path).name}: {error}" for path, error in result.refused]
    return [*refused, *(f"{document.name}: {document.error and document.error.message}" for document in failed)]


def _key(corpus: Corpus, variant: Variant) -> str:
    key = json.dumps([corpus.fingerprint, INDEX_FORMAT, variant.index], default=str)
    return hashlib.sha256(key.encode()).hexdigest()[:12]
