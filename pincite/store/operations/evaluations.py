"""Evaluation sets about a person's own documents, and their runs; each person sees only their own."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.evaluations import (
    AnswerQuestion,
    AnswerResult,
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
from pincite.store.database import Columns, Connection, Database, by_name, fetch_all, fetch_one, select_list

MAX_MANUAL_QUESTIONS = 1000
"""Questions in a set made by hand or imported at most; a run makes one or two searches for each."""


class Evaluations:
    """Stores evaluation sets and runs for their owner; another person's is `NotFound`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def passages(self, scope: Scope, seed: int, limit: int) -> list[SampledPassage]:
        """Return chunks of the searched versions in reading order: all, or a sample determined by the seed."""
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(
                connection, _PASSAGES, {"realms": list(scope.realms), "seed": str(seed), "limit": limit}
            )
        return [_to_sampled(row) for row in found]

    # --- sets -------------------------------------------------------------------------------------------------

    async def keep_set(
        self, scope: Scope, made_by: QuestionOrigin, seed: int, questions: Sequence[SetQuestion]
    ) -> EvaluationSet:
        """Store questions as this person's next set, without those of documents that were removed meanwhile."""
        async with self._database.transaction(scope.person) as connection:
            set_id = await _add_set(connection, scope, made_by, seed)
            existing = await _lock_documents(connection, scope, {question.place.document_id for question in questions})
            await connection.cursor().executemany(
                _ADD_QUESTION,
                [_question_values(scope, set_id, one) for one in questions if one.place.document_id in existing],
            )
        return await self.get_set(scope, set_id)

    async def import_set(self, scope: Scope, questions: Sequence[AnswerQuestion]) -> EvaluationSet:
        """Store questions with expected answers as this person's next set; a set with the same questions is reused."""
        if len(questions) > MAX_MANUAL_QUESTIONS:
            raise Conflict(f"a set has at most {MAX_MANUAL_QUESTIONS:,} questions; split it")
        asked = Jsonb([asdict(question) for question in questions])
        async with self._database.transaction(scope.person) as connection:
            same = await fetch_one(
                connection,
                "select id from evaluation_set where owner = %s and asked = %s order by version desc limit 1",
                (scope.person, asked),
            )
            set_id = same[0] if same else await _add_set(connection, scope, "import", 0, asked)
        return await self.get_set(scope, set_id)

    async def get_set(self, scope: Scope, set_id: str | None = None) -> EvaluationSet:
        """Return a set with its questions in order of creation; without an id, the newest one made from documents."""
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(
                connection,
                _SET + " and (s.id = %(id)s or %(id)s::text is null and s.made_by in ('words', 'model'))"
                " order by s.version desc limit 1",
                {"owner": scope.person, "id": set_id},
            )
            if row is None:
                raise NotFound(
                    f"there is no question set '{set_id}'; see: pincite eval list"
                    if set_id
                    else "there is no question set yet; make one with: pincite eval --auto"
                )
            found = await fetch_all(
                connection, _QUESTIONS, {"id": row[0], "owner": scope.person, "realms": list(scope.realms)}
            )
            asked = await fetch_one(
                connection, "select coalesce(asked, '[]') from evaluation_set where id = %s", row[:1]
            )
        assert asked is not None
        return replace(
            EvaluationSet(*row),
            questions=tuple(map(_to_question, found)),
            asked=tuple(map(_to_answer_question, asked[0])),
        )

    async def list_sets(self, scope: Scope) -> list[EvaluationSet]:
        """Return every set without its questions, newest first."""
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, _SET + " order by s.version desc", {"owner": scope.person})
        return [EvaluationSet(*row) for row in found]

    async def remove_set(self, scope: Scope, set_id: str) -> None:
        """Remove a set with its questions and runs."""
        async with self._database.transaction(scope.person) as connection:
            done = await connection.execute(
                "delete from evaluation_set where id = %s and owner = %s", (set_id, scope.person)
            )
        if not done.rowcount:
            raise NotFound(f"there is no question set '{set_id}'; see: pincite eval list")

    async def mark(self, scope: Scope, set_id: str, text: str, question: SetQuestion | None) -> None:
        """Add or replace a question of a set made by hand, or remove it (None)."""
        named = {"set": set_id, "owner": scope.person, "text": text}
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_one(connection, _SET + " and s.id = %(set)s for update of s", named)
            if found is None:
                raise NotFound(f"there is no question set '{set_id}'; see: pincite eval list")
            if found[2] != "hand":
                raise Conflict("this set was made from documents; questions can be added to a set made by hand only")
            if question is None:
                await connection.execute(_REMOVE_QUESTION, named)
                return
            if not await _lock_documents(connection, scope, {question.place.document_id}):
                raise NotFound(f"there is no document '{question.place.document_id}'")
            values = _question_values(scope, set_id, question)
            changed = await connection.execute(_CHANGE_QUESTION, values)
            if not changed.rowcount and found[4] >= MAX_MANUAL_QUESTIONS:
                raise Conflict(f"a set has at most {MAX_MANUAL_QUESTIONS:,} questions; create another set")
            if not changed.rowcount:
                await connection.execute(_ADD_QUESTION, values)

    # --- runs -------------------------------------------------------------------------------------------------

    async def begin(self, scope: Scope, set_id: str | None, revision: int, settings: Mapping[str, Any]) -> Evaluation:
        """Start a run; without a set, it gets one by `attach`."""
        evaluation_id = f"ev_{secrets.token_urlsafe(9)}"
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "insert into evaluation (id, owner, set_id, revision, settings) values (%s, %s, %s, %s, %s)",
                (evaluation_id, scope.person, set_id, revision, Jsonb(dict(settings))),
            )
            return await _get(connection, scope, evaluation_id)

    async def attach(self, scope: Scope, evaluation_id: str, set_id: str) -> None:
        """Set the evaluation set of a run."""
        await self._change(scope, evaluation_id, set_id=set_id)

    async def advance(self, scope: Scope, evaluation_id: str, progress: float) -> None:
        """Report the progress of a run, which also marks it as alive."""
        await self._change(scope, evaluation_id, progress=progress)

    async def finish(self, scope: Scope, evaluation_id: str, outcome: EvaluationOutcome) -> Evaluation:
        """Store the outcome of a run and end it."""
        await self._change(scope, evaluation_id, state="done", progress=1.0, outcome=Jsonb(_outcome_to_json(outcome)))
        return await self.get(scope, evaluation_id)

    async def fail(self, scope: Scope, evaluation_id: str, error: str) -> None:
        """End a run with an error."""
        await self._change(scope, evaluation_id, state="failed", error=error.replace("\0", " "))

    async def get(self, scope: Scope, evaluation_id: str) -> Evaluation:
        """Return one run, or raise `NotFound`."""
        async with self._database.transaction(scope.person) as connection:
            return await _get(connection, scope, evaluation_id)

    async def list(
        self, scope: Scope, limit: int = 50, cursor: str | None = None
    ) -> tuple[Sequence[Evaluation], str | None]:
        """Return one page of runs, newest first, and the cursor of the next page, if any."""
        after, last = place_of(cursor) if cursor else (None, "")
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(
                connection,
                _EVALUATION + " and (%(after)s::timestamptz is null or (e.started_at, e.id) < (%(after)s, %(last)s))"
                " order by e.started_at desc, e.id desc limit %(limit)s",
                {"owner": scope.person, "after": after, "last": last, "limit": limit + 1},
            )
        runs = [_to_evaluation(row) for row in found[:limit]]
        return runs, cursor_of(runs[-1].started_at, runs[-1].id) if len(found) > limit else None

    async def previous_run(self, scope: Scope, evaluation: Evaluation) -> Evaluation | None:
        """Return the last completed run of the same set before this one; None if it is the first."""
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(
                connection,
                _EVALUATION + " and e.set_id = %(set)s and e.state = 'done' and e.started_at < %(started)s"
                " order by e.started_at desc limit 1",
                {"owner": scope.person, "set": evaluation.set_id, "started": evaluation.started_at},
            )
        return None if row is None else _to_evaluation(row)

    async def _change(self, scope: Scope, evaluation_id: str, **changes: Any) -> None:
        unchanged = dict.fromkeys(("state", "progress", "error", "outcome", "set_id"))
        async with self._database.transaction(scope.person, durable=False) as connection:
            await connection.execute(_CHANGE, {**unchanged, **changes, "id": evaluation_id, "owner": scope.person})


