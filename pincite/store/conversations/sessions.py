"""Sessions: each person's conversations, stored, searched and removed."""

import asyncio
import secrets
from collections.abc import Container, Coroutine, Sequence
from dataclasses import replace
from typing import Any, LiteralString, TypeVar

from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.accounts.conversations import KeptTurn, Session
from pincite.core.query.question import Exchange
from pincite.errors import Invalid, NotFound
from pincite.store.conversations.answer_json import from_json, to_json, without_document
from pincite.store.cursors import cursor_of, place_of
from pincite.store.database import Columns, Connection, Database, by_name, fetch_all, fetch_one, select_list
from pincite.text.sentences import storable

T = TypeVar("T")

MAX_DERIVED_TITLE_CHARS = 80
"""Characters of a title that is derived from the first question."""
MAX_TITLE_CHARS = 200
"""Characters of a title at most; the rest is cut."""
MAX_TURNS = 1000
"""Turns of a session that are returned: the last ones."""
MAX_SEARCH_WORDS = 20
"""Words in one search for sessions at most."""

_SESSION = (
    "select s.id, s.title, s.created_at, s.updated_at, (select count(*) from turn t where t.session_id = s.id)"
    " from session s"
)
_TURN_COLUMNS: Columns = {
    "question": "t.question",
    "standalone": "t.standalone",
    "words": "t.words",
    "answer": "t.answer",
    "complete": "t.complete",
    "trace_id": "t.trace_id",
    "documents": "array(select d.document_id from turn_document d where d.turn_id = t.id order by 1)",
    "removed": "t.removed",
    "created_at": "t.created_at",
    "rating": "(select f.rating from feedback f where f.turn_id = t.id)",
}
_TURN: LiteralString = "select " + select_list(_TURN_COLUMNS) + " from turn t"  # noqa: S608 - constant columns
_CONTAINS_ALL = (
    " and not exists (select from unnest(%(words)s::text[]) w where position(w in lower(s.title)) = 0 and not exists"
    " (select from turn t where t.session_id = s.id and position(w in lower(t.question || ' ' || t.words)) > 0))"
)
_ADD_TURN = """
    insert into turn (session_id, owner, question, standalone, words, answer, complete, removed, trace_id)
    values (%(session)s, %(owner)s, %(question)s, %(standalone)s, %(words)s, %(answer)s, %(complete)s, %(removed)s,
            %(trace)s)
    returning id"""
_COMPLETE_TURN = """
    update turn set standalone = %(standalone)s, words = %(words)s, answer = %(answer)s, complete = %(complete)s,
                    removed = %(removed)s
    where id = %(id)s and session_id = %(session)s and owner = %(owner)s returning id"""
_READABLE = "select id from document where id = any(%s) and realm = any(%s)"


