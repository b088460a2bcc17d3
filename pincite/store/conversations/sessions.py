"""Conversations: each person's sessions, restored after a restart, searched, removed."""

import asyncio
import secrets
from collections.abc import Container, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.accounts.conversations import KeptTurn, Session
from pincite.core.query.question import Exchange
from pincite.errors import Invalid, NotFound
from pincite.store.conversations.answer_json import from_json, to_json, without_document
from pincite.store.cursors import cursor_of, place_of
from pincite.store.database import Connection, Database, one, rows
from pincite.text.sentences import storable

T = TypeVar("T")

TITLE = 80
"""Characters of a title that was made from the first question."""
LONGEST_TITLE = 200
MOST_TURNS = 1000
"""Turns that a session is shown with: the last ones."""
MOST_WORDS = 20
"""Words that sessions are searched for at a time."""

_SESSION = (
    "select s.id, s.title, s.created_at, s.updated_at, (select count(*) from turn t where t.session_id = s.id)"
    " from session s"
)
_TURN = (
    "select t.question, t.standalone, t.words, t.answer, t.complete, t.trace_id,"
    " array(select d.document_id from turn_document d where d.turn_id = t.id order by 1), t.removed, t.created_at,"
    " (select f.rating from feedback f where f.turn_id = t.id) from turn t"
)
_HOLDS_ALL = (
    " and not exists (select from unnest(%(words)s::text[]) w where position(w in lower(s.title)) = 0 and not exists"
    " (select from turn t where t.session_id = s.id and position(w in lower(t.question || ' ' || t.words)) > 0))"
)


_READABLE = "select id from document where id = any(%s) and realm = any(%s)"


class Sessions:
    """Keeps conversations for their owner; a session of somebody else is as good as missing."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """Finish what is being written."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    async def _surely(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something to its end, even if whoever waits for it is cancelled."""
        writing = asyncio.create_task(work)
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return await asyncio.shield(writing)

    async def create(self, scope: Scope, title: str = "") -> Session:
        """A new, empty session; without a title it takes that of its first question."""
        async with self._database.transaction(scope.person) as connection:
            row = await one(
                connection,
                "insert into session (id, owner, title) values (%s, %s, %s)"
                " returning id, title, created_at, updated_at, 0",
                (f"s_{secrets.token_urlsafe(16)}", scope.person, _title(title)),
            )
        assert row is not None
        return Session(*row)

    async def get(self, scope: Scope, session_id: str) -> Session:
        """One session with its last turns, oldest first."""
        async with self._database.transaction(scope.person) as connection:
            session = await _find(connection, scope, session_id)
            found = await rows(
                connection, _TURN + " where t.session_id = %s order by t.id desc limit %s", (session_id, MOST_TURNS)
            )
            turns = [_turn(row) for row in reversed(found)]
            named = list({document_id for turn in turns for document_id in turn.documents})
            readable = {one for (one,) in await rows(connection, _READABLE, (named, list(scope.realms)))}
        return replace(session, turns=tuple(_as_readable(turn, readable) for turn in turns))

    async def list(
        self, scope: Scope, q: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[Sequence[Session], str | None]:
        """Sessions, the one last used first; `q` are words that all occur in its title, questions or answers."""
        after, last = place_of(cursor) if cursor else (None, "")
        words = storable(q or "").lower().split()
        if len(words) > MOST_WORDS:
            raise Invalid(f"search for at most {MOST_WORDS} words at a time, not {len(words)}")
        async with self._database.transaction(scope.person) as connection:
            found = await rows(
                connection,
                _SESSION + " where s.owner = %(owner)s"
                " and (%(after)s::timestamptz is null or (s.updated_at, s.id) < (%(after)s, %(last)s))"
                + (_HOLDS_ALL if words else "")
                + " order by s.updated_at desc, s.id desc limit %(limit)s",
                {"owner": scope.person, "words": words, "after": after, "last": last, "limit": limit + 1},
            )
        sessions = [Session(*row) for row in found[:limit]]
        return sessions, cursor_of(sessions[-1].updated_at, sessions[-1].id) if len(found) > limit else None

    async def rename(self, scope: Scope, session_id: str, title: str) -> Session:
        """Give a session another title."""
        if not title.strip():
            raise Invalid("a title needs at least one letter")
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "update session set title = %s where id = %s and owner = %s", (_title(title), session_id, scope.person)
            )
            return await _find(connection, scope, session_id)

    async def remove(self, scope: Scope, session_id: str) -> None:
        """Remove a session and everything said in it."""
        async with self._database.transaction(scope.person) as connection:
            await _find(connection, scope, session_id)
            await connection.execute("delete from session where id = %s and owner = %s", (session_id, scope.person))

    async def remove_if_empty(self, scope: Scope, session_id: str) -> bool:
        """Remove a session in which nothing was said, even if whoever waits for that is cancelled; whether it was one."""
        return await self._surely(self._remove_if_empty(scope, session_id))

    async def _remove_if_empty(self, scope: Scope, session_id: str) -> bool:
        async with self._database.transaction(scope.person) as connection:
            gone = await connection.execute(
                # A turn that is being written meanwhile is not seen yet, but the moment it sets is.
                "delete from session s where s.id = %s and s.owner = %s and s.updated_at = s.created_at"
                " and not exists (select from turn t where t.session_id = s.id)",
                (session_id, scope.person),
            )
            return gone.rowcount > 0

    async def remove_all(self, scope: Scope) -> int:
        """Remove every session of this person, and say how many there were."""
        async with self._database.transaction(scope.person) as connection:
            return (await connection.execute("delete from session where owner = %s", (scope.person,))).rowcount

    async def recent(self, scope: Scope, session_id: str, turns: int) -> tuple[Exchange, ...]:
        """The last turns, oldest first, as far as they can be remembered."""
        async with self._database.transaction(scope.person) as connection:
            await _find(connection, scope, session_id)
            found = await rows(
                connection,
                "select question, standalone, case when complete and not removed and not exists ("
                " select from turn_document q where q.turn_id = t.id and not exists"
                " (select from document d where d.id = q.document_id and d.realm = any(%s))) then words else '' end"
                " from turn t where session_id = %s and owner = %s order by id desc limit %s",
                (list(scope.realms), session_id, scope.person, turns),
            )
        return tuple(Exchange(*row) for row in reversed(found))

    async def save_turn(self, scope: Scope, session_id: str, turn: KeptTurn) -> None:
        """Add a turn; it is written even if whoever waits for that is cancelled."""
        await self._surely(self._keep(scope, session_id, turn))

    async def _keep(self, scope: Scope, session_id: str, turn: KeptTurn) -> None:
        """What a turn quotes of a document that was removed meanwhile is left out."""
        async with self._database.transaction(scope.person) as connection:
            await _find(connection, scope, session_id)
            turn = await _without_removed(connection, scope, turn)
            row = await one(
                connection,
                "insert into turn (session_id, owner, question, standalone, words, answer, complete, removed, trace_id)"
                " values (%s, %s, %s, %s, %s, %s, %s, %s, %s) returning id",
                (session_id, scope.person, storable(turn.question), storable(turn.standalone), storable(turn.words),
                 Jsonb(to_json(turn.answer)) if turn.answer else None, turn.complete, turn.removed, turn.trace_id),
            )  # fmt: skip
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


