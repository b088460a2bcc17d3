"""Feedback on answers: stored with the turn and removed with it."""

from pincite.core.accounts.access import Scope
from pincite.core.accounts.conversations import Feedback, Rating
from pincite.errors import Invalid, NotFound
from pincite.store.cursors import INVALID_CURSOR, cursor_of, place_of
from pincite.store.database import Database, fetch_all, fetch_one


class FeedbackStore:
    """Ratings of answers by their askers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rate(self, scope: Scope, answer_id: str, rating: Rating, comment: str) -> Feedback:
        """Rate an own answer; a new rating replaces the previous one."""
        async with self._database.transaction(scope.person) as connection:
            turn = "select id, trace_id from turn where answer ->> 'id' = %s and owner = %s"
            found = await fetch_one(connection, turn, (answer_id, scope.person))
            if found is None:
                raise NotFound(f"there is no answer '{answer_id}' in your conversations; rate an answer of your own")
            stored = await fetch_one(connection, _RATE, (found[0], scope.person, found[1], rating, comment))
        assert stored is not None
        return Feedback(answer_id, found[1], scope.person, rating, comment, stored[0])

    async def list(self, scope: Scope, limit: int, cursor: str | None) -> tuple[list[Feedback], str | None]:
        """Return one page of own feedback, newest first; for an administrator that of all, without answers."""
        after, last = place_of(cursor) if cursor else (None, "0")
        if not last.isdecimal() or len(last) > 18:
            raise Invalid(INVALID_CURSOR)
        values = {"after": after, "last": int(last), "limit": limit + 1}
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, _LIST, values)
        page = [Feedback(*row[1:]) for row in found[:limit]]
        return page, cursor_of(page[-1].created_at, str(found[limit - 1][0])) if len(found) > limit else None


_RATE = """
    insert into feedback (turn_id, owner, trace_id, rating, comment) values (%s, %s, %s, %s, %s)
    on conflict (turn_id) do update set rating = excluded.rating, comment = excluded.comment, created_at = now()
    returning created_at
"""
_LIST = """
    select f.turn_id, coalesce(t.answer ->> 'id', ''), f.trace_id, f.owner, f.rating, f.comment, f.created_at
    from feedback f left join turn t on t.id = f.turn_id
    where (%(after)s::timestamptz is null or (f.created_at, f.turn_id) < (%(after)s, %(last)s))
    order by f.created_at desc, f.turn_id desc limit %(limit)s
"""
