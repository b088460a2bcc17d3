"""A library made for the occasion: the documents of a set, thrown away afterwards or kept for the next time."""

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

DONE = "evaluation.json"
"""Written into a kept library when all its documents are in."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Files by name to make a library of; `fingerprint` tells them from others."""

    name: str
    files: Mapping[str, str]
    fingerprint: str


@asynccontextmanager
async def library_of(
    corpus: Corpus, variant: Variant, *, keep: Path | None, report: Report
) -> AsyncIterator[tuple[AsyncPincite, tuple[str, ...]]]:
    """A library with these files, indexed as the variant says, and what could not be taken in.

    It has a database of its own, whatever the settings say: nobody's documents ever meet a question set.
    """
    if keep is not None:
        place = keep / f"{corpus.name}-{_key(corpus, variant)}"
        async with _opened(place, variant.settings) as pincite:
            yield pincite, await _filled(pincite, corpus, place, report)
        return
    with tempfile.TemporaryDirectory(prefix="pincite-eval-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        async with _opened(place, variant.settings) as pincite:
            yield pincite, await _filled(pincite, corpus, place, report)


@asynccontextmanager
async def _opened(place: Path, settings: Settings) -> AsyncIterator[AsyncPincite]:
    own = with_values(settings, {"data": place, "database.url": None})
    async with AsyncPincite(settings=own) as pincite:
        yield pincite


async def _filled(pincite: AsyncPincite, corpus: Corpus, place: Path, report: Report) -> tuple[str, ...]:
    """Take in what is not there yet; what was begun before is finished."""
    done = place / DONE
    if done.exists():
        return tuple(json.loads(done.read_text(encoding="utf-8"))["left_out"])
    with tempfile.TemporaryDirectory(prefix="pincite-set-") as folder:
        files = []
        for name, text in corpus.files.items():
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            files.append(NamedFile(path, ""))
        left_out = _left_out(await pincite.add_all(Collected(files, [], 0), report=report))
    if len(left_out) == len(corpus.files):
        raise Invalid(f"none of the set's documents could be taken in; the first: {left_out[0]}")
    done.write_text(json.dumps({"set": corpus.name, "left_out": left_out}), encoding="utf-8")
    return tuple(left_out)


def _left_out(result: AddedAll) -> list[str]:
    failed = [one.document for one in result.added if one.document.error]
    refused = [f"{Path(path).name}: {error}" for path, error in result.refused]
    return [*refused, *(f"{document.name}: {document.error and document.error.message}" for document in failed)]


def _key(corpus: Corpus, variant: Variant) -> str:
    told = json.dumps([corpus.fingerprint, INDEX_FORMAT, variant.index], default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:12]
