"""Sets of questions made from one's own documents, and runs of them; each person sees theirs."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.evaluations import (
    Evaluation,
    EvaluationOutcome,
    EvaluationSet,
    Interval,
    Place,
    QuestionOrigin,
    SampledPassage,
    SetQuestion,
)
from pincite.errors import Conflict, NotFound
from pincite.store.cursors import cursor_of, place_of
from pincite.store.database import Connection, Database, one, rows

MOST_MARKED = 1000
"""Questions of a set made by hand; running it takes a search or two for each."""


class Evaluations:
    """Keeps sets and runs for their owner; one of somebody else is as good as missing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def passages(self, scope: Scope, seed: int, limit: int) -> list[SampledPassage]:
        """Passages of the served versions, all or a sample that the seed decides, in reading order."""
        async with self._database.transaction(scope.person) as connection:
            found = await rows(connection, _PASSAGES, {"realms": list(scope.realms), "seed": str(seed), "limit": limit})
        return [replace(SampledPassage(*row), heading_path=tuple(row[7])) for row in found]

    # --- sets -------------------------------------------------------------------------------------------------

    async def keep_set(
        self, scope: Scope, made_by: QuestionOrigin, seed: int, questions: Sequence[SetQuestion]
    ) -> EvaluationSet:
        """Keep questions as this person's next set; those of documents that went meanwhile are left out."""
        set_id = f"es_{secrets.token_urlsafe(9)}"
        async with self._database.transaction(scope.person) as connection:
            await connection.execute("select pg_advisory_xact_lock(hashtext('evaluation_set ' || %s))", (scope.person,))
            await connection.execute(
                "insert into evaluation_set (id, owner, version, made_by, seed)"
                " select %(id)s, %(owner)s, coalesce(max(version), 0) + 1, %(made_by)s, %(seed)s"
                " from evaluation_set where owner = %(owner)s",
                {"id": set_id, "owner": scope.person, "made_by": made_by, "seed": seed},
            )
            there = await _held(connection, scope, {question.place.document_id for question in questions})
            await connection.cursor().executemany(
                _ADD_QUESTION, [_row(scope, set_id, one) for one in questions if one.place.document_id in there]
            )
        return await self.get_set(scope, set_id)

    async def get_set(self, scope: Scope, set_id: str | None = None) -> EvaluationSet:
        """One set with its questions in the order they were made; where none is named, the newest not made by hand."""
        async with self._database.transaction(scope.person) as connection:
            row = await one(
                connection,
                _SET
                + " and (s.id = %(id)s or %(id)s::text is null and s.made_by <> 'hand') order by s.version desc limit 1",
                {"owner": scope.person, "id": set_id},
            )
            if row is None:
                raise NotFound(
                    f"there is no question set '{set_id}'; see: pincite eval list"
                    if set_id
                    else "there is no question set yet; make one with: pincite eval --auto"
                )
            found = await rows(
                connection, _QUESTIONS, {"id": row[0], "owner": scope.person, "realms": list(scope.realms)}
            )
        return replace(EvaluationSet(*row), questions=tuple(map(_question, found)))

    async def list_sets(self, scope: Scope) -> list[EvaluationSet]:
        """Every set without its questions, newest first."""
        async with self._database.transaction(scope.person) as connection:
            found = await rows(connection, _SET + " order by s.version desc", {"owner": scope.person})
        return [EvaluationSet(*row) for row in found]

    async def remove_set(self, scope: Scope, set_id: str) -> None:
        """Remove a set, its questions and every run of it."""
        async with self._database.transaction(scope.person) as connection:
            done = await connection.execute(
                "delete from evaluation_set where id = %s and owner = %s", (set_id, scope.person)
            )
        if not done.rowcount:
            raise NotFound(f"there is no question set '{set_id}'; see: pincite eval list")

    async def mark(self, scope: Scope, set_id: str, text: str, question: SetQuestion | None) -> None:
        """In a set made by hand, keep a question with the places that answer it, or take it out (None)."""
        whole = {"set": set_id, "owner": scope.person, "text": text}
        async with self._database.transaction(scope.person) as connection:
            found = await one(connection, _SET + " and s.id = %(set)s for update of s", whole)
            if found is None:
                raise NotFound(f"there is no question set '{set_id}'; see: pincite eval list")
            if found[2] != "hand":
                raise Conflict("this set was made from documents; only one made by hand takes other questions")
            if question is None:
                await connection.execute(_REMOVE_QUESTION, whole)
                return
            if not await _held(connection, scope, {question.place.document_id}):
                raise NotFound(f"there is no document '{question.place.document_id}'")
            values = _row(scope, set_id, question)
            changed = await connection.execute(_CHANGE_QUESTION, values)
            if not changed.rowcount and found[4] >= MOST_MARKED:
                raise Conflict(f"a set holds {MOST_MARKED:,} questions at most; begin another one")
            if not changed.rowcount:
                await connection.execute(_ADD_QUESTION, values)

    # --- runs -------------------------------------------------------------------------------------------------

    async def begin(self, scope: Scope, set_id: str | None, revision: int, settings: Mapping[str, Any]) -> Evaluation:
        """A run that starts now; one without a set gets it when that is made."""
        evaluation_id = f"ev_{secrets.token_urlsafe(9)}"
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "insert into evaluation (id, owner, set_id, revision, settings) values (%s, %s, %s, %s, %s)",
                (evaluation_id, scope.person, set_id, revision, Jsonb(dict(settings))),
            )
            return await _get(connection, scope, evaluation_id)

    async def attach(self, scope: Scope, evaluation_id: str, set_id: str) -> None:
        """Say which set a run is of."""
        await self._change(scope, evaluation_id, set_id=set_id)

    async def advance(self, scope: Scope, evaluation_id: str, progress: float) -> None:
        """Say that a run goes on, and how far it is."""
        await self._change(scope, evaluation_id, progress=progress)

    async def finish(self, scope: Scope, evaluation_id: str, outcome: EvaluationOutcome) -> Evaluation:
        """Keep what a run brought."""
        await self._change(scope, evaluation_id, state="done", progress=1.0, outcome=Jsonb(_told(outcome)))
        return await self.get(scope, evaluation_id)

    async def fail(self, scope: Scope, evaluation_id: str, error: str) -> None:
        """Keep why a run came to nothing."""
        await self._change(scope, evaluation_id, state="failed", error=error.replace("\0", " "))

    async def get(self, scope: Scope, evaluation_id: str) -> Evaluation:
        """One run."""
        async with self._database.transaction(scope.person) as connection:
            return await _get(connection, scope, evaluation_id)

    async def list(
        self, scope: Scope, limit: int = 50, cursor: str | None = None
    ) -> tuple[Sequence[Evaluation], str | None]:
        """Runs, newest first, and where the list goes on."""
        after, last = place_of(cursor) if cursor else (None, "")
        async with self._database.transaction(scope.person) as connection:
            found = await rows(
                connection,
                _EVALUATION + " and (%(after)s::timestamptz is null or (e.started_at, e.id) < (%(after)s, %(last)s))"
                " order by e.started_at desc, e.id desc limit %(limit)s",
                {"owner": scope.person, "after": after, "last": last, "limit": limit + 1},
            )
        runs = [_evaluation(row) for row in found[:limit]]
        return runs, cursor_of(runs[-1].started_at, runs[-1].id) if len(found) > limit else None

    async def before(self, scope: Scope, evaluation: Evaluation) -> Evaluation | None:
        """The last run of the same set that was done before this one; None where it is the first."""
        async with self._database.transaction(scope.person) as connection:
            row = await one(
                connection,
                _EVALUATION + " and e.set_id = %(set)s and e.state = 'done' and e.started_at < %(started)s"
                " order by e.started_at desc limit 1",
                {"owner": scope.person, "set": evaluation.set_id, "started": evaluation.started_at},
            )
        return None if row is None else _evaluation(row)

    async def _change(self, scope: Scope, evaluation_id: str, **changes: Any) -> None:
        nothing = dict.fromkeys(("state", "progress", "error", "outcome", "set_id"))
        async with self._database.transaction(scope.person, durable=False) as connection:
            await connection.execute(_CHANGE, {**nothing, **changes, "id": evaluation_id, "owner": scope.person})


