"""Live settings: changed in one process, followed by all; runs in progress keep their snapshot."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, NotAllowed, SettingsError, StoreDown
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedLLM
from pincite.query import pipeline
from tests.builders import answering
from tests.steady_clock import now

CATS = "# Cats\n\nCats purr when they are content. They sleep for sixteen hours a day.\n"
Open = Callable[..., Any]


async def becomes(pincite: AsyncPincite, key: str, value: Any, within_s: float = 20) -> float:
    """Wait until a setting has a value; return the seconds it took."""
    started = now()
    while pincite.services.live_settings.line(key).value != value:
        assert now() - started < within_s, f"{key} is still {pincite.services.live_settings.line(key).value}"
        await asyncio.sleep(0.01)
    return now() - started


def wrote(path: Path, text: str = CATS) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# --- in every process -----------------------------------------------------------------------------------------


def test_a_change_in_one_engine_reaches_another_within_a_second(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as one, open_pincite() as other:
            outcome = await one.services.live_settings.set({"rag.top_k": 3}, LOCAL)
            assert (one.settings.rag.top_k, one.settings.revision, outcome.revision) == (3, 1, 1)
            assert await becomes(other, "rag.top_k", 3) < 1.0
            assert (other.settings.rag.top_k, other.settings.revision) == (3, 1)
            await other.services.live_settings.set({"rag.top_k": None}, LOCAL)
            assert await becomes(one, "rag.top_k", 10) < 1.0

    asyncio.run(go())


def test_a_change_without_notification_is_found_by_polling(open_pincite: Open, database_url: str) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            with psycopg.connect(database_url) as admin:  # as behind a pooler, through which nobody can listen
                admin.execute("insert into pincite.setting (key, value) values ('rag.top_k', '4')")
                admin.execute(
                    "insert into pincite.setting_change (batch, kind, key, after, person)"
                    " values (1, 'set', 'rag.top_k', '4', 'local')"
                )
            assert await becomes(pincite, "rag.top_k", 4) < 1.0

    asyncio.run(go())


def test_a_change_survives_a_restart(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.services.live_settings.set({"rag.alpha": "0.25", "category_labels": {"hr": "People"}}, LOCAL)
        async with open_pincite() as pincite:
            assert (pincite.settings.rag.alpha, pincite.settings.category_labels) == (0.25, {"hr": "People"})
            assert pincite.services.live_settings.line("rag.alpha").source == "database"
        async with open_pincite(rag__alpha=0.9) as pincite:  # what is passed in code wins, and what it hides is told
            line = pincite.services.live_settings.line("rag.alpha")
            assert (line.value, line.source, line.stored) == (0.9, "call", 0.25)

    asyncio.run(go())


def test_a_run_in_flight_keeps_its_settings_and_its_tools(open_pincite: Open, tmp_path: Path) -> None:
    class Waiting(ScriptedLLM):
        async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
            writing.set()
            await go_on.wait()
            async for piece in super().write(prompt):
                yield piece

    writing, go_on = asyncio.Event(), asyncio.Event()

    async def go() -> None:
        async with open_pincite(llm__provider="scripted") as pincite, open_pincite() as other:
            await pincite.add(wrote(tmp_path / "cats.md"))
            with answering(pincite, Waiting(Options(answers=("Cats purr. [Source 1]",)))):
                asking = asyncio.create_task(pincite.ask("Why do cats purr?"))
                await writing.wait()
            await other.services.live_settings.set(
                {"llm.provider": "extractive", "llm.question_timeout_s": 0.01}, LOCAL
            )
            await becomes(pincite, "llm.question_timeout_s", 0.01)
            go_on.set()
            answer = await asking
            assert (answer.text, answer.metadata.model, answer.degraded) == ("Cats purr. [Source 1]", "scripted", ())

    asyncio.run(go())


def test_a_run_holds_one_snapshot_from_its_first_stage_to_its_last(
    open_pincite: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        started, go_on = asyncio.Event(), asyncio.Event()

        async def answer(run: Run, _: Question) -> tuple[int, int, str]:
            started.set()
            await go_on.wait()
            return run.settings.rag.top_k, run.settings.revision, run.kit.llm.name

        async with open_pincite() as pincite:
            monkeypatch.setattr(pipeline, "answer", answer)
            asking = asyncio.create_task(pincite.ask("?"))
            await started.wait()
            await pincite.services.live_settings.set({"rag.top_k": 2, "llm.provider": "scripted"}, LOCAL)
            go_on.set()
            assert await asking == (10, 0, "extractive")
            assert await pincite.ask("?") == (2, 1, "scripted")

    asyncio.run(go())


def test_a_run_reads_settings_and_tools_together_after_its_scope(
    open_pincite: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(run: Run, _: Question) -> tuple[int, str]:
        return run.settings.revision, run.kit.llm.name

    async def go() -> None:
        async with open_pincite() as pincite:
            monkeypatch.setattr(pipeline, "answer", answer)
            scope = pincite.services.library.scope_now

            async def slow(person: str) -> Any:
                if not pincite.settings.revision:
                    await pincite.services.live_settings.set({"llm.provider": "scripted"}, LOCAL)
                return await scope(person)

            pincite.services.library.scope_now = slow
            assert await pincite.ask("?") == (1, "scripted")

    asyncio.run(go())


def test_tools_of_a_running_job_are_kept_until_it_ends(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Waiting(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
            embedding.set()
            await go_on.wait()
            return await super().embed(texts, as_query=as_query)

    async def untidy(self: object) -> None:
        """Disable the background clean-up: the test runs it itself."""

    embedding, go_on = asyncio.Event(), asyncio.Event()
    monkeypatch.setattr("pincite.engine.index.tools.MIN_KEEP_S", -1.0)
    monkeypatch.setattr("pincite.ingest.worker.Workers._run_housekeeping", untidy)

    async def go() -> None:
        data = tmp_path / "data"
        data.mkdir()
        text = '[embedding]\nprovider = "scripted"\n[llm]\nquestion_timeout_s = 0.5\n'
        (data / "settings.toml").write_text(text, encoding="utf-8")
        chosen = {"data": data, "database.url": database_url, "ingest.workers": 1}
        async with AsyncPincite(settings=chosen) as pincite:
            [old] = pincite.services.tools_pool._tools.values()
            old.bulk_embedder._embedder = Waiting(Options())  # type: ignore[attr-defined]
            adding = asyncio.create_task(pincite.add(wrote(tmp_path / "cats.md")))
            await embedding.wait()
            await pincite.services.live_settings.set({"resilience.retries": 1}, LOCAL)
            await asyncio.sleep(0.6)
            await pincite.services._clean_up()
            assert old in pincite.services.tools_pool._tools.values()
            go_on.set()
            await adding
            while pincite.services.workers.kits_in_use:
                await asyncio.sleep(0.01)
            await pincite.services._clean_up()
            assert old not in pincite.services.tools_pool._tools.values()

    asyncio.run(go())


# --- what may be changed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"rag.topk": 3}, "there is no setting 'rag.topk'; did you mean 'rag.top_k'"),
        ({"rag.top_k": 0}, "'rag.top_k' must be a whole number from 1 to 1000"),
        ({"rag.top_k": "many"}, "'rag.top_k' must be a whole number from 1 to 1000"),
        ({"rag.top_k": True}, "'rag.top_k' must be a whole number"),
        ({"rag.alpha": 0.5, "rag.fusion": "magic"}, "'rag.fusion' must be 'relative_score' or 'rrf'"),
        ({"category_labels": {"a": 1}}, "'category_labels' must be a table"),
        ({"llm.api_key": "canary"}, "secrets are never stored"),
        ({"server.port": 1}, "only when a process starts"),
        ({"data": "/x"}, "only when a process starts"),
        ({"embedding.path": "/x"}, "outside the library"),
        ({"rerank.path": "/x"}, "outside the library"),
        ({"rerank.api_key": "canary"}, "secrets are never stored"),
        ({"rerank.base_url": "http://me:canary@127.0.0.1"}, "contains a password"),
        ({"rag.reranker": "cross_encoder"}, "needs rerank.path"),
        ({"rag.reranker": "rerank_api"}, "rerank.base_url must be a URL"),
        ({"rag.reranker": "rerank_api", "rerank.base_url": "http://x", "rerank.shape": "jina"}, "set rerank.model"),
        ({"llm.provider": "os.path"}, "accepts a dotted path only from the environment"),
        ({"rag.reranker": "some.package"}, "accepts a dotted path only from the environment"),
        ({"llm.provider": "nobody"}, "there is no llm called 'nobody'"),
        ({"rag.reranker": "nobody"}, "there is no reranker called 'nobody'"),
        ({"llm.provider": "openai_compatible", "llm.base_url": "ftp://x"}, "base_url must be a URL"),
        ({"llm.model": "a\0b"}, "cannot be stored"),
        ({"llm.base_url": "http://me:canary@127.0.0.1/v1"}, "contains a password"),
        ({"llm.base_url": "http://127.0.0.1/v1?key=canary"}, "contains a password or a query"),
        ({"llm.base_url": "http://[x"}, "base_url must be a URL"),
        ({"llm.base_url": "http://127.0.0.1:99999/v1"}, "base_url must be a URL"),
        ({"rag.alpha": float("nan")}, "'rag.alpha' must be a number from 0 to 1"),
        ({"category_labels": {"a": "b\0"}}, "cannot be stored"),
    ],
)
def test_an_invalid_change_is_refused_and_changes_nothing(
    module_database_url: str, tmp_path: Path, values: dict[str, Any], told: str
) -> None:
    async def go() -> None:
        chosen = {"data": tmp_path, "database.url": module_database_url, "embedding.provider": "scripted"}
        async with AsyncPincite(settings=chosen) as pincite:
            before = pincite.settings
            with pytest.raises(Invalid, match=told) as raised:
                await pincite.services.live_settings.set(values, LOCAL)
            assert "canary" not in str(raised.value)
            assert pincite.settings is before
            assert await pincite.services.live_settings.history(LOCAL, limit=9) == []

    asyncio.run(go())


def test_only_an_administrator_changes_settings(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            editor = Caller("local", "editor")
            live = pincite.services.live_settings
            calls = (
                live.set({"rag.top_k": 3}, editor),
                live.undo(editor),
                live.apply("local", editor),
                live.history(editor, limit=1),
            )
            for change in calls:
                with pytest.raises(NotAllowed):
                    await change

    asyncio.run(go())


def test_an_api_key_is_never_sent_to_another_server(open_pincite: Open, tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite(llm__api_key="canary") as pincite:
            with pytest.raises(Invalid, match="would be sent to the new server") as raised:
                await pincite.services.live_settings.set({"llm.base_url": "http://127.0.0.1:9/v1"}, LOCAL)
            assert "canary" not in str(raised.value)
        async with open_pincite() as pincite:
            await pincite.services.live_settings.set({"llm.base_url": "http://127.0.0.1:9/v1", "llm.model": "m"}, LOCAL)

    asyncio.run(go())


@pytest.mark.parametrize(
    ("stored", "configured"),
    [
        ({"llm.base_url": "http://127.0.0.1:9/v1"}, {"LLM_API_KEY": "canary", "LLM_BASE_URL": "http://127.0.0.1:8/v1"}),
        ({"llm.provider": "anthropic"}, {"LLM_API_KEY": "canary"}),
        ({"llm.fallback.base_url": "http://127.0.0.1:9/v1"}, {"PINCITE_LLM__FALLBACK__API_KEY": "canary"}),
        ({"embedding.base_url": "http://127.0.0.1:9/v1"}, {"PINCITE_EMBEDDING__API_KEY": "canary"}),
        ({"rerank.base_url": "http://127.0.0.1:9"}, {"PINCITE_RERANK__API_KEY": "canary"}),
    ],
)
def test_a_stored_server_never_gets_an_api_key_configured_later(
    open_pincite: Open, monkeypatch: pytest.MonkeyPatch, stored: dict[str, str], configured: dict[str, str]
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.services.live_settings.set({**stored, "rag.top_k": 3}, LOCAL)
        for name, value in configured.items():
            monkeypatch.setenv(name, value)
        async with open_pincite() as pincite:
            [(key, reason)] = pincite.services.live_settings.ignored.items()
            assert key in stored
            assert "would be sent to the new server" in reason
            assert "canary" not in reason
            assert pincite.services.live_settings.line(key).source != "database"
            assert pincite.settings.rag.top_k == 3
            await pincite.services.live_settings.set({"llm.provider": "extractive"}, LOCAL)  # to which no key goes
            with pytest.raises(Invalid, match="would be sent to the new server"):
                await pincite.services.live_settings.set({**stored}, LOCAL)
            await pincite.services.live_settings.set(dict.fromkeys(stored), LOCAL)
            assert pincite.services.live_settings.ignored == {}

    asyncio.run(go())


def test_a_refused_change_leaves_nothing_behind(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        (tmp_path / "settings.toml").write_text('[embedding]\nprovider = "scripted"\n', encoding="utf-8")
        async with AsyncPincite(settings={"data": tmp_path, "database.url": database_url}) as pincite:
            other = {"embedding.provider": "ollama", "embedding.model": "m", "embedding.dimensions": 8}
            with pytest.raises(Invalid, match="no llm called"):
                await pincite.services.live_settings.set({**other, "llm.provider": "nobody"}, LOCAL)
            with psycopg.connect(database_url) as admin:
                assert admin.execute("select count(*) from pincite.embedding_model").fetchone() == (1,)

    asyncio.run(go())


def test_twenty_concurrent_changes_are_all_stored(open_pincite: Open) -> None:
    keys = [
        "rag.top_k",
        "rag.candidates",
        "rag.rrf_k",
        "rag.multi_query_rrf_k",
        "rag.ef_search",
        "rag.rerank_top",
        "guard.max_query_chars",
        "context.max_tokens",
        "llm.max_tokens",
        "chunking.size",
    ]

    async def go() -> None:
        async with open_pincite() as one, open_pincite() as other:
            await asyncio.gather(
                *(
                    pincite.services.live_settings.set({key: 100 + number * 10 + n}, LOCAL)
                    for number, key in enumerate(keys)
                    for n, pincite in enumerate((one, other))
                )
            )
            changes = await one.services.live_settings.history(LOCAL, limit=100)
            assert sorted(change.batch for change in changes) == list(range(1, 21))
            last = {change.key: change.after for change in reversed(changes)}
            for pincite in (one, other):
                for key in keys:
                    await becomes(pincite, key, last[key])
                assert pincite.settings.revision == 20

    asyncio.run(go())


# --- taking back ----------------------------------------------------------------------------------------------


def test_undo_goes_back_step_by_step(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            control = pincite.services.live_settings
            await control.set({"rag.top_k": 2}, LOCAL)
            await control.set({"rag.top_k": 3, "rag.alpha": 0.1}, LOCAL)
            await control.set({"rag.top_k": None}, LOCAL)
            seen = []
            for _ in range(3):
                outcome = await control.undo(LOCAL)
                assert {change.kind for change in outcome.changes} == {"undo"}
                seen.append((pincite.settings.rag.top_k, pincite.settings.rag.alpha))
            assert seen == [(3, 0.1), (2, 0.5), (10, 0.5)]
            with pytest.raises(Invalid, match="no change left"):
                await control.undo(LOCAL)
            await control.set({"rag.top_k": 4}, LOCAL)
            await control.undo(LOCAL)
            assert pincite.settings.rag.top_k == 10

    asyncio.run(go())


def test_the_history_says_who_when_and_what(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.services.live_settings.set({"rag.top_k": "2"}, Caller("local", "administrator", "key7"))
            await pincite.services.live_settings.undo(LOCAL)
            undo, set_ = await pincite.services.live_settings.history(LOCAL, limit=9)
            assert (set_.kind, set_.key, set_.before, set_.after, set_.person, set_.key_id, set_.undone) == (
                "set",
                "rag.top_k",
                None,
                2,
                "local",
                "key7",
                True,
            )
            assert (undo.kind, undo.before, undo.after, undo.undoes, undo.key_id) == ("undo", 2, None, 1, None)
            assert undo.changed_at >= set_.changed_at

    asyncio.run(go())


# --- profiles -------------------------------------------------------------------------------------------------


def test_a_profile_is_applied_as_one_batch_and_replaced_by_another(open_pincite: Open, tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.add(wrote(tmp_path / "cats.md"))
            await pincite.services.live_settings.set({"rag.rrf_k": 7, "rag.bm25_b": 0.25, "chunking.size": 300}, LOCAL)
            outcome = await pincite.services.live_settings.apply("zoeflow", LOCAL)
            assert {change.batch for change in outcome.changes} == {2}
            assert set(outcome.reindex) == {"chunking.lead", "chunking.size", "enrichment.enabled"}
            assert any("the embedding model text-embedding-3-small" in note for note in outcome.missing)
            rag = pincite.settings.rag
            assert (rag.top_k, rag.use_hybrid_search, rag.rrf_k, rag.bm25_b) == (5, False, 30, 0.25)
            expected, _ = pincite.services.live_settings.diff_profile("adaptive")
            await pincite.services.live_settings.apply("adaptive", LOCAL)
            assert expected["rag.fusion"] == ("relative_score", "rrf")
            assert (pincite.settings.rag.top_k, pincite.settings.rag.fusion) == (10, "rrf")
            assert pincite.settings.rag.use_hybrid_search is True
            await pincite.services.live_settings.undo(LOCAL)
            assert (pincite.settings.rag.top_k, pincite.settings.rag.use_hybrid_search) == (5, False)
            await pincite.services.live_settings.apply("default", LOCAL)
            assert set(pincite.services.live_settings.changes) == {"rag.bm25_b"}
            with pytest.raises(Invalid, match="there are: default"):
                await pincite.services.live_settings.apply("nobody", LOCAL)

    asyncio.run(go())


def test_a_profile_in_a_request_changes_that_request_alone(open_pincite: Open, tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.add(wrote(tmp_path / "cats.md"))
            before = pincite.settings
            found = await pincite.search(Question("cats purr", profile="zoeflow"))
            assert (found.strategy, found.plan.top_k) == ("dense_only", 5)
            assert [note.reason.partition(";")[0] for note in found.degraded] == [
                "the profile zoeflow is made for a language model of openrouter.ai",
                "the profile zoeflow is made for the embedding model text-embedding-3-small, which is not configured",
            ]
            found = await pincite.search(Question("cats purr", profile="zoeflow", strategy="lexical_only"))
            assert found.strategy == "lexical_only"
            answer = await pincite.ask(Question("Why do cats purr?", profile="five-stage"))
            assert {note.stage for note in answer.degraded} == {"profile"}
            reason = answer.degraded[0].reason
            assert "the language model llama-3.1-8b-instant, which is not configured; extractive is used" in reason
            with pytest.raises(Invalid, match="there is no profile 'nobody'"):
                await pincite.search(Question("cats", profile="nobody"))
            assert pincite.settings is before

    asyncio.run(go())


def test_a_profile_in_a_request_is_not_mixed_with_the_one_applied(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite(**{"context.order": "sandwich"}) as pincite:
            live = pincite.services.live_settings
            await live.apply("five-stage", LOCAL)
            await live.set({"rag.bm25_b": 0.25}, LOCAL)
            assert (pincite.settings.context.template, pincite.settings.llm.max_tokens) == ("five-stage", 500)
            made, _ = live.for_profile("zoeflow")
            assert (made.context.template, made.llm.max_tokens, made.llm.temperature) == ("default", 1000, None)
            assert (made.confidence.rule, made.rag.top_k) == ("calibrated", 5)
            assert (made.rag.bm25_b, made.context.order) == (0.25, "sandwich")  # no profile sets it; passed in code
            made, _ = live.for_profile("local")
            assert (made.context.template, made.llm.max_tokens) == ("local", 1000)

    asyncio.run(go())


def test_the_environment_overrides_a_profile_in_a_request_and_the_answer_says_so(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        monkeypatch.setenv("RETRIEVAL_TOP_K", "3")
        settings = {"data": tmp_path, "database.url": database_url, "embedding.provider": "scripted"}
        async with AsyncPincite(settings=settings) as pincite:
            made, notes = pincite.services.live_settings.for_profile("five-stage")
            assert (made.rag.top_k, made.rag.similarity_threshold) == (3, 0.15)
            note = "rag.top_k is 3: the environment sets it (RETRIEVAL_TOP_K); the profile five-stage has 10"
            assert note in notes
            for number in range(5):
                await pincite.add(wrote(tmp_path / f"{number}.md", f"# Cat {number}\n\nCats purr {number}.\n"))
            answer = await pincite.ask(Question("Which cats purr?", profile="five-stage"))
            assert answer.metadata.chunks_retrieved == 3
            assert note in [one.reason for one in answer.degraded]

    asyncio.run(go())


def test_settings_passed_in_code_override_a_profile(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite(rag__top_k=3) as pincite:
            assert (await pincite.search(Question("cats", profile="zoeflow"))).plan.top_k == 3

    asyncio.run(go())


# --- safe mode and what other versions wrote --------------------------------------------------------------------


def test_safe_mode_ignores_the_changes_and_says_so(open_pincite: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.services.live_settings.set({"rag.top_k": 3}, LOCAL)
            monkeypatch.setenv("PINCITE_SAFE", "1")
            async with open_pincite() as safe:
                assert (safe.settings.rag.top_k, safe.services.live_settings.safe) == (10, True)
                line = safe.services.live_settings.line("rag.top_k")
                assert (line.source, line.stored) == ("default", 3)
                assert safe.services.live_settings.ignored == {"rag.top_k": "PINCITE_SAFE is set"}
                with pytest.raises(Invalid, match="no llm called 'nobody'"):
                    await safe.services.live_settings.set({"llm.provider": "nobody"}, LOCAL)
                await safe.services.live_settings.set({"rag.top_k": None, "rag.alpha": 0.2}, LOCAL)  # mending goes on
                assert safe.settings.rag.alpha == 0.5
            await becomes(pincite, "rag.alpha", 0.2)
            await becomes(pincite, "rag.top_k", 10)

    asyncio.run(go())


def test_a_stored_setting_that_became_invalid_is_ignored(open_pincite: Open, database_url: str) -> None:
    async def go() -> None:
        async with open_pincite():
            pass
        with psycopg.connect(database_url, autocommit=True) as admin:
            for key, value in (("rag.gone", 1), ("rag.top_k", 100_000), ("rag.alpha", 0.3)):
                admin.execute("insert into pincite.setting (key, value) values (%s, %s)", (key, Jsonb(value)))
        async with open_pincite() as pincite:
            assert (pincite.settings.rag.top_k, pincite.settings.rag.alpha) == (10, 0.3)
            assert set(pincite.services.live_settings.ignored) == {"rag.gone", "rag.top_k"}
            await pincite.services.live_settings.set({"rag.gone": None, "rag.rrf_k": 5}, LOCAL)
            assert set(pincite.services.live_settings.ignored) == {"rag.top_k"}

    asyncio.run(go())


def test_the_error_of_a_failed_start_names_safe_mode(
    open_pincite: Open, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite():
            pass
        with psycopg.connect(database_url, autocommit=True) as admin:
            admin.execute("insert into pincite.setting (key, value) values ('llm.provider', '\"gone\"')")
            admin.execute("insert into pincite.setting (key, value) values ('rag.reranker', '\"gone\"')")
        with pytest.raises(SettingsError, match=r"no llm called 'gone'.*PINCITE_SAFE=1"):
            async with open_pincite():
                pass
        monkeypatch.setenv("PINCITE_SAFE", "1")
        async with open_pincite() as pincite:
            await pincite.services.live_settings.set({"llm.provider": None}, LOCAL)  # one after the other
            await pincite.services.live_settings.set({"rag.reranker": None}, LOCAL)

    asyncio.run(go())


# --- the index ------------------------------------------------------------------------------------------------


def test_index_settings_act_on_documents_indexed_after_them_and_mark_the_others_stale(
    open_pincite: Open, tmp_path: Path
) -> None:
    async def go() -> None:
        text = "# Long\n\n" + " ".join(f"Sentence number {n} is here." for n in range(60)) + "\n"
        async with open_pincite() as pincite:
            before = await pincite.add(wrote(tmp_path / "a.md", text))
            outcome = await pincite.services.live_settings.set({"chunking.size": 40, "chunking.overlap": 0}, LOCAL)
            assert set(outcome.reindex) == {"chunking.size", "chunking.overlap"}
            assert await pincite.services.library.stale(await pincite.scope()) == 1
            assert (await pincite.get(before.id)).stale
            new = await pincite.add(wrote(tmp_path / "b.md", text))
            assert (new.stale, new.chunks > 3 * before.chunks) == (False, True)
            assert not (await pincite.search("Sentence number 3")).degraded
            assert (await pincite.get(before.id)).stale
            assert await pincite.admin.reindex(stale=True) == 1
            await switched(pincite)
            after = await pincite.get(before.id)
            assert (after.stale, after.chunks) == (False, new.chunks)
            assert await pincite.services.library.stale(await pincite.scope()) == 0

    asyncio.run(go())


async def switched(pincite: AsyncPincite) -> None:
    """Wait until the new index is in service."""
    async with asyncio.timeout(180):
        while (await pincite.services.index_switch.status()).building:
            await asyncio.sleep(0.05)


def test_other_dimensions_under_a_known_name_are_refused(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        (tmp_path / "settings.toml").write_text('[embedding]\nprovider = "scripted"\n', encoding="utf-8")
        async with AsyncPincite(settings={"data": tmp_path, "database.url": database_url}) as pincite:
            with pytest.raises(Invalid, match="is registered with 64 dimensions, not 32"):
                await pincite.services.live_settings.set({"embedding.dimensions": 32}, LOCAL)
            assert pincite.settings.embedding.dimensions == 0

    asyncio.run(go())


def test_another_embedder_is_used_only_after_all_documents_are_reindexed(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(ScriptedEmbedder):
        name = "other/1"

    monkeypatch.setattr("pincite.providers.cosine.Options", Options, raising=False)
    monkeypatch.setattr("pincite.providers.cosine.make_embedder", lambda options: Other(options), raising=False)

    async def go() -> None:
        data = tmp_path / "data"
        data.mkdir()
        (data / "settings.toml").write_text('[embedding]\nprovider = "scripted"\n', encoding="utf-8")
        chosen = {"data": data, "database.url": database_url, "ingest.workers": 1}
        async with AsyncPincite(settings=chosen) as pincite:
            await pincite.add(wrote(tmp_path / "cats.md"))
            await pincite.add(wrote(tmp_path / "dogs.md", "# Dogs\n\nDogs bark at the door.\n"))
            assert (await pincite.search("cats purr")).degraded == ()
            await pincite.services.live_settings.set({"embedding.provider": "cosine"}, LOCAL)
            assert pincite.services.embedder.name == "scripted/1"
            assert (await pincite.search("cats purr")).degraded == ()
            assert await pincite.admin.reindex() == 2
            await switched(pincite)
            found = await pincite.search("dogs bark")
            assert pincite.services.embedder.name == "other/1"
            assert (found.degraded, found.hits[0].similarity > 0) == ((), True)
            await pincite.services.live_settings.undo(LOCAL)
            assert pincite.services.embedder.name == "other/1"
            await pincite.admin.roll_back_index()
            assert (await pincite.search("dogs bark")).degraded == ()
            assert pincite.services.embedder.name == "scripted/1"

    asyncio.run(go())


# --- the server goes and comes back -----------------------------------------------------------------------------


@pytest.mark.slow
def test_following_changes_resumes_after_the_database_was_killed(tmp_path: Path) -> None:
    async def go() -> None:
        chosen = {"embedding.provider": "scripted", "ingest.workers": 0}
        async with (
            AsyncPincite(tmp_path / "data", settings=chosen) as one,
            AsyncPincite(tmp_path / "data", settings=chosen) as other,
        ):
            await one.services.live_settings.set({"rag.top_k": 2}, LOCAL)
            await becomes(other, "rag.top_k", 2)
            pid = int((tmp_path / "data" / "postgres" / "postmaster.pid").read_text().splitlines()[0])
            os.kill(pid, signal.SIGKILL)
            async with asyncio.timeout(60):
                while one.settings.rag.top_k != 3:
                    try:
                        await one.services.live_settings.set({"rag.top_k": 3}, LOCAL)
                    except StoreDown:
                        await asyncio.sleep(0.1)
            await becomes(other, "rag.top_k", 3, within_s=30)

    asyncio.run(go())
