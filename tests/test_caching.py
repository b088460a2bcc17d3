"""Cached answers through the engine: who gets them, when they expire, and that removed documents invalidate them."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.core.accounts.access import LOCAL, Caller, ShareRequest
from pincite.core.documents.document import DocumentChange, Folder
from pincite.core.query.answer import Answer
from pincite.core.query.prompt import StreamPart
from pincite.core.query.question import Filters, Question, Sampling
from pincite.core.run import Answered, Event, Planned, SourcesFound, Started
from pincite.engine.app import AsyncPincite
from pincite.providers.scripted import ScriptedLLM

LEAVE = "# Leave\n\nUnused days of leave expire on 31 March.\n"
ASKED = "When do unused days of leave expire?"
OTHERWISE = "Please tell me when do unused days of leave expire"
Open = Callable[..., Any]


def add(pincite: AsyncPincite, path: Path, text: str = LEAVE, **more: Any) -> Any:
    path.write_text(text, encoding="utf-8")
    return pincite.add(path, **more)


def cached(answer: Answer) -> bool:
    return answer.metadata.cached


async def twice(pincite: AsyncPincite, question: str | Question = ASKED, **more: Any) -> tuple[Answer, Answer]:
    return await pincite.ask(question, **more), await pincite.ask(question, **more)


async def rows(pincite: AsyncPincite) -> list[Any]:
    async with pincite.services.database.administrator() as admin:
        return await (
            await admin.execute("select owner, documents, expires_at, answer from pincite.cached_answer order by id")
        ).fetchall()


def test_a_cached_answer_equals_the_first_with_new_ids(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            await add(pincite, tmp_path / "leave.md")
            heard: list[Event] = []
            first = await pincite.ask(ASKED)
            again = await pincite.ask(ASKED, listen=heard.append)
            assert (cached(first), cached(again)) == (False, True)
            assert (again.text, again.sources, again.citations) == (first.text, first.sources, first.citations)
            assert again.id != first.id
            assert again.metadata.trace_id != first.metadata.trace_id
            assert again.metadata.usage is None
            assert again.metadata.plan[-1] == "answer from the cache: the same words"
            assert [type(event) for event in heard] == [Started, Planned, SourcesFound, Answered]
            assert isinstance(heard[0], Started)
            assert heard[0].answer_id == again.id
            scope = await pincite.scope()
            trace = await pincite.services.traces.get(scope, again.metadata.trace_id)
            [span] = [span for span in trace.spans if span.name == "cache_lookup"]
            assert span.attributes["hit"] is True
            assert span.attributes["similarity"] == 1.0
            assert span.attributes["from_trace"] == first.metadata.trace_id
            assert trace.documents == tuple(dict.fromkeys(source.document_id for source in first.sources))
            assert "retrieval" not in {span.name for span in trace.spans}

    asyncio.run(main())


def test_a_paraphrase_is_a_cache_hit_and_another_question_is_not(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite(cache__recall_threshold=0.3) as pincite:  # the fake embedder counts every word alike
            await add(pincite, tmp_path / "leave.md", LEAVE + "Days of 2024 expire on 31 March 2025.\n")
            await pincite.ask(ASKED)
            again = await pincite.ask(OTHERWISE)
            assert cached(again)
            assert again.metadata.plan[-1].endswith(", its words compared")
            for other in ("When do unused days of leave not expire?", "When do unused days of leave of 2024 expire?"):
                answer = await pincite.ask(other)
                assert not cached(answer)
                trace = await pincite.services.traces.get(await pincite.scope(), answer.metadata.trace_id)
                [told] = [span.attributes for span in trace.spans if span.name == "cache_lookup"]
                assert told["differs_in"] in ("negation", "numbers")
                assert told["nearest"] > 0.3

    asyncio.run(main())


def test_a_cache_hit_is_saved_in_its_own_session(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            await add(pincite, tmp_path / "leave.md")
            await pincite.ask(ASKED)
            scope = await pincite.scope()
            session = await pincite.services.sessions.create(scope)
            answer = await pincite.ask(Question(ASKED, session_id=session.id))
            assert (cached(answer), answer.session_id) == (True, session.id)
            [turn] = (await pincite.services.sessions.get(scope, session.id)).turns
            assert turn.answer is not None
            assert (turn.answer.id, turn.trace_id) == (answer.id, answer.metadata.trace_id)
            follow_up = await pincite.ask(Question("And when do they not?", session_id=session.id))
            assert not cached(follow_up)

    asyncio.run(main())


# --- who -------------------------------------------------------------------------------------------------------


async def person(pincite: AsyncPincite, name: str, *groups: str) -> Caller:
    added = await pincite.admin.add_user(name, "reader")
    for group in groups:
        await pincite.services.users.join("local", group, name)
    return Caller(added.id, "reader")


def probes() -> list[str]:
    """Return sixty paraphrases of the question, all of which are cache hits for the user who asked it."""
    starts = ("", "Please ", "Tell me: ", "Could you tell me ", "Hi, ", "Do you know ", "I would like to know: ")
    ends = ("?", "", "??", "? Thanks!")
    cases: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper)
    bare = ASKED.rstrip("?")
    return [case(f"{start}{bare}{end}") for start in starts for end in ends for case in cases][:60]


def test_no_user_gets_a_cached_answer_of_another(open_pincite: Open, tmp_path: Path) -> None:
    async def given_by(pincite: AsyncPincite, caller: Caller, probe: str) -> str:
        """Return the trace of the answer: of this request, or of the cached one."""
        answer = await pincite.ask(probe, caller=caller)
        assert answer.sources
        trace = await pincite.services.traces.get(await pincite.scope(caller), answer.metadata.trace_id)
        [told] = [span.attributes for span in trace.spans if span.name == "cache_lookup"]
        return str(told.get("from_trace", answer.metadata.trace_id))

    async def main() -> None:
        async with open_pincite(cache__recall_threshold=0.3) as pincite:
            await pincite.services.users.add_group("local", "staff")
            anna, ben = await person(pincite, "anna", "staff"), await person(pincite, "ben", "staff")
            document = await add(pincite, tmp_path / "leave.md")
            await pincite.documents.share(document.id, ShareRequest(groups=("staff",)))
            first, *others = [await given_by(pincite, anna, probe) for probe in probes()]
            assert others.count(first) > 40  # to her they are one question
            told_ben = {await given_by(pincite, ben, probe) for probe in probes()}
            assert not told_ben & {first, *others}

    asyncio.run(main())


def test_a_lookup_does_the_same_work_whether_others_asked_or_not(open_pincite: Open, tmp_path: Path) -> None:
    async def spans_of(pincite: AsyncPincite, caller: Caller) -> list[tuple[str, str]]:
        answer = await pincite.ask(ASKED, caller=caller)
        trace = await pincite.services.traces.get(await pincite.scope(caller), answer.metadata.trace_id)
        # In any order: an index that is in memory is searched before the question is embedded.
        return sorted((span.name, str(span.attributes.get("known"))) for span in trace.spans)

    async def main() -> None:
        async with open_pincite() as pincite:
            anna, ben, carl = [await person(pincite, name) for name in ("anna", "ben", "carl")]
            document = await add(pincite, tmp_path / "leave.md")
            await pincite.documents.share(document.id, ShareRequest(everyone=True))
            before = await spans_of(pincite, anna)
            assert await spans_of(pincite, ben) == before
            assert await spans_of(pincite, carl) == before
            assert ("cache_lookup", "False") in before
            assert ("cache_lookup", "True") in await spans_of(pincite, ben)

    asyncio.run(main())


def test_changed_permissions_invalidate_cached_answers(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            await pincite.services.users.add_group("local", "staff")
            anna = await person(pincite, "anna", "staff")
            document = await add(pincite, tmp_path / "leave.md")
            await pincite.documents.share(document.id, ShareRequest(groups=("staff",)))
            assert [cached(answer) for answer in await twice(pincite, caller=anna)] == [False, True]
            await pincite.services.users.leave("local", "staff", "anna")
            assert not (await pincite.ask(ASKED, caller=anna)).sources
            await pincite.documents.share(document.id, ShareRequest(users=("anna",)))
            assert (await pincite.ask(ASKED, caller=anna)).sources  # the very same may be read as before
            other = await add(pincite, tmp_path / "other.md", "# Other\n\nUnused days of holiday expire in May.\n")
            await pincite.documents.share(other.id, ShareRequest(everyone=True))
            assert not cached(await pincite.ask(ASKED, caller=anna))
            await pincite.documents.share(document.id, ShareRequest())
            assert document.id not in {source.document_id for source in (await pincite.ask(ASKED, caller=anna)).sources}

    asyncio.run(main())


def test_a_suspended_user_has_no_cached_answers(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            anna = await person(pincite, "anna")
            document = await add(pincite, tmp_path / "leave.md")
            await pincite.documents.share(document.id, ShareRequest(everyone=True))
            await twice(pincite, caller=anna)
            await pincite.services.users.suspend("local", "anna", suspended=True)
            answer = await pincite.ask(ASKED, caller=anna)
            assert (cached(answer), answer.sources) == (False, ())

    asyncio.run(main())


# --- until when ------------------------------------------------------------------------------------------------


async def update(pincite: AsyncPincite, tmp_path: Path, _document: str) -> None:
    await add(pincite, tmp_path / "leave.md", LEAVE.replace("March", "April"))


async def another(pincite: AsyncPincite, tmp_path: Path, _document: str) -> None:
    await add(pincite, tmp_path / "more.md", "# More\n\nUnused days of leave may be paid.\n")


async def retitle(pincite: AsyncPincite, _tmp_path: Path, document: str) -> None:
    await pincite.documents.update(document, DocumentChange(title="Holidays"))


async def move(pincite: AsyncPincite, _tmp_path: Path, document: str) -> None:
    await pincite.documents.update(document, DocumentChange(folder="hr"))


async def reindex(pincite: AsyncPincite, _tmp_path: Path, document: str) -> None:
    await pincite.admin.reindex([document])
    await pincite.documents.wait([document])


async def set_top_k(pincite: AsyncPincite, _tmp_path: Path, _document: str) -> None:
    await pincite.services.live_settings.set({"rag.top_k": 3}, LOCAL)


async def label(pincite: AsyncPincite, _tmp_path: Path, _document: str) -> None:
    await pincite.services.folders.make(await pincite.scope(), Folder("hr", category_label="People"))


async def write_a_prompt(pincite: AsyncPincite, _tmp_path: Path, _document: str) -> None:
    own = pincite.settings.data / "prompts" / "answer" / "factual.txt"
    own.parent.mkdir(parents=True)
    own.write_text("Answer in one word.\n", encoding="utf-8")


@pytest.mark.parametrize("change", [update, another, retitle, move, reindex, set_top_k, label, write_a_prompt])
def test_a_change_of_what_an_answer_depends_on_invalidates_it(
    open_pincite: Open, tmp_path: Path, change: Callable[[AsyncPincite, Path, str], Any]
) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            document = await add(pincite, tmp_path / "leave.md")
            assert [cached(answer) for answer in await twice(pincite)] == [False, True]
            await change(pincite, tmp_path, document.id)
            answer, again = await twice(pincite)
            assert (cached(answer), cached(again)) == (False, True)
            if change is update:
                assert "April" in again.text

    asyncio.run(main())


def test_a_switched_index_invalidates_cached_answers(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            await add(pincite, tmp_path / "leave.md")
            await twice(pincite)
            await pincite.services.live_settings.set({"chunking.size": 60}, LOCAL)
            assert cached(await pincite.ask(ASKED))  # nothing is searched otherwise yet
            await pincite.admin.reindex()
            while (await pincite.services.index_switch.status()).building:
                await asyncio.sleep(0.05)
            assert not cached(await pincite.ask(ASKED))

    asyncio.run(main())


def test_other_options_get_separate_cached_answers(open_pincite: Open, tmp_path: Path) -> None:
    asked = Question(ASKED)
    wishes = [
        asked,
        replace(asked, top_k=3),
        replace(asked, strategy="lexical_only"),
        replace(asked, alpha=0.1),
        replace(asked, filters=Filters(tags=("hr",))),
        replace(asked, levels=(1,)),
        replace(asked, min_score=0.01),
        replace(asked, sampling=Sampling(max_tokens=50)),
        replace(asked, sampling=Sampling(system_prompt="Be brief.")),
        replace(asked, changes=(("rag.verification_enabled", False),)),
    ]

    async def main() -> None:
        async with open_pincite() as pincite:
            document = await add(pincite, tmp_path / "leave.md")
            await pincite.documents.update(document.id, DocumentChange(tags=("hr",)))
            assert not any([cached(await pincite.ask(wish)) for wish in wishes])
            assert all([cached(await pincite.ask(wish)) for wish in wishes])

    asyncio.run(main())


def test_a_cached_answer_expires_by_the_clock_of_the_database(open_pincite: Open, tmp_path: Path) -> None:
    async def age(pincite: AsyncPincite, created: str, expires: str) -> None:
        async with pincite.services.database.administrator() as admin:
            await admin.execute(
                "update pincite.cached_answer set created_at = clock_timestamp() + %s::interval,"
                " expires_at = clock_timestamp() + %s::interval",
                (created, expires),
            )

    async def main() -> None:
        async with open_pincite() as pincite:
            await add(pincite, tmp_path / "leave.md")
            await pincite.ask(ASKED)
            await age(pincite, "-301 s", "-1 s")
            assert not cached(await pincite.ask(ASKED))
            await age(pincite, "1 h", "65 min")  # the clock was put back by an hour
            assert not cached(await pincite.ask(ASKED))
            await age(pincite, "-1 h", "-55 min")
            assert await pincite.services.answer_cache.remove_expired() == 3
            assert await rows(pincite) == []

    asyncio.run(main())


def test_the_oldest_cached_answers_are_evicted(open_pincite: Open, tmp_path: Path) -> None:
    questions = [f"When do unused days of {kind} leave expire?" for kind in ("annual", "sick", "special", "parental")]

    async def main() -> None:
        async with open_pincite(cache__max_entries=3) as pincite:
            await add(pincite, tmp_path / "leave.md")
            for question in questions:
                await pincite.ask(question)
            assert len(await rows(pincite)) == 3
            assert [cached(await pincite.ask(question)) for question in reversed(questions)] == [
                True,
                True,
                True,
                False,
            ]

    asyncio.run(main())


# --- what is gone, and what never comes in ---------------------------------------------------------------------


def test_removing_a_document_removes_cached_answers_of_all_users(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            anna = await person(pincite, "anna")
            document = await add(pincite, tmp_path / "leave.md")
            await add(pincite, tmp_path / "noon.md", "# Canteen\n\nThe canteen opens at noon.\n")
            await pincite.documents.share(document.id, ShareRequest(everyone=True))
            await pincite.ask(ASKED)
            await pincite.ask(ASKED, caller=anna)
            receipt = await pincite.remove(document.id)
            assert (receipt.cache_entries, receipt.verified) == (2, True)
            assert not any(document.id in documents for _, documents, *_ in await rows(pincite))
            assert not cached(await pincite.ask(ASKED))

    asyncio.run(main())


@pytest.mark.parametrize("change", [update, another])
def test_an_answer_is_not_cached_if_documents_changed_meanwhile(
    open_pincite: Open,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[AsyncPincite, Path, str], Any],
) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            document = await add(pincite, tmp_path / "leave.md")
            keep = pincite.services.answer_cache.save

            async def too_late(*given: Any) -> bool:
                await change(pincite, tmp_path, document.id)
                kept = await keep(*given)
                assert kept is False
                return kept

            monkeypatch.setattr(pincite.services.answer_cache, "save", too_late)
            await pincite.ask(ASKED)
            assert await rows(pincite) == []

    asyncio.run(main())


def test_a_removal_waits_for_an_answer_being_cached_and_deletes_it(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            for number in range(5):
                document = await add(pincite, tmp_path / "leave.md")
                asking = [pincite.ask(Question(ASKED, top_k=n + 1)) for n in range(4)]
                *_, receipt = await asyncio.gather(*asking, pincite.remove(document.id))
                assert receipt.verified
                left = await rows(pincite)
                assert not any(document.id in documents for _, documents, *_ in left), number

    asyncio.run(main())


def test_incomplete_or_unusual_answers_are_never_cached(open_pincite: Open, tmp_path: Path) -> None:
    asked = Question(ASKED)
    never = {
        "fresh": replace(asked, fresh=True),
        "warm": replace(asked, sampling=Sampling(temperature=1.2)),
        "many": replace(asked, also=("holiday",)),
        "no documents": replace(asked, retrieve=False),
        "unknown tag": replace(asked, filters=Filters(tags=("nowhere",))),
        "abstained": Question("Which colour has the moon rover?"),
        "another profile": replace(asked, profile="vexora"),
    }

    async def main() -> None:
        async with open_pincite() as pincite:
            await add(pincite, tmp_path / "leave.md")
            for name, question in never.items():
                assert not any(map(cached, await twice(pincite, question))), name
            assert await rows(pincite) == []

    asyncio.run(main())


@pytest.mark.parametrize(
    "options", [{"llm.provider": "scripted"}, {"embedding.provider": "scripted", "cache.enabled": False}]
)
def test_nothing_is_cached_if_an_answer_is_cut_off_or_the_cache_is_disabled(
    open_pincite: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    async def cut(_self: ScriptedLLM, _prompt: Any) -> Any:
        yield StreamPart("Unused days expire on 31 March [1].")
        yield StreamPart(finish_reason="length")

    monkeypatch.setattr(ScriptedLLM, "write", cut)

    async def main() -> None:
        async with open_pincite(**options) as pincite:
            await add(pincite, tmp_path / "leave.md")
            assert not any(map(cached, await twice(pincite)))
            assert await rows(pincite) == []

    asyncio.run(main())


def test_answers_of_a_model_in_a_conversation_are_not_cached(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite(llm__provider="scripted") as pincite:
            await add(pincite, tmp_path / "leave.md")
            scope = await pincite.scope()
            session = await pincite.services.sessions.create(scope)
            first = Question("What is said about days?", session_id=session.id)
            assert not cached(await pincite.ask(first))
            before = len(await rows(pincite))
            asked = Question("Do unused days of leave expire?", session_id=session.id)
            assert not any(map(cached, await twice(pincite, asked)))
            assert len(await rows(pincite)) == before

    asyncio.run(main())


# --- faults ----------------------------------------------------------------------------------------------------


def test_concurrent_questions_are_all_answered_within_the_cache_limit(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite(cache__max_entries=5) as pincite:
            await add(pincite, tmp_path / "leave.md")
            asked = [f"When do {number} unused days of leave expire?" for number in range(8) for _ in range(3)]
            answers = await asyncio.gather(*map(pincite.ask, asked))
            assert all(answer.sources and not answer.degraded for answer in answers)
            await pincite.ask(ASKED)
            assert len(await rows(pincite)) <= 5

    asyncio.run(main())


async def held(pincite: AsyncPincite, admin: Any) -> None:
    await admin.execute("begin; lock table pincite.cached_answer in access exclusive mode")


async def gone(_pincite: AsyncPincite, admin: Any) -> None:
    await admin.execute("alter table pincite.cached_answer rename to elsewhere")


@pytest.mark.parametrize("fault", [held, gone])
def test_answers_continue_without_the_cache_table_and_report_it(
    open_pincite: Open, tmp_path: Path, fault: Callable[[AsyncPincite, Any], Any]
) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            await add(pincite, tmp_path / "leave.md")
            await pincite.ask(ASKED)
            async with pincite.services.database.administrator() as admin:
                await fault(pincite, admin)
                answer = await pincite.ask(ASKED)
                assert (cached(answer), [note.stage for note in answer.degraded]) == (False, ["cache_lookup"])
                assert "31 March" in answer.text

    asyncio.run(main())


def test_a_corrupt_cached_answer_is_not_returned(open_pincite: Open, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            await add(pincite, tmp_path / "leave.md")
            await pincite.ask(ASKED)
            async with pincite.services.database.administrator() as admin:
                await admin.execute("update pincite.cached_answer set answer = replace(answer, 'March', 'Marsh')")
            answer = await pincite.ask(ASKED)
            assert (cached(answer), "Marsh" in answer.text) == (False, False)

    asyncio.run(main())
