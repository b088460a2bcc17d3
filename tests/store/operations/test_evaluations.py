"""Evaluation sets and their runs."""

from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import Scope
from pincite.core.evaluations import AnswerQuestion, AnswerResult, EvaluationOutcome, Interval, Place, SetQuestion
from pincite.errors import BadRequest, Conflict, NotFound
from pincite.store.operations.evaluations import Evaluations

OUTCOME = EvaluationOutcome(
    {"nDCG@10": Interval(0.5, 0.4, 0.6), "MRR@10": Interval(0.4, 0.3, 0.5)}, {1: 3, 2: None}, 1.5, 9.0, ("n",)
)


def question(document_id: str, text: str = "What is it?", **more: Any) -> SetQuestion:
    twin = Place(document_id, 20, 30)
    return SetQuestion(text, "cloze", "en", Place(document_id, 0, 5), more.pop("version", "v"), 0, (twin,), **more)


def test_passages_are_those_of_served_versions_in_reading_order_or_a_sample(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        first = await store.put("a.md", "One passage.", "Another passage.")
        await store.put("b.md", "Ein Absatz.", language="de")
        await store.accept("c.md", "Not indexed yet.")
        found = await evaluations.passages(scope, 0, 100)
        assert [one.text for one in found if one.document_id == first] == ["One passage.", "Another passage."]
        assert len(found) == 3
        assert {one.language for one in found} == {"en", "de"}
        assert isinstance(found[0].heading_path, tuple)
        sample = await evaluations.passages(scope, 1, 2)
        assert sample == await evaluations.passages(scope, 1, 2)
        assert len(sample) == 2
        assert await evaluations.passages(Scope("stranger", scope.realms), 0, 100) == []
        assert await evaluations.passages(Scope("local", ()), 0, 100) == []

    with_store(test)


def test_a_set_is_read_as_it_was_stored_and_versions_increase(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        document_id = await store.put("a.md", "One passage.")
        [passage] = await evaluations.passages(scope, 0, 10)
        asked = [question(document_id, "one?", version=passage.version), question(document_id, "two?")]
        first = await evaluations.keep_set(scope, "words", 7, [*asked, question("gone")])
        assert (first.version, first.seed, first.size, first.made_by) == (1, 7, 2, "words")
        assert [(one.text, one.current) for one in first.questions] == [("one?", True), ("two?", False)]
        assert first.questions[0].twins == asked[0].twins
        second = await evaluations.keep_set(scope, "model", 0, asked)
        assert second.version == 2
        assert [one.id for one in await evaluations.list_sets(scope)] == [second.id, first.id]
        assert (await evaluations.get_set(scope)).id == second.id
        assert await evaluations.get_set(scope, first.id) == first
        await evaluations.remove_set(scope, second.id)
        assert (await evaluations.get_set(scope)).id == first.id
        with pytest.raises(NotFound):
            await evaluations.remove_set(scope, second.id)

    with_store(test)


def test_questions_are_removed_with_their_document(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        gone, stays = await store.put("a.md", "One passage."), await store.put("b.md", "Another passage.")
        kept = await evaluations.keep_set(scope, "words", 0, [question(gone, "secret words?"), question(stays)])
        await store.removal.remove(scope, gone)
        assert [one.place.document_id for one in (await evaluations.get_set(scope, kept.id)).questions] == [stays]
        async with store.database.transaction("local") as connection:
            left = await (await connection.execute("select text from evaluation_question")).fetchall()
        assert left == [("What is it?",)]

    with_store(test)


def test_a_run_reports_progress_and_succeeds_or_fails(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        document_id = await store.put("a.md", "One passage.")
        kept = await evaluations.keep_set(scope, "words", 0, [question(document_id)])
        run = await evaluations.begin(scope, kept.id, 4, {"rag.alpha": 0.3})
        assert (run.state, run.progress, run.revision, run.settings) == ("running", 0.0, 4, {"rag.alpha": 0.3})
        await evaluations.advance(scope, run.id, 0.5)
        assert (await evaluations.get(scope, run.id)).progress == 0.5
        done = await evaluations.finish(scope, run.id, OUTCOME)
        assert (done.state, done.progress, done.outcome) == ("done", 1.0, OUTCOME)
        assert list(OUTCOME.measures) == list(done.outcome.measures)  # type: ignore[union-attr]
        assert done.finished_at is not None
        later = await evaluations.begin(scope, None, 0, {})
        assert (later.set_id, later.set_version) == (None, None)
        await evaluations.attach(scope, later.id, kept.id)
        await evaluations.fail(scope, later.id, "it broke\0")
        failed = await evaluations.get(scope, later.id)
        assert (failed.state, failed.error, failed.set_id, failed.outcome) == ("failed", "it broke ", kept.id, None)
        assert await evaluations.previous_run(scope, failed) == done
        assert await evaluations.previous_run(scope, done) is None

    with_store(test)


def test_a_run_without_reports_counts_as_interrupted(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        run = await evaluations.begin(scope, None, 0, {})
        async with store.database.transaction("local") as connection:
            await connection.execute("update evaluation set seen_at = now() - interval '2 minutes'")
        assert (await evaluations.get(scope, run.id)).state == "interrupted"

    with_store(test)


def test_lists_are_paged(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        runs = [(await evaluations.begin(scope, None, number, {})).id for number in range(5)]
        seen, cursor = list[str](), None
        while True:
            page, cursor = await evaluations.list(scope, 2, cursor)
            seen += [one.id for one in page]
            if cursor is None:
                break
        assert seen == runs[::-1]
        with pytest.raises(BadRequest, match="cursor"):
            await evaluations.list(scope, 2, "nonsense")

    with_store(test)


def test_row_level_security_hides_and_protects_rows_of_others(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        document_id = await store.put("a.md", "One passage.")
        kept = await evaluations.keep_set(scope, "words", 0, [question(document_id)])
        run = await evaluations.begin(scope, kept.id, 0, {})
        stranger = Scope("stranger", scope.realms)
        assert await evaluations.list_sets(stranger) == []
        assert (await evaluations.list(stranger))[0] == []
        for look in (evaluations.get_set(stranger, kept.id), evaluations.get(stranger, run.id)):
            with pytest.raises(NotFound):
                await look
        async with store.database.transaction("stranger") as connection:
            for table in ("evaluation_set", "evaluation_question", "evaluation"):
                found = await (await connection.execute(f"select count(*) from {table}")).fetchone()
                assert found == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(
                    "insert into evaluation_set (id, owner, version, made_by, seed)"
                    " values ('x', 'local', 9, 'words', 0)"
                )

    with_store(test)


def test_an_imported_set_is_read_as_it_was_stored_and_imported_once(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, scope = Evaluations(store.database), await store.scope()
        full = AnswerQuestion(
            "b", "B?", "who", "de", "conflict", (("x", "y"), ("z",)), ("n",), ("a", "b"), True, ("T?",)
        )
        asked = [AnswerQuestion("a", "A?", expect="refuse"), full]
        kept = await evaluations.import_set(scope, asked)
        assert (kept.made_by, kept.tests, kept.size, kept.asked, kept.questions) == (
            "import", "answers", 2, tuple(asked), (),
        )  # fmt: skip
        assert (await evaluations.import_set(scope, asked)).id == kept.id
        assert (await evaluations.import_set(scope, asked[:1])).version == 2
        with pytest.raises(NotFound, match="no question set yet"):
            await evaluations.get_set(scope)
        with pytest.raises(NotFound):
            await evaluations.get_set(Scope("stranger", scope.realms), kept.id)
        with pytest.raises(Conflict, match="made from documents"):
            await evaluations.mark(scope, kept.id, "A?", None)
        with pytest.raises(Conflict, match="at most 1,000"):
            await evaluations.import_set(scope, [full] * 1001)
        result = AnswerResult("partly", "1 of 2 expected parts", "who", "de", 7, "high", 1.5)
        outcome = EvaluationOutcome({"right": Interval(0, 0, 0)}, {}, 1.5, 1.5, answers={"b": result, "a": result})
        run = await evaluations.begin(scope, kept.id, 0, {})
        done = await evaluations.finish(scope, run.id, outcome)
        assert done.outcome == outcome
        assert list(done.outcome.answers) == ["b", "a"]

    with_store(test)