_PASSAGES = """
    select * from (
        select d.id as document, v.id, d.title, c.ordinal as place, c.text, c.start_char, c.end_char, c.heading_path,
               c.language, c.content_type
        from document d join edition e on e.key = d.served join version v on v.key = e.version
             join chunk c on c.edition = e.key
        where d.realm = any(%(realms)s) and c.realm = any(%(realms)s) and c.level = 2
        order by md5(%(seed)s || d.id || '.' || c.ordinal), d.id, c.ordinal limit %(limit)s
    ) sample order by document, place
"""
_ADD_QUESTION = """
    insert into evaluation_question
        (set_id, owner, document_id, version, chunk, kind, language, text, start_char, end_char, twins)
    values (%(set)s, %(owner)s, %(document)s, %(version)s, %(chunk)s, %(kind)s, %(language)s, %(text)s, %(start)s,
            %(end)s, %(twins)s)
"""
_CHANGE_QUESTION = """
    update evaluation_question set document_id = %(document)s, version = %(version)s, chunk = %(chunk)s,
           language = %(language)s, start_char = %(start)s, end_char = %(end)s, twins = %(twins)s
    where set_id = %(set)s and owner = %(owner)s and text = %(text)s
"""
_REMOVE_QUESTION = "delete from evaluation_question where set_id = %(set)s and owner = %(owner)s and text = %(text)s"
_SET = """
    select s.id, s.version, s.made_by, s.seed, (select count(*) from evaluation_question q where q.set_id = s.id),
           s.created_at from evaluation_set s where s.owner = %(owner)s
"""
_QUESTIONS = """
    select q.text, q.kind, q.language, q.document_id, q.start_char, q.end_char, q.version, q.chunk, q.twins, q.id,
           coalesce(v.id = q.version, false)
    from evaluation_question q join document d on d.id = q.document_id and d.realm = any(%(realms)s)
         left join edition e on e.key = d.served left join version v on v.key = e.version
    where q.set_id = %(id)s and q.owner = %(owner)s order by q.id
"""
_CHANGE = """
    update evaluation set state = coalesce(%(state)s, state), progress = coalesce(%(progress)s, progress),
           set_id = coalesce(%(set_id)s, set_id),
           error = %(error)s, outcome = %(outcome)s, seen_at = clock_timestamp(),
           finished_at = case when %(state)s::text is not null then clock_timestamp() end
    where id = %(id)s and owner = %(owner)s
"""
# A run that has said nothing for a minute was interrupted: whoever ran it cannot say so any more.
_EVALUATION = """
    select e.id, e.set_id, s.version,
           case when e.state = 'running' and e.seen_at < clock_timestamp() - interval '60 s' then 'interrupted'
                else e.state end,
           e.progress, e.revision, e.settings, e.started_at, e.finished_at, e.error, e.outcome
    from evaluation e left join evaluation_set s on s.id = e.set_id where e.owner = %(owner)s
"""


