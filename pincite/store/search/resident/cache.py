"""The indexes in the memory of this process: loaded in the background, bounded, valid at one revision only."""

import asyncio
import logging
import time
from collections import OrderedDict

from pincite.concurrency import cancel_and_wait
from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.errors import PinciteError
from pincite.store.database import Database
from pincite.store.search.resident.loading import TooLarge, Vectors, load_realms
from pincite.store.search.resident.passages import Passages
from pincite.store.search.resident.view import ResidentRealm, View

log = logging.getLogger(__name__)

MIN_SEARCHES = 3
"""Searches of a scope from which on its index is loaded: a single question from the command line loads nothing."""
MAX_REALMS = 200
"""Realms of a scope above which the database searches."""
MAX_VIEWS = 64
"""Views that are kept, one per scope and filters."""
MAX_SCOPES = 10_000
"""Scopes whose searches are counted; the counts are cleared when there are more."""
REST = 5.0
"""Pause after loading, in multiples of the time that loading took: while documents are added, the database searches."""
PASSAGES_SHARE = 0.25
"""Share of the allowed memory for passages that were read; the indexes may take all of it, too."""
FAILED_REST_S = 60.0
"""Seconds for which an index that is too large, or could not be read, is not tried again."""

_RealmKey = tuple[int, int]
"""An embedding model and a realm."""
_Views = OrderedDict[tuple[Vectors, tuple[int, ...], Filters], tuple[tuple[ResidentRealm, ...], View]]


class ResidentIndexes:
    """Keeps the indexes of the realms that are searched, up to `megabytes`; 0 keeps none.

    It is never a source of truth. A search uses it only if it has the revision of every realm that the database gave
    for this request; otherwise the database searches, and the index is renewed in the background. Which passages
    the caller may read, the database says under row-level security, for each search; `passages` were read before.
    """

    def __init__(self, megabytes: int) -> None:
        self.megabytes = megabytes
        self._realms: OrderedDict[_RealmKey, ResidentRealm] = OrderedDict()
        self._views: _Views = OrderedDict()
        self._searches: dict[tuple[int, tuple[int, ...]], int] = {}
        self._not_before: dict[tuple[int, tuple[int, ...]], float] = {}
        self._loading: asyncio.Task[None] | None = None
        self.passages = Passages(int(PASSAGES_SHARE * megabytes * 1_000_000))

    @property
    def size(self) -> int:
        """The bytes in memory."""
        return sum(realm.size for realm in self._realms.values())

    def view(self, database: Database, scope: Scope, filters: Filters, vectors: Vectors) -> View | None:
        """Return the documents of a scope and filters in memory; None if the database must be searched.

        Other times and other indexes than the current ones are never in memory.
        """
        if not self.megabytes or filters.as_of is not None or filters.index is not None:
            return None
        if not scope.revisions or len(scope.realms) > MAX_REALMS:
            return None
        realms = self._current(scope, vectors.model)
        if realms is None:
            self._load_later(database, scope, vectors)
            return None
        key = vectors, scope.realms, filters
        known = self._views.get(key)
        if known is None or known[0] != realms:  # realms are compared by identity
            known = self._views[key] = realms, View(realms, filters)
        self._views.move_to_end(key)
        while len(self._views) > MAX_VIEWS:
            self._views.popitem(last=False)
        return known[1]

    def is_current(self, scope: Scope, vectors: Vectors) -> bool:
        """Whether the index of a scope is in memory at the scope's revision."""
        few = 0 < len(scope.revisions) <= MAX_REALMS
        return few and self._current(scope, vectors.model) is not None

    async def settle(self) -> None:
        """Wait until nothing is being loaded."""
        if self._loading is not None:
            await asyncio.gather(self._loading, return_exceptions=True)

    async def close(self) -> None:
        """Stop loading and forget everything."""
        if self._loading is not None:
            await cancel_and_wait(self._loading)
        self._realms.clear()
        self._views.clear()
        self.passages.clear()

    def _current(self, scope: Scope, model: int) -> tuple[ResidentRealm, ...] | None:
        found = []
        for realm, revision in zip(scope.realms, scope.revisions, strict=True):
            held = self._realms.get((model, realm))
            if held is None or held.revision != revision:
                return None
            found.append(held)
        for realm in scope.realms:
            self._realms.move_to_end((model, realm))
        return tuple(found)

    def _load_later(self, database: Database, scope: Scope, vectors: Vectors) -> None:
        """Load the index of a scope in the background, if it is searched often enough; one scope at a time."""
        key = vectors.model, scope.realms
        if len(self._searches) > MAX_SCOPES:
            self._searches.clear()
            self._not_before.clear()
        self._searches[key] = self._searches.get(key, 0) + 1
        busy = self._loading is not None and not self._loading.done()
        if busy or self._searches[key] < MIN_SEARCHES or time.monotonic() < self._not_before.get(key, 0.0):
            return
        self._loading = asyncio.create_task(self._load(database, scope, vectors))

    async def _load(self, database: Database, scope: Scope, vectors: Vectors) -> None:
        started, key, most = time.monotonic(), (vectors.model, scope.realms), self.megabytes * 1_000_000
        held = {realm: one for (model, realm), one in self._realms.items() if model == vectors.model}
        rest = 0.0
        try:
            loaded = await load_realms(database, scope, held, vectors, most)
            for realm, one in loaded.items():
                self._realms[vectors.model, realm] = one
                self._realms.move_to_end((vectors.model, realm))
            self._make_room(most)
        except TooLarge as error:
            log.info("an index of %d MB is not kept in memory (database.index_memory_mb)", error.size // 1_000_000)
            rest = FAILED_REST_S
        except PinciteError as error:
            log.debug("the index could not be loaded into memory: %s", error)
        except Exception:  # PostgreSQL searches on
            log.exception("the index could not be loaded into memory")
            rest = FAILED_REST_S
        spent = time.monotonic() - started
        self._not_before[key] = time.monotonic() + max(rest, REST * spent)

    def _make_room(self, most: int) -> None:
        """Forget the indexes that were not searched for longest, until the others fit."""
        while self._realms and self.size > most:
            self._realms.popitem(last=False)
        self._views.clear()  # they refer to indexes that are replaced or forgotten
