import asyncio
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import Scope
from pincite.core.accounts.conversations import KeptTurn
from pincite.core.query.question import Exchange
from pincite.errors import Invalid, NotFound
from pincite.store.conversations import sessions as sessions_module
from pincite.store.conversations.sessions import Sessions
from tests.builders import answer, source
from tests.store.waiting import somebody_waits

STRANGER = Scope("stranger", ())


def turn(question: str = "What is it?", words: str = "A cat. [Source 1]", **more: Any) -> KeptTurn:
    values = {"answer": answer(words), "complete": True, "trace_id": "t1", **more}
    return KeptTurn(question, f"{question} (alone)", words, **values)


def test_a_question_is_there_before_its_answer_and_completed_by_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = await sessions.create(scope)
        begun = await sessions.begin_turn(scope, session.id, "What purrs?", "t1")
        [pending] = (await Sessions(store.database).get(scope, session.id)).turns  # as another process finds it
        assert (pending.question, pending.words, pending.complete) == ("What purrs?", "", False)
        await sessions.save_turn(scope, session.id, turn("What purrs?"), begun)
        [whole] = (await sessions.get(scope, session.id)).turns
        assert (whole.question, whole.words, whole.complete) == ("What purrs?", "A cat. [Source 1]", True)

    with_store(test)