class Sessions:
    """Stores the sessions of their owners; another person's session is `NotFound`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """Wait for pending writes."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    async def _shielded(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, even if the caller is cancelled."""
        writing = asyncio.create_task(work)
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return await asyncio.shield(writing)

    async def create(self, scope: Scope, title: str = "") -> Session:
        """Create an empty session; without a title, it gets one from its first question."""
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(
                connection,
                "insert into session (id, owner, title) values (%s, %s, %s)"
                " returning id, title, created_at, updated_at, 0",
                (f"s_{secrets.token_urlsafe(16)}", scope.person, _title(title)),
            )
        assert row is not None
        return Session(*row)

    async def get(self, scope: Scope, session_id: str) -> Session:
        """Return a session with its last turns, oldest first, without quotes of documents that are unreadable now."""
        async with self._database.transaction(scope.person) as connection:
            session = await _find_session(connection, scope, session_id)
            found = await fetch_all(
                connection, _TURN + " where t.session_id = %s order by t.id desc limit %s", (session_id, MAX_TURNS)
            )
            turns = [_to_turn(row) for row in reversed(found)]
            named = list({document_id for turn in turns for document_id in turn.documents})
            found = await fetch_all(connection, _READABLE, (named, list(scope.realms)))
            readable = {document_id for (document_id,) in found}
        return replace(session, turns=tuple(_without_unreadable(turn, readable) for turn in turns))

    async def list(
        self, scope: Scope, q: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[Sequence[Session], str | None]:
        """Return one page of sessions, the last used first; every word of `q` is in the title, questions or answers."""
        after, last = place_of(cursor) if cursor else (None, "")
        words = storable(q or "").lower().split()
        if len(words) > MAX_SEARCH_WORDS:
            raise Invalid(f"search for at most {MAX_SEARCH_WORDS} words at a time, not {len(words)}")
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(
                connection,
                _SESSION + " where s.owner = %(owner)s"
                " and (%(after)s::timestamptz is null or (s.updated_at, s.id) < (%(after)s, %(last)s))"
                + (_CONTAINS_ALL if words else "")
                + " order by s.updated_at desc, s.id desc limit %(limit)s",
                {"owner": scope.person, "words": words, "after": after, "last": last, "limit": limit + 1},
            )
        sessions = [Session(*row) for row in found[:limit]]
        return sessions, cursor_of(sessions[-1].updated_at, sessions[-1].id) if len(found) > limit else None

    async def rename(self, scope: Scope, session_id: str, title: str) -> Session:
        """Change the title of a session."""
        if not title.strip():
            raise Invalid("a title needs at least one character")
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "update session set title = %s where id = %s and owner = %s", (_title(title), session_id, scope.person)
            )
            return await _find_session(connection, scope, session_id)

    async def remove(self, scope: Scope, session_id: str) -> None:
        """Remove a session with its turns."""
        async with self._database.transaction(scope.person) as connection:
            await _find_session(connection, scope, session_id)
            await connection.execute("delete from session where id = %s and owner = %s", (session_id, scope.person))

    async def remove_if_empty(self, scope: Scope, session_id: str) -> bool:
        """Remove a session if it has no turns, even if the caller is cancelled; return whether it was removed."""
        return await self._shielded(self._remove_if_empty(scope, session_id))

    async def _remove_if_empty(self, scope: Scope, session_id: str) -> bool:
        async with self._database.transaction(scope.person) as connection:
            removed = await connection.execute(
                # A concurrent turn is not visible yet, but this waits for its lock and then sees its `updated_at`.
                "delete from session s where s.id = %s and s.owner = %s and s.updated_at = s.created_at"
                " and not exists (select from turn t where t.session_id = s.id)",
                (session_id, scope.person),
            )
            return removed.rowcount > 0

    async def remove_all(self, scope: Scope) -> int:
        """Remove every session of this person; return their number."""
        async with self._database.transaction(scope.person) as connection:
            return (await connection.execute("delete from session where owner = %s", (scope.person,))).rowcount

    async def recent(
        self, scope: Scope, session_id: str, turns: int, *, before: str | None = None
    ) -> tuple[Exchange, ...]:
        """Return the last turns, oldest first; answers that are incomplete or cite unreadable documents are empty.

        With `before`, the turns before the one with this trace id.
        """
        async with self._database.transaction(scope.person) as connection:
            await _find_session(connection, scope, session_id)
            end = None if before is None else await _find_turn(connection, scope, session_id, before)
            found = await fetch_all(
                connection,
                "select question, standalone, case when complete and not removed and not exists ("
                " select from turn_document q where q.turn_id = t.id and not exists"
                " (select from document d where d.id = q.document_id and d.realm = any(%s))) then words else '' end"
                " from turn t where session_id = %s and owner = %s and (%s::bigint is null or id < %s)"
                " order by id desc limit %s",
                (list(scope.realms), session_id, scope.person, end, end, turns),
            )
        return tuple(Exchange(*row) for row in reversed(found))

    async def begin_turn(self, scope: Scope, session_id: str, question: str, trace_id: str) -> int:
        """Store a question before its answer, so that it survives a crash; return the number of the turn."""
        pending = KeptTurn(question, question, "", None, False, trace_id, ())
        return await self._shielded(self._keep(scope, session_id, pending, None))

    async def save_turn(self, scope: Scope, session_id: str, turn: KeptTurn, begun: int | None = None) -> None:
        """Add a turn to a session, or complete the one that was begun, even if the caller is cancelled."""
        await self._shielded(self._keep(scope, session_id, turn, begun))

    async def drop_turn(self, scope: Scope, session_id: str, begun: int) -> None:
        """Remove a turn that was begun and refused; a session without turns is as it was when it was created."""
        await self._shielded(self._drop(scope, session_id, begun))

    async def _drop(self, scope: Scope, session_id: str, begun: int) -> None:
        async with self._database.transaction(scope.person) as connection:
            await connection.execute("delete from turn where id = %s and owner = %s", (begun, scope.person))
            await connection.execute(
                "update session s set updated_at = s.created_at, title = '' where s.id = %s and s.owner = %s"
                " and not exists (select from turn t where t.session_id = s.id)",
                (session_id, scope.person),
            )

    async def _keep(self, scope: Scope, session_id: str, turn: KeptTurn, begun: int | None) -> int:
        """Write a turn, without the quotes of documents that were removed meanwhile; return its number."""
        async with self._database.transaction(scope.person) as connection:
            await _find_session(connection, scope, session_id)
            turn = await _without_removed(connection, scope, turn)
            if turn.replaces is not None:
                first = await _find_turn(connection, scope, session_id, turn.replaces)
                await connection.execute(
                    "delete from turn where session_id = %s and owner = %s and id >= %s",
                    (session_id, scope.person, first),
                )
            values = {
                "id": begun,
                "session": session_id,
                "owner": scope.person,
                "question": storable(turn.question),
                "standalone": storable(turn.standalone),
                "words": storable(turn.words),
                "answer": Jsonb(to_json(turn.answer)) if turn.answer else None,
                "complete": turn.complete,
                "removed": turn.removed,
                "trace": turn.trace_id,
            }
            row = None if begun is None else await fetch_one(connection, _COMPLETE_TURN, values)
            row = row or await fetch_one(connection, _ADD_TURN, values)
            assert row is not None
            await connection.execute(
                "insert into turn_document (document_id, turn_id, owner) select unnest(%s::text[]), %s, %s",
                (sorted(set(turn.documents)), row[0], scope.person),
            )
            await connection.execute(
                "update session set updated_at = now(), title = case title when '' then %s else title end"
                " where id = %s and owner = %s",
                (_shortened(turn.question), session_id, scope.person),
            )
            return int(row[0])