_SAMPLED_COLUMNS: Columns = {
    "document_id": "d.id as document",
    "version": "v.id",
    "title": "d.title",
    "ordinal": "c.ordinal as place",
    "text": "c.text",
    "start": "c.start_char",
    "end": "c.end_char",
    "heading_path": "c.heading_path",
    "language": "c.language",
    "content_type": "c.content_type",
}
"""Field of `Sampled` → its SQL."""
_PASSAGES = f"""
    select * from (
        select {select_list(_SAMPLED_COLUMNS)}
        from document d join edition e on e.key = d.served join version v on v.key = e.version
             join chunk c on c.edition = e.key
        where d.realm = any(%(realms)s) and c.realm = any(%(realms)s) and c.level = 2
        order by md5(%(seed)s || d.id || '.' || c.ordinal), d.id, c.ordinal limit %(limit)s
    ) sample order by document, place
"""  # noqa: S608 - constant columns
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
    select s.id, s.version, s.made_by, s.seed,
           coalesce(jsonb_array_length(s.asked), (select count(*) from evaluation_question q where q.set_id = s.id)),
           s.created_at from evaluation_set s where s.owner = %(owner)s
"""
_QUESTION_COLUMNS: Columns = {
    "text": "q.text",
    "kind": "q.kind",
    "language": "q.language",
    "document_id": "q.document_id",
    "start": "q.start_char",
    "end": "q.end_char",
    "version": "q.version",
    "chunk": "q.chunk",
    "twins": "q.twins",
    "id": "q.id",
    "current": "coalesce(v.id = q.version, false)",
}
"""Field of `SetQuestion` or of its place → its SQL."""
_QUESTIONS = f"""
    select {select_list(_QUESTION_COLUMNS)}
    from evaluation_question q join document d on d.id = q.document_id and d.realm = any(%(realms)s)
         left join edition e on e.key = d.served left join version v on v.key = e.version
    where q.set_id = %(id)s and q.owner = %(owner)s order by q.id
