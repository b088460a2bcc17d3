"""Questions: ask, search, replay, run a flow; and what is kept of them."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from pincite.config.branches.retrieval import Rag
from pincite.config.levels import LEVEL, find_level
from pincite.config.profiles import find_profile, for_request
from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.query.answer import Answer, Degraded, FusionSettings, SearchResult
from pincite.core.query.question import Question
from pincite.core.request_context import deadline, request_id
from pincite.core.run import Event, Kit, Run, prefetched
from pincite.core.traces import Trace
from pincite.engine.index.tools import IndexTools
from pincite.engine.wiring import Services
from pincite.errors import Invalid, OverBudget, SettingsError
from pincite.flows.graph import Flow
from pincite.flows.run import run_flow
from pincite.ingest.read.picture_text import OcrPictureReader
from pincite.models.kit_factory import KitFactory
from pincite.query import pipeline
from pincite.query.understand.level import level_of, missing_features
from pincite.store.conversations.feedback import FeedbackStore
from pincite.store.conversations.sessions import Sessions
from pincite.store.conversations.share_links import ShareLinks
from pincite.store.operations.evaluations import Evaluations
from pincite.store.operations.traces import TraceStore
from pincite.store.search.vocabulary import PostgresVocabulary
from pincite.tracing.recorder import TraceRecorder
from pincite.tracing.replay import Replay, compare, question_of, replayable, settings_for, with_changes


class Questions:
    """Answers and searches. Each call acts with its caller's permissions and is traced."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def sessions(self) -> Sessions:
        """Conversations."""
        return self._services.sessions

    @property
    def share_links(self) -> ShareLinks:
        """Answers shared by link."""
        return self._services.share_links

    @property
    def feedback(self) -> FeedbackStore:
        """Ratings of answers."""
        return self._services.feedback

    @property
    def traces(self) -> TraceStore:
        """What happened in past requests."""
        return self._services.traces

    @property
    def evaluations(self) -> Evaluations:
        """Question sets and evaluation runs."""
        return self._services.evaluations

    async def may_read_all(self, document_ids: Collection[str], *, caller: Caller = LOCAL) -> bool:
        """Whether the caller may still read all of these documents."""
        return not await self._services.library.unreadable(caller.person, document_ids)

    async def ask(
        self, question: str | Question, *, caller: Caller = LOCAL, listen: Callable[[Event], None] | None = None
    ) -> Answer:
        """Answer a question; `listen` hears what happens on the way."""
        asked = await self._under_its_folder(Question(question) if isinstance(question, str) else question, caller)
        kind = "chat" if asked.session_id or asked.conversation else "query"
        async with self._run(caller, TraceRecorder(kind, asked, listen)) as run:
            return await pipeline.answer(run, asked)

    async def run_flow(
        self, flow: Flow, *, caller: Caller = LOCAL, listen: Callable[[Event], None] | None = None
    ) -> Answer:
        """Run a flow's nodes; the answer is what its last completion says."""
        asked = Question(flow.input, profile=flow.profile, mode="agent")
        async with self._run(caller, TraceRecorder("query", asked, listen)) as run:
            return await run_flow(run, flow)

    async def _under_its_folder(self, question: Question, caller: Caller) -> Question:
        """The question with the prompt of the folder it is about, before that of the caller."""
        if question.filters.folder is None:
            return question
        prompt = await self._services.folders.prompt(await self._services.scope(caller), question.filters.folder)
        own = question.sampling.system_prompt
        both = "\n\n".join(part for part in (prompt, own) if part) or None
        return replace(question, sampling=replace(question.sampling, system_prompt=both))

    async def search(
        self, question: str | Question, *, caller: Caller = LOCAL, settings: Settings | None = None
    ) -> SearchResult:
        """Find passages; several queries at once are fused. `settings` tries out others than those in force."""
        asked = Question(question) if isinstance(question, str) else question
        async with self._run(
            caller, TraceRecorder("search" if settings is None else "evaluation", asked), settings
        ) as run:
            plan, hits = await pipeline.search(run, asked)
            notes = (*run.degraded, *(Degraded("filters", warning) for warning in run.warnings))
            return SearchResult(tuple(hits), plan.strategy, notes, run.id, _fusion(run.settings.rag), plan)

    async def replay(
        self,
        trace_id: str,
        changes: Mapping[str, Any],
        *,
        profile: str | None = None,
        question: str | None = None,
        caller: Caller = LOCAL,
    ) -> Replay:
        """Ask a traced question again with other settings; `question` gives its words where they were not kept.

        Where the old answer's words were not kept either, it is asked twice: as it was, and with the changes.
        """
        before = await self._services.traces.get(await self._services.scope(caller), trace_id)
        asked = question_of(before, question)
        if profile is not None:
            values = for_request(find_profile(profile), self._services.settings).values
            changes = {**{key: value for key, value in values.items() if key in replayable()}, **changes}
        if LEVEL in changes:
            changes = {**find_level(changes[LEVEL]).values, **changes}
        settings = settings_for(self._services.settings, before, changes)
        was = before.content.answer if before.content and question is None else None
        if was is None and not before.searched:
            was, _ = await self._asked_again(caller, asked, before, settings_for(self._services.settings, before, {}))
        now, after = await self._asked_again(caller, asked, before, settings)
        return await asyncio.to_thread(compare, before, after, (was, now))

    async def _asked_again(
        self, caller: Caller, asked: Question, before: Trace, settings: Settings
    ) -> tuple[str | None, Trace]:
        recorder = TraceRecorder("replay", asked, replays=before)
        async with self._run(caller, recorder, settings) as run:
            await (pipeline.search if before.searched else pipeline.answer)(run, replace(asked, fresh=True))
        assert recorder.told is not None
        return recorder.answer, recorder.told

    @asynccontextmanager
    async def _run(
        self, caller: Caller, recorder: TraceRecorder, settings: Settings | None = None
    ) -> AsyncIterator[Run]:
        """One request: its trace is closed and kept however it ends."""
        embedder, most = self._services.tools.embedder, self._services.settings.guard.max_query_chars
        # Only by an embedder of this process: a call to another has its place in the trace, and the question's time.
        async with prefetched(embedder, recorder.certain_queries(most) if embedder.local else ()) as coming:
            run = await self._made_ready(caller, recorder, settings)
            if run.kit.embedder is embedder:
                run.prefetched = coming
            error: BaseException | None = None
            own = not request_id.get()
            if own:
                request_id.set(run.id)
            try:
                async with _until(run.deadline):
                    run.warnings.extend(
                        await self._services.library.unknown_filter_values(run.scope, recorder.question.filters)
                    )
                    yield run
            except BaseException as raised:
                error = raised
                raise
            finally:
                await run.close()
                await self._services.trace_sink.keep(caller.person, recorder.trace(run, error))
                if own:
                    request_id.set("")

    async def _made_ready(self, caller: Caller, recorder: TraceRecorder, settings: Settings | None) -> Run:
        """A run with what the caller may read, the settings of this moment and the tools of the index that is searched."""
        scope, searched = await self._services.library.scope_now(caller.person)
        if (
            searched != self._services.prepared.index
        ):  # before the tools are taken: all are of the index that is searched
            await self._services.live_settings.renew()
        missing: tuple[Degraded, ...] = ()
        if settings is None:
            settings, missing = self._settings_for(recorder)
        if labels := await self._services.folders.labels(scope):
            settings = settings.model_copy(update={"category_labels": {**settings.category_labels, **labels}})
        tools = await self._tools_of(recorder.question.filters.index)
        run = Run(
            id=secrets.token_hex(16),
            kit=replace(
                await _kit(self._services.kit_factory if tools is self._services.tools else tools.toolbox, settings),
                index=tools.index(settings.rag),
                memory=self._services.sessions,
                vocabulary=PostgresVocabulary(self._services.database, tools.surveys),
                cache=self._services.answer_cache,
                document_reader=self._services.reader,
                picture_reader=OcrPictureReader(self._services.reader_pool, settings.chunking),
            ),
            settings=settings,
            caller=caller,
            scope=scope,
            deadline=time.monotonic() + settings.llm.question_timeout_s,
            emit=recorder.hear,
        )
        run.degraded.extend(missing)  # no incident that belongs into a log: it was asked for what is not here
        return run

    async def _tools_of(self, index: str | None) -> IndexTools:
        """The tools of the index that is searched, or of one beside it, by its signature."""
        standing = (
            (await self._services.index_switch.standing()).all
            if index not in (None, self._services.prepared.signature)
            else ()
        )
        beside = next((one.id for one in standing if one.signature == index), None)
        return self._services.tools if beside is None else (await self._services.index_switch.beside(beside))[1]

    def _settings_for(self, recorder: TraceRecorder) -> tuple[Settings, tuple[Degraded, ...]]:
        """The snapshot a request works by, and what its profile and its level would like besides.

        A level lies over the profile, and the request's own changes over both; a search has no level.
        """
        question, profile = recorder.question, recorder.question.profile
        settings, wished = (
            (self._services.settings, ()) if profile is None else self._services.live_settings.profiled(profile)
        )
        missing = [Degraded("profile", note) for note in wished]
        changes, level = dict(question.changes), level_of(question, settings) if recorder.answers else None
        if level is not None:
            changes = {**find_level(level).values, **changes}
            missing += missing_features(level)
        return (with_changes(settings, changes, "a request") if changes else settings), tuple(missing)


def _fusion(rag: Rag) -> FusionSettings:
    return FusionSettings(rag.fusion, rag.alpha, rag.rrf_k, rag.multi_query_rrf_k, rag.reranker)


async def _kit(kit_factory: KitFactory, settings: Settings) -> Kit:
    """The tools of one request; what a profile or a replay asks for may be more than is configured."""
    try:
        return await kit_factory.ready(settings)
    except SettingsError as error:
        raise Invalid(str(error)) from error


@asynccontextmanager
async def _until(moment: float) -> AsyncIterator[None]:
    deadline.set(moment)
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + moment - time.monotonic()):
            yield
    except TimeoutError as error:
        raise OverBudget("the question took too long (llm.question_timeout_s)") from error
    finally:
        deadline.set(None)
