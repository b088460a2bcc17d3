"""Keeping documents in step with a folder: changed files are updated, removed ones removed, renamed ones moved."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Added, DocumentChange, Progress, Receipt
from pincite.engine.app import AsyncPincite
from pincite.errors import BadRequest, Conflict, NotFound, PinciteError, Unavailable
from pincite.ingest.accept.collect import Collected
from pincite.ingest.accept.folder_scan import FolderSnapshot, Stamp, WatchedFolder
from pincite.store.documents.watched_files import WatchedFile, WatchedFiles

log = logging.getLogger(__name__)

SCAN_S = 1.0
"""How often a folder is looked at, at most; a change is taken in when a second look finds it as it was."""
SCAN_PAUSE_FACTOR = 100
"""A look that takes long is followed by a pause so many times as long, so that watching costs a hundredth of a core."""

MAX_SCAN_PAUSE_S = 10.0
"""The longest such pause."""

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of a folder's files since the last time, by their paths below it."""

    added: Mapping[str, Added] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, Receipt] = field(default_factory=dict)
    refused: Mapping[str, PinciteError] = field(default_factory=dict)
    kept: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether something happened."""
        new = any(one.outcome != "unchanged" for one in self.added.values())
        return new or bool(self.moved or self.removed or self.refused or self.kept)


class FolderSync:
    """Keeps the documents that came from one folder in step with it; those that did not are left alone."""

    def __init__(self, pincite: AsyncPincite, root: WatchedFolder, *, keep_removed: bool = False) -> None:
        self._pincite = pincite
        self._root = root
        self._keep_removed = keep_removed
        self._origins = WatchedFiles(pincite.services.database, pincite.services.blobs.place)
        self._identity = root.identity()
        self._taken: dict[str, Stamp] = {}
        self._unsteady: dict[str, Stamp | None] = {}

    async def begin(self, report: Report | None = None) -> Changes:
        """Compare the whole folder with what the library has: what changed while nobody watched."""
        tree, scope = await asyncio.to_thread(self._root.look), await self._pincite.scope()
        known = await self._origins.below(scope, self._name)
        if known and not tree.files:
            log.warning("%s is empty; its %d documents are kept: remove them yourself", self._name, len(known))
            return Changes(kept=tuple(known))
        gone = [path for path in known if path not in tree.files and tree.knows(path)]
        return await self._take(scope, list(tree.files), gone, tree, report)

    async def step(self) -> Changes:
        """Look again, and take in what is as the look before found it; the rest is still being written."""
        try:
            tree, identity = await asyncio.to_thread(self._root.look), self._root.identity()
        except OSError as error:
            log.warning("%s cannot be looked at (%s); its documents are kept", self._name, error.strerror)
            return Changes()
        if identity != self._identity:
            log.warning("%s is another folder than before; its documents are kept as they are", self._name)
            return Changes()
        changed: dict[str, Stamp | None] = {p: s for p, s in tree.files.items() if self._taken.get(p) != s}
        changed |= {path: None for path in self._taken if path not in tree.files and tree.knows(path)}
        steady = {path: stamp for path, stamp in changed.items() if self._unsteady.get(path, ()) == stamp}
        self._unsteady = changed
        if not steady:
            return Changes()
        present = [path for path, stamp in steady.items() if stamp is not None]
        gone = [path for path, stamp in steady.items() if stamp is None]
        return await self._take(await self._pincite.scope(), present, gone, tree, None)

    async def watch(self, tell: Callable[[Changes], None]) -> None:
        """Go on until cancelled; a part that is down is waited for."""
        while True:
            begun = time.monotonic()
            try:
                changes = await self.step()
            except (Unavailable, BadRequest) as error:
                log.warning("the folder is looked at again shortly: %s", error)
            else:
                if changes.any:
                    tell(changes)
                    begun = time.monotonic()  # only looking is to be cheap
            await asyncio.sleep(min(max(SCAN_S, SCAN_PAUSE_FACTOR * (time.monotonic() - begun)), MAX_SCAN_PAUSE_S))

    @property
    def _name(self) -> str:
        return str(self._root.path)

    async def _take(
        self, scope: Scope, present: list[str], gone: list[str], tree: FolderSnapshot, report: Report | None
    ) -> Changes:
        known = await self._origins.below(scope, self._name)
        moved = await self._move(scope, [path for path in present if path not in known], gone, known)
        added, refused = await self._add([path for path in present if path not in moved], report)
        left = [path for path in gone if path in known and path not in moved.values()]
        removed = {} if self._keep_removed else await self._remove(left, known)
        self._taken |= {path: tree.files[path] for path in present}
        for path in gone:
            self._taken.pop(path, None)
        return Changes(added, moved, removed, refused, tuple(left) if self._keep_removed else ())

    async def _move(
        self, scope: Scope, fresh: Iterable[str], gone: Iterable[str], known: Mapping[str, WatchedFile]
    ) -> dict[str, str]:
        """Files that lie under another name now, with the name before: their documents go there and keep their ids."""
        lost = {path: known[path].checksum for path in gone if path in known}
        moved: dict[str, str] = {}
        for path in fresh if lost else ():
            checksum = await asyncio.to_thread(self._checksum, path)
            same = [old for old, was in lost.items() if was == checksum]
            old = next(
                (old for old in same if old.rpartition("/")[2] == path.rpartition("/")[2]), same[0] if same else ""
            )
            if old and await self._refiled(scope, known[old].document_id, path):
                moved[path] = old
                del lost[old]
        if moved:
            await self._origins.tell(scope, self._name, {new: known[old].document_id for new, old in moved.items()})
        return moved

    async def _refiled(self, scope: Scope, document_id: str, path: str) -> bool:
        file = self._root.file(path)
        try:
            await self._pincite.services.editor.refile(
                scope, document_id, DocumentChange(folder=file.folder, name=file.name)
            )
        except (Conflict, NotFound):  # another document has that name: then it is a new version of that one
            return False
        return True

    def _checksum(self, path: str) -> str:
        try:
            return hashlib.sha256((self._root.path / path).read_bytes()).hexdigest()
        except OSError:  # gone again, or not for us: whoever adds it will say so
            return ""

    async def _add(
        self, paths: Iterable[str], report: Report | None
    ) -> tuple[dict[str, Added], dict[str, PinciteError]]:
        by_place = {(file.folder, file.name): path for path in paths for file in [self._root.file(path)]}
        files = [self._root.file(path) for path in by_place.values()]
        result = await self._pincite.add_all(Collected(files, [], 0), report=report)
        added = {by_place[one.document.folder, one.document.name]: one for one in result.added}
        scope = await self._pincite.scope()  # the first of a folder may have made a realm for its readers
        await self._origins.tell(scope, self._name, {path: one.document.id for path, one in added.items()})
        below = {str(self._root.path / path): path for path in by_place.values()}
        refused = {below[full]: error for full, error in result.refused if (self._root.path / below[full]).exists()}
        return added, refused

    async def _remove(self, paths: Iterable[str], known: Mapping[str, WatchedFile]) -> dict[str, Receipt]:
        removed: dict[str, Receipt] = {}
        for path in paths:
            try:
                removed[path] = await self._pincite.remove(known[path].document_id)
            except NotFound:  # somebody else removed it
                continue
        return removed