"""  # noqa: S608 - constant columns
_CHANGE = """
    update evaluation set state = coalesce(%(state)s, state), progress = coalesce(%(progress)s, progress),
           set_id = coalesce(%(set_id)s, set_id),
           error = %(error)s, outcome = %(outcome)s, seen_at = clock_timestamp(),
           finished_at = case when %(state)s::text is not null then clock_timestamp() end
    where id = %(id)s and owner = %(owner)s
"""
# A run without a report for a minute counts as interrupted: its process died.
_STATE = (
    "case when e.state = 'running' and e.seen_at < clock_timestamp() - interval '60 s' then 'interrupted'"
    " else e.state end"
)
_EVALUATION_COLUMNS: Columns = {
    "id": "e.id",
    "set_id": "e.set_id",
    "set_version": "s.version",
    "state": _STATE,
    "progress": "e.progress",
    "revision": "e.revision",
    "settings": "e.settings",
    "started_at": "e.started_at",
    "finished_at": "e.finished_at",
    "error": "e.error",
    "outcome": "e.outcome",
}
"""Field of `Evaluation` → its SQL."""
_EVALUATION = f"""
    select {select_list(_EVALUATION_COLUMNS)}
    from evaluation e left join evaluation_set s on s.id = e.set_id where e.owner = %(owner)s and e.purpose = 'run'
