"""Synchronise documents with a folder: add and update changed files, remove deleted files, move renamed files."""

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
"""Minimum seconds between two scans of a folder; a change is synchronised when two scans in a row find it."""
SCAN_PAUSE_FACTOR = 100
"""The pause after a scan is this many times the scan's duration, so that watching uses a hundredth of a core."""
MAX_SCAN_PAUSE_S = 10.0
"""Maximum seconds between two scans."""

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Changes:
    """The synchronised changes of a folder, by the files' relative paths; `moved` maps new paths to old ones."""

    added: Mapping[str, Added] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, Receipt] = field(default_factory=dict)
    refused: Mapping[str, PinciteError] = field(default_factory=dict)
    kept: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there is any change."""
        new = any(one.outcome != "unchanged" for one in self.added.values())
        return new or bool(self.moved or self.removed or self.refused or self.kept)


class FolderSync:
    """Synchronises the documents that came from one folder; other documents are not touched."""

    def __init__(self, pincite: AsyncPincite, root: WatchedFolder, *, keep_removed: bool = False) -> None:
        self._pincite = pincite
        self._root = root
        self._keep_removed = keep_removed
        self._watched_files = WatchedFiles(pincite.services.database, pincite.services.blobs.place)
        self._identity = root.identity()
        self._synced: dict[str, Stamp] = {}
        self._pending: dict[str, Stamp | None] = {}

    async def sync_all(self, report: Report | None = None) -> Changes:
        """Synchronise all changes since the folder was last watched."""
        tree, scope = await asyncio.to_thread(self._root.snapshot), await self._pincite.scope()
        known = await self._watched_files.below(scope, self._name)
        if known and not tree.files:
            log.warning("%s is empty; its %d documents are kept: remove them yourself", self._name, len(known))
            return Changes(kept=tuple(known))
        gone = [path for path in known if path not in tree.files and tree.covers(path)]
        return await self._apply(scope, list(tree.files), gone, tree, report)

    async def sync_changes(self) -> Changes:
        """Scan the folder, and synchronise changes that the scan before found too; other files may be incomplete."""
        try:
            tree, identity = await asyncio.to_thread(self._root.snapshot), self._root.identity()
        except OSError as error:
            log.warning("%s cannot be scanned (%s); its documents are kept", self._name, error.strerror)
            return Changes()
        if identity != self._identity:
            log.warning("%s is another folder than before; its documents are kept as they are", self._name)
            return Changes()
        changed: dict[str, Stamp | None] = {p: s for p, s in tree.files.items() if self._synced.get(p) != s}
        changed |= {path: None for path in self._synced if path not in tree.files and tree.covers(path)}
        stable = {path: stamp for path, stamp in changed.items() if self._pending.get(path, ()) == stamp}
        self._pending = changed
        if not stable:
            return Changes()
        present = [path for path, stamp in stable.items() if stamp is not None]
        gone = [path for path, stamp in stable.items() if stamp is None]
        return await self._apply(await self._pincite.scope(), present, gone, tree, None)

    async def watch(self, report: Callable[[Changes], None]) -> None:
        """Synchronise changes until cancelled; while a component is down, retry."""
        while True:
            started = time.monotonic()
            try:
                changes = await self.sync_changes()
            except (Unavailable, BadRequest) as error:
                log.warning("the synchronisation failed and is retried shortly: %s", error)
            else:
                if changes.any:
                    report(changes)
                    started = time.monotonic()  # only the time of a scan lengthens the pause
            await asyncio.sleep(min(max(SCAN_S, SCAN_PAUSE_FACTOR * (time.monotonic() - started)), MAX_SCAN_PAUSE_S))

    @property
    def _name(self) -> str:
        return str(self._root.path)

    async def _apply(
        self, scope: Scope, present: list[str], gone: list[str], tree: FolderSnapshot, report: Report | None
    ) -> Changes:
        known = await self._watched_files.below(scope, self._name)
        moved = await self._move(scope, [path for path in present if path not in known], gone, known)
        added, refused = await self._add([path for path in present if path not in moved], report)
        deleted = [path for path in gone if path in known and path not in moved.values()]
        removed = {} if self._keep_removed else await self._remove(deleted, known)
        self._synced |= {path: tree.files[path] for path in present}
        for path in gone:
            self._synced.pop(path, None)
        return Changes(added, moved, removed, refused, tuple(deleted) if self._keep_removed else ())

    async def _move(
        self, scope: Scope, new_paths: Iterable[str], gone: Iterable[str], known: Mapping[str, WatchedFile]
    ) -> dict[str, str]:
        """Move the documents of renamed files, which keep their ids; return new paths → old paths."""
        lost = {path: known[path].checksum for path in gone if path in known}
        moved: dict[str, str] = {}
        for path in new_paths if lost else ():
            checksum = await asyncio.to_thread(self._checksum, path)
            same = [old for old, was in lost.items() if was == checksum]
            old = next(
                (old for old in same if old.rpartition("/")[2] == path.rpartition("/")[2]), same[0] if same else ""
            )
            if old and await self._move_document(scope, known[old].document_id, path):
                moved[path] = old
                del lost[old]
        if moved:
            await self._watched_files.record(
                scope, self._name, {new: known[old].document_id for new, old in moved.items()}
            )
        return moved

    async def _move_document(self, scope: Scope, document_id: str, path: str) -> bool:
        file = self._root.file(path)
        try:
            await self._pincite.services.editor.update(
                scope, document_id, DocumentChange(folder=file.folder, name=file.name)
            )
        except (Conflict, NotFound):  # another document has that name: the file becomes its new version
            return False
        return True

    def _checksum(self, path: str) -> str:
        try:
            return hashlib.sha256((self._root.path / path).read_bytes()).hexdigest()
        except OSError:  # deleted again or unreadable: `_add` reports it
            return ""

    async def _add(
        self, paths: Iterable[str], report: Report | None
    ) -> tuple[dict[str, Added], dict[str, PinciteError]]:
        by_target = {(file.folder, file.name): path for path in paths for file in [self._root.file(path)]}
        files = [self._root.file(path) for path in by_target.values()]
        result = await self._pincite.add_all(Collected(files, [], []), report=report)
        added = {by_target[one.document.folder, one.document.name]: one for one in result.added}
        scope = await self._pincite.scope()  # the first document of a folder may have created a realm
        await self._watched_files.record(scope, self._name, {path: one.document.id for path, one in added.items()})
        relative = {str(self._root.path / path): path for path in by_target.values()}
        refused = {
            relative[full]: error for full, error in result.refused if (self._root.path / relative[full]).exists()
        }
        return added, refused

    async def _remove(self, paths: Iterable[str], known: Mapping[str, WatchedFile]) -> dict[str, Receipt]:
        removed: dict[str, Receipt] = {}
        for path in paths:
            try:
                removed[path] = await self._pincite.remove(known[path].document_id)
            except NotFound:  # it was removed meanwhile
                continue
        return removed