async def forget_quotes(connection: Connection, person: str, document_id: str) -> tuple[list[int], int]:
    """Take a document's words out of every turn that quotes it, whoever's it is: which turns, and how many quotes.

    Part of the transaction that removes it, so that there is no moment with the one and without the other.
    """
    quoting, gone = await rows(connection, "select turn_id, owner from turns_quoting(%s)", (document_id,)), 0
    for turn_id, owner in quoting:
        await _act_as(connection, owner)
        row = await one(connection, _TURN + " where t.id = %s for update", (turn_id,))
        if row is None:
            continue  # removed with its session meanwhile
        turn, quotes = without_document(_turn(row), document_id)
        gone += quotes
        answer = Jsonb(to_json(turn.answer)) if turn.answer else None
        await connection.execute(
            "update turn set words = %s, answer = %s, removed = true where id = %s", (turn.words, answer, turn_id)
        )
        await connection.execute(
            "delete from turn_document where turn_id = %s and document_id = %s", (turn_id, document_id)
        )
    await _act_as(connection, person)
    return [turn_id for turn_id, _ in quoting], gone


async def _act_as(connection: Connection, person: str) -> None:
    await connection.execute("select set_config('pincite.person', %s, true)", (person,))


async def _find(connection: Connection, scope: Scope, session_id: str) -> Session:
    row = await one(connection, _SESSION + " where s.id = %s and s.owner = %s", (session_id, scope.person))
    if row is None:
        raise NotFound(f"there is no session '{session_id}'")
    return Session(*row)


async def _without_removed(connection: Connection, scope: Scope, turn: KeptTurn) -> KeptTurn:
    """Hold the documents a turn stands on until it is written; those no longer there leave nothing in it."""
    held = await rows(
        connection,
        "select id from hold_documents(%s, %s)",
        (list(turn.documents), list(scope.realms)),
    )
    there = {document_id for (document_id,) in held}
    for document_id in turn.documents:
        if document_id not in there:
            turn, _ = without_document(turn, document_id)
    return replace(turn, documents=tuple(one for one in turn.documents if one in there))


def _as_readable(turn: KeptTurn, readable: Container[str]) -> KeptTurn:
    """A turn without what it quotes of documents its owner may read no more; they may again, and it stays as it is kept."""
    for document_id in turn.documents:
        if document_id not in readable:
            turn, _ = without_document(turn, document_id)
    return turn


def _turn(row: Sequence[Any]) -> KeptTurn:
    answer = from_json(row[3]) if row[3] is not None else None
    return KeptTurn(row[0], row[1], row[2], answer, row[4], row[5], tuple(row[6]), *row[7:10])


def _title(text: str) -> str:
    return " ".join(storable(text).split())[:LONGEST_TITLE]


def _shortened(question: str) -> str:
    """The beginning of a question in one line, cut between words."""
    line = " ".join(storable(question).split())
    if len(line) <= TITLE:
        return line
    return line[: TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:–-") + "…"