async def remove_quotes(connection: Connection, person: str, document_id: str) -> tuple[list[int], int]:
    """Remove the quotes of a document from the turns of every person; return these turns and the number of quotes.

    It belongs to the transaction that removes the document, so that both happen together.
    """
    quoting, removed = await fetch_all(connection, "select turn_id, owner from turns_quoting(%s)", (document_id,)), 0
    for turn_id, owner in quoting:
        await _act_as(connection, owner)
        row = await fetch_one(connection, _TURN + " where t.id = %s for update", (turn_id,))
        if row is None:
            continue  # its session was removed meanwhile
        turn, quotes = without_document(_to_turn(row), document_id)
        removed += quotes
        answer = Jsonb(to_json(turn.answer)) if turn.answer else None
        await connection.execute(
            "update turn set words = %s, answer = %s, removed = true where id = %s", (turn.words, answer, turn_id)
        )
        await connection.execute(
            "delete from turn_document where turn_id = %s and document_id = %s", (turn_id, document_id)
        )
    await _act_as(connection, person)
    return [turn_id for turn_id, _ in quoting], removed


async def _act_as(connection: Connection, person: str) -> None:
    await connection.execute("select set_config('pincite.person', %s, true)", (person,))


async def _find_session(connection: Connection, scope: Scope, session_id: str) -> Session:
    row = await fetch_one(connection, _SESSION + " where s.id = %s and s.owner = %s", (session_id, scope.person))
    if row is None:
        raise NotFound(f"there is no session '{session_id}'")
    return Session(*row)


async def _find_turn(connection: Connection, scope: Scope, session_id: str, trace_id: str) -> int:
    """Return the id of the turn with this trace id."""
    query = "select id from turn where session_id = %s and owner = %s and trace_id = %s"
    row = await fetch_one(connection, query, (session_id, scope.person, trace_id))
    if row is None:
        raise NotFound(f"the session has no turn with the trace id '{trace_id}'")
    return int(row[0])


async def _without_removed(connection: Connection, scope: Scope, turn: KeptTurn) -> KeptTurn:
    """Lock the documents that a turn cites until it is written, and remove the quotes of documents that are gone."""
    locked = await fetch_all(
        connection,
        "select id from hold_documents(%s, %s)",
        (list(turn.documents), list(scope.realms)),
    )
    existing = {document_id for (document_id,) in locked}
    for document_id in turn.documents:
        if document_id not in existing:
            turn, _ = without_document(turn, document_id)
    return replace(turn, documents=tuple(one for one in turn.documents if one in existing))


def _without_unreadable(turn: KeptTurn, readable: Container[str]) -> KeptTurn:
    """Return a turn without the quotes of documents that its owner may not read now; the stored turn stays complete."""
    for document_id in turn.documents:
        if document_id not in readable:
            turn, _ = without_document(turn, document_id)
    return turn


def _to_turn(row: Sequence[Any]) -> KeptTurn:
    values = by_name(_TURN_COLUMNS, row)
    values["answer"] = from_json(values["answer"]) if values["answer"] is not None else None
    values["documents"] = tuple(values["documents"])
    return KeptTurn(**values)


def _title(text: str) -> str:
    return " ".join(storable(text).split())[:MAX_TITLE_CHARS]


def _shortened(question: str) -> str:
    """Return the beginning of a question in one line, cut between words."""
    line = " ".join(storable(question).split())
    if len(line) <= MAX_DERIVED_TITLE_CHARS:
        return line
    return line[: MAX_DERIVED_TITLE_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:–-") + "…"