"""  # noqa: S608 - constant columns


async def _add_set(
    connection: Connection, scope: Scope, made_by: QuestionOrigin, seed: int, asked: Jsonb | None = None
) -> str:
    """Add a set with the next number and return its id."""
    set_id = f"es_{secrets.token_urlsafe(9)}"
    await connection.execute("select pg_advisory_xact_lock(hashtext('evaluation_set ' || %s))", (scope.person,))
    await connection.execute(
        "insert into evaluation_set (id, owner, version, made_by, seed, asked)"
        " select %(id)s, %(owner)s, coalesce(max(version), 0) + 1, %(made_by)s, %(seed)s, %(asked)s"
        " from evaluation_set where owner = %(owner)s",
        {"id": set_id, "owner": scope.person, "made_by": made_by, "seed": seed, "asked": asked},
    )
    return set_id


async def _lock_documents(connection: Connection, scope: Scope, document_ids: Collection[str]) -> set[str]:
    """Lock those of the documents that exist until the end of the transaction, and return them."""
    found = await fetch_all(
        connection,
        "select id from hold_documents(%s, %s)",
        (list(document_ids), list(scope.realms)),
    )
    return {document_id for (document_id,) in found}


async def _get(connection: Connection, scope: Scope, evaluation_id: str) -> Evaluation:
    row = await fetch_one(connection, _EVALUATION + " and e.id = %(id)s", {"owner": scope.person, "id": evaluation_id})
    if row is None:
        raise NotFound(f"there is no evaluation '{evaluation_id}'; see: pincite eval list")
    return _to_evaluation(row)


def _to_evaluation(row: tuple[Any, ...]) -> Evaluation:
    values = by_name(_EVALUATION_COLUMNS, row)
    values["outcome"] = None if values["outcome"] is None else _outcome_from_json(values["outcome"])
    return Evaluation(**values)


def _outcome_to_json(outcome: EvaluationOutcome) -> dict[str, Any]:
    """Return an outcome as JSON; measures and answers are lists, because the database reorders the keys of an object."""
    measures = [[name, one.value, one.low, one.high] for name, one in outcome.measures.items()]
    answers = [{"id": question, **asdict(one)} for question, one in outcome.answers.items()]
    return {**asdict(outcome), "measures": measures, "answers": answers}


def _outcome_from_json(stored: Mapping[str, Any]) -> EvaluationOutcome:
    return EvaluationOutcome(
        {name: Interval(*figures) for name, *figures in stored["measures"]},
        {int(question): rank for question, rank in stored["ranks"].items()},
        stored["p50_ms"],
        stored["p95_ms"],
        tuple(stored["notes"]),
        {int(question): relevance for question, relevance in stored.get("relevances", {}).items()},
        {one.pop("id"): AnswerResult(**one) for one in stored.get("answers", ())},
    )


def _question_values(scope: Scope, set_id: str, question: SetQuestion) -> dict[str, Any]:
    return {
        "set": set_id,
        "owner": scope.person,
        "document": question.place.document_id,
        "version": question.version,
        "chunk": question.chunk,
        "kind": question.kind,
        "language": question.language,
        "text": question.text,
        "start": question.place.start,
        "end": question.place.end,
        "twins": Jsonb([asdict(twin) for twin in question.twins]),
    }


def _to_question(row: tuple[Any, ...]) -> SetQuestion:
    values = by_name(_QUESTION_COLUMNS, row)
    place = Place(values.pop("document_id"), values.pop("start"), values.pop("end"))
    values["twins"] = tuple(Place(**twin) for twin in values["twins"])
    return SetQuestion(place=place, **values)


def _to_answer_question(stored: Mapping[str, Any]) -> AnswerQuestion:
    lists = {name: tuple(stored[name]) for name in ("forbidden", "sources", "turns")}
    return AnswerQuestion(**{**stored, **lists, "gold": tuple(map(tuple, stored["gold"]))})


def _to_sampled(row: tuple[Any, ...]) -> SampledPassage:
    values = by_name(_SAMPLED_COLUMNS, row)
    values["heading_path"] = tuple(values["heading_path"])
    return SampledPassage(**values)