async def _held(connection: Connection, scope: Scope, document_ids: Collection[str]) -> set[str]:
    """Those of the documents that are there, held until the end of the transaction."""
    found = await rows(
        connection,
        "select id from hold_documents(%s, %s)",
        (list(document_ids), list(scope.realms)),
    )
    return {document_id for (document_id,) in found}


async def _get(connection: Connection, scope: Scope, evaluation_id: str) -> Evaluation:
    row = await one(connection, _EVALUATION + " and e.id = %(id)s", {"owner": scope.person, "id": evaluation_id})
    if row is None:
        raise NotFound(f"there is no evaluation '{evaluation_id}'; see: pincite eval list")
    return _evaluation(row)


def _evaluation(row: tuple[Any, ...]) -> Evaluation:
    return replace(Evaluation(*row), outcome=None if row[10] is None else _outcome(row[10]))


def _told(outcome: EvaluationOutcome) -> dict[str, Any]:
    """An outcome as JSON; the measures are a list, because the database would put an object's keys into its own order."""
    measures = [[name, one.value, one.low, one.high] for name, one in outcome.measures.items()]
    return {**asdict(outcome), "measures": measures}


def _outcome(told: Mapping[str, Any]) -> EvaluationOutcome:
    return EvaluationOutcome(
        {name: Interval(*figures) for name, *figures in told["measures"]},
        {int(question): rank for question, rank in told["ranks"].items()},
        told["p50_ms"],
        told["p95_ms"],
        tuple(told["notes"]),
        {int(question): relevance for question, relevance in told.get("relevances", {}).items()},
    )


def _row(scope: Scope, set_id: str, question: SetQuestion) -> dict[str, Any]:
    return {
        "set": set_id, "owner": scope.person, "document": question.place.document_id, "version": question.version, "chunk": question.chunk, "kind": question.kind, "language": question.language,
        "text": question.text, "start": question.place.start, "end": question.place.end,
        "twins": Jsonb([asdict(twin) for twin in question.twins]),
    }  # fmt: skip


def _question(row: tuple[Any, ...]) -> SetQuestion:
    twins = tuple(Place(**twin) for twin in row[8])
    return SetQuestion(row[0], row[1], row[2], Place(*row[3:6]), row[6], row[7], twins, row[9], row[10])