def test_a_refused_question_leaves_a_new_session_empty(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = await sessions.create(scope)
        await sessions.drop_turn(scope, session.id, await sessions.begin_turn(scope, session.id, "q", "t1"))
        assert await sessions.remove_if_empty(scope, session.id)

    with_store(test)


def test_a_session_stores_its_turns_and_gets_its_title_from_the_first_question(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = await sessions.create(scope)
        assert (session.title, session.turn_count) == ("", 0)
        await sessions.save_turn(scope, session.id, turn("What purrs at night " + "and walks " * 20))
        await sessions.save_turn(scope, session.id, turn("And in Germany?\0", "Same.", complete=False))
        found = await Sessions(store.database).get(scope, session.id)  # nothing is held in memory
        assert found.title.startswith("What purrs at night and walks")
        assert found.title.endswith("…")
        assert len(found.title) <= 80
        assert found.turn_count == 2
        assert [(t.question, t.complete) for t in found.turns][1] == ("And in Germany? ", False)
        assert found.turns[0].answer == answer("A cat. [Source 1]")
        assert found.updated_at > session.updated_at

    with_store(test)


def test_of_an_incomplete_answer_only_the_question_is_remembered(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = await sessions.create(scope)
        for number in range(4):
            await sessions.save_turn(scope, session.id, turn(f"q{number}", f"a{number}", complete=number != 3))
        assert await sessions.recent(scope, session.id, 2) == (
            Exchange("q2", "q2 (alone)", "a2"),
            Exchange("q3", "q3 (alone)", ""),
        )

    with_store(test)


def test_another_persons_session_is_not_found(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        with psycopg.connect(database_url, autocommit=True) as admin:
            admin.execute("insert into pincite.person (id, name, role) values ('stranger', 's', 'reader')")
        sessions, scope = Sessions(store.database), await store.scope()
        mine = (await sessions.create(scope, "mine")).id
        for call in (
            sessions.get(STRANGER, mine),
            sessions.rename(STRANGER, mine, "x"),
            sessions.remove(STRANGER, mine),
            sessions.recent(STRANGER, mine, 3),
            sessions.save_turn(STRANGER, mine, turn()),
        ):
            with pytest.raises(NotFound, match=f"no session '{mine}'"):
                await call
        assert await sessions.list(STRANGER) == ([], None)
        assert await sessions.remove_all(STRANGER) == 0
        assert (await sessions.get(scope, mine)).title == "mine"

    with_store(test)


def test_sessions_are_paged_and_searched(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        ids = [(await sessions.create(scope, f"Session {n}")).id for n in range(5)]
        await sessions.save_turn(scope, ids[1], turn("When does the 100% cable car run?", "From NINE on."))
        first, cursor = await sessions.list(scope, limit=3)
        rest, end = await sessions.list(scope, limit=3, cursor=cursor)
        assert [s.id for s in [*first, *rest]] == [ids[1], ids[4], ids[3], ids[2], ids[0]]
        assert end is None
        assert [s.id for s in (await sessions.list(scope, q="nine session 100%"))[0]] == [ids[1]]
        assert (await sessions.list(scope, q="nine zebras"))[0] == []
        with pytest.raises(Invalid, match="cursor"):
            await sessions.list(scope, cursor="bm90aGluZw==")

    with_store(test)


def test_sessions_are_renamed_and_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        first, second = (await sessions.create(scope)).id, (await sessions.create(scope)).id
        await sessions.save_turn(scope, first, turn())
        assert (await sessions.rename(scope, first, " The\ncat ")).title == "The cat"
        with pytest.raises(Invalid):
            await sessions.rename(scope, first, " ")
        await sessions.remove(scope, first)
        with pytest.raises(NotFound):
            await sessions.get(scope, first)
        assert (await sessions.get(scope, second)).turns == ()
        assert await sessions.remove_all(scope) == 1

    with_store(test)


def test_removing_a_document_removes_its_quotes_from_sessions(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        gone, kept = await store.put("a.md", "canary sentence"), await store.put("b.md", "kept sentence")
        session = (await sessions.create(scope)).id
        both = answer(
            "My words. [Source 1] Others. [Source 2]",
            sources=(source(1, gone, "canary sentence"), source(2, kept, "kept sentence")),
        )
        await sessions.save_turn(scope, session, turn(words=both.text, answer=both, documents=(gone, kept)))
        await sessions.save_turn(
            scope, session, turn(words="canary so far", answer=None, complete=False, documents=(gone,))
        )
        await sessions.save_turn(scope, session, turn("unrelated", "Stays."))
        receipt = await store.removal.remove(scope, gone)
        assert (receipt.quotes, receipt.verified) == (3, True)  # quote, snippet, incomplete answer
        first, cut, other = (await sessions.get(scope, session)).turns
        assert first.answer is not None
        assert first.words == both.text
        assert [s.snippet for s in first.answer.sources] == ["", "kept sentence"]
        assert [c.quote for c in first.answer.citations] == ["", "kept sentence"]
        assert "removed" in first.answer.warnings[0]
        assert (first.removed, cut.removed, other.removed) == (True, True, False)
        assert (cut.words, other.words) == ("[…]", "Stays.")
        assert [t.answer for t in await sessions.recent(scope, session, 9)] == ["", "", "Stays."]
        with psycopg.connect(database_url) as admin:
            row = admin.execute("select string_agg(t::text, '') from pincite.turn t").fetchone()
        assert row is not None
        assert "canary" not in row[0]

    with_store(test)


def test_an_answer_stored_after_its_document_was_removed_has_no_quotes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        gone = await store.put("a.md", "canary sentence")
        session = (await sessions.create(scope)).id
        late = answer("My words. [Source 1]", sources=(source(1, gone, "canary sentence"),))
        late_turn = turn(words=late.text, answer=late, documents=(gone,))
        await store.removal.remove(scope, gone)
        await sessions.save_turn(scope, session, late_turn)
        [kept] = (await sessions.get(scope, session)).turns
        assert kept.answer is not None
        assert (kept.removed, kept.documents, kept.answer.sources[0].snippet) == (True, (), "")

    with_store(test)


def test_a_turn_written_while_its_document_is_removed_has_no_quotes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = (await sessions.create(scope)).id
        for number in range(10):
            gone = await store.put(f"{number}.md", "canary sentence")
            said = answer("My words. [Source 1]", sources=(source(1, gone, "canary sentence"),))
            kept = turn(words=said.text, answer=said, documents=(gone,))
            await asyncio.gather(
                sessions.save_turn(scope, session, kept),
                sessions.save_turn(scope, session, replace(kept, question="again")),
                store.removal.remove(scope, gone),
            )
        found = await sessions.get(scope, session)
        assert found.turn_count == 20
        assert {t.answer.sources[0].snippet for t in found.turns if t.answer} == {""}

    with_store(test)


def test_quotes_are_removed_from_the_sessions_of_everyone(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        gone = await store.put("a.md", "canary sentence")
        with psycopg.connect(database_url, autocommit=True) as admin:
            admin.execute("insert into pincite.person (id, name, role) values ('stranger', 's', 'reader')")
            theirs = (await sessions.create(STRANGER)).id
            said = answer("My words. [Source 1]", sources=(source(1, gone, "canary sentence"),))
            await sessions.save_turn(STRANGER, theirs, turn(words=said.text, answer=said))
            admin.execute(
                "insert into pincite.turn_document select %s, id, owner from pincite.turn where owner = 'stranger'",
                (gone,),
            )
        receipt = await store.removal.remove(scope, gone)
        assert (receipt.quotes, receipt.verified) == (2, True)
        [kept] = (await sessions.get(STRANGER, theirs)).turns
        assert kept.removed
        assert "canary" not in str(kept)

    with_store(test)


def test_a_turn_is_written_after_cancellation_and_close_waits_for_it(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = await sessions.create(scope)
        with psycopg.connect(database_url) as other:
            other.execute("lock table pincite.turn")
            keeping = asyncio.create_task(sessions.save_turn(scope, session.id, turn()))
            while not somebody_waits(other):
                await asyncio.sleep(0.01)
            keeping.cancel()
            with pytest.raises(asyncio.CancelledError):
                await keeping
        await sessions.close()
        assert (await sessions.get(scope, session.id)).turn_count == 1

    with_store(test)


def test_only_a_session_without_turns_is_removed_as_empty(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        empty, used = await sessions.create(scope), await sessions.create(scope)
        await sessions.save_turn(scope, used.id, turn())
        assert not await sessions.remove_if_empty(STRANGER, empty.id)
        assert [await sessions.remove_if_empty(scope, one.id) for one in (empty, used, empty)] == [True, False, False]
        with pytest.raises(NotFound):
            await sessions.get(scope, empty.id)
        assert (await sessions.get(scope, used.id)).turn_count == 1

    with_store(test)


def test_a_session_with_a_pending_turn_is_not_removed_as_empty(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = await sessions.create(scope)
        with psycopg.connect(database_url) as other:
            other.execute(
                "insert into pincite.turn (session_id, owner, question, standalone, words, complete, trace_id)"
                " values (%s, 'local', 'q', 'q', 'a', true, 't')",
                (session.id,),
            )
            other.execute("update pincite.session set updated_at = now() where id = %s", (session.id,))
            removing = asyncio.create_task(sessions.remove_if_empty(scope, session.id))
            while not somebody_waits(other):
                await asyncio.sleep(0.01)
        assert not await removing
        assert (await sessions.get(scope, session.id)).turn_count == 1

    with_store(test)


def test_a_long_session_is_shown_with_its_last_turns(with_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MAX_TURNS", 2)

    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        session = await sessions.create(scope)
        for number in range(3):
            await sessions.save_turn(scope, session.id, turn(f"q{number}"))
        found = await sessions.get(scope, session.id)
        assert ([one.question for one in found.turns], found.turn_count) == (["q1", "q2"], 3)

    with_store(test)


def test_the_number_of_search_words_for_sessions_is_limited(with_store: Any) -> None:
    async def test(store: Any) -> None:
        sessions, scope = Sessions(store.database), await store.scope()
        assert await sessions.list(scope, q="word " * 20) == ([], None)
        with pytest.raises(Invalid, match="at most 20 words"):
            await sessions.list(scope, q="word " * 21)

    with_store(test)
