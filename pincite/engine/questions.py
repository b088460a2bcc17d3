"""Questions: ask, search, replay, run a flow; sessions, feedback, traces and evaluations."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from pincite.config.branches.retrieval import Rag
from pincite.config.levels import LEVEL, find_level
from pincite.config.profiles import find_profile, for_request
from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller, Scope
from pincite.core.operations import StoredFlow
from pincite.core.query.answer import PROFILE_STAGE, Answer, Degraded, FusionSettings, SearchResult
from pincite.core.query.question import Filters, Question
from pincite.core.request_context import deadline, read_only, request_id
from pincite.core.run import Event, Kit, Run, prefetched
from pincite.core.traces import Trace
from pincite.engine.index.tools import IndexTools
from pincite.engine.wiring import Services
from pincite.errors import Invalid, OverBudget, SettingsError
from pincite.flows.graph import Flow, flow_to_save, stored_flow
from pincite.flows.run import run_flow
from pincite.ingest.read.picture_text import OcrPictureReader
from pincite.models.kit_factory import KitFactory
from pincite.query import pipeline
from pincite.query.ground.starters import Starter, starter_questions
from pincite.query.understand.level import level_of
from pincite.store.conversations.feedback import FeedbackStore
from pincite.store.conversations.sessions import Sessions
from pincite.store.conversations.share_links import ShareLinks
from pincite.store.documents.beginnings import beginnings
from pincite.store.engines.graph_index import PostgresGraph
from pincite.store.engines.late_rows import LateIndex
from pincite.store.engines.tree_search import TreeIndex
from pincite.store.operations.evaluations import Evaluations
from pincite.store.operations.flows import FlowStore
from pincite.store.operations.traces import TraceStore
from pincite.store.operations.tunings import Tunings
from pincite.store.search.filters import check_filters
from pincite.store.search.memory_index import MemoryIndex, ScopeChanged
from pincite.store.search.query_vectors import QueryVectorCache
from pincite.store.search.resident.cache import MAX_REALMS
from pincite.text.units import count
from pincite.tracing.recorder import TraceRecorder
from pincite.tracing.replay import Replay, compare, question_of, replayable, settings_for, with_changes

STARTING_DOCUMENTS = 12
"""Documents from which questions to begin with are made: those that were changed last."""


SearchedScope = tuple[Scope, int]
"""A scope, and the id of the index that was searched when it was read."""
MAX_SCOPES = 1000
"""People whose last scope is remembered; all are forgotten when there are more."""


class Questions:
    """Answers and searches. Each call has its caller's permissions and writes a trace."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._scopes: dict[str, SearchedScope] = {}

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
        """Traces of past requests."""
        return self._services.traces

    @property
    def evaluations(self) -> Evaluations:
        """Question sets and evaluation runs."""
        return self._services.evaluations

    @property
    def tunings(self) -> Tunings:
        """Tunings of settings."""
        return self._services.tunings

    @property
    def flows(self) -> FlowStore:
        """Stored flows."""
        return self._services.flows

    async def save_flow(self, name: str, definition: Mapping[str, Any], *, caller: Caller = LOCAL) -> StoredFlow:
        """Store a flow under a name, as its newest version."""
        return await self.flows.save(await self._services.scope(caller), name, flow_to_save(name, dict(definition)))

    async def may_read_all(self, document_ids: Collection[str], *, caller: Caller = LOCAL) -> bool:
        """Whether the caller may read all of these documents now."""
        return not await self._services.library.unreadable(caller.person, document_ids)

    async def ask(
        self,
        question: str | Question,
        *,
        caller: Caller = LOCAL,
        listen: Callable[[Event], None] | None = None,
        settings: Settings | None = None,
    ) -> Answer:
        """Answer a question; `listen` is called with each event. `settings` replaces the current settings for it."""
        asked = await self._with_folder_prompt(Question(question) if isinstance(question, str) else question, caller)
        kind = "chat" if asked.session_id or asked.conversation else "query"
        if settings is not None:
            kind, settings = "evaluation", _with_level(asked, settings)
        async with self._run(caller, TraceRecorder(kind, asked, listen), settings) as run:
            return await pipeline.answer(run, asked)

    async def run_flow(
        self,
        flow: str | Mapping[str, Any] | Flow,
        text: str | None = None,
        *,
        version: int | None = None,
        caller: Caller = LOCAL,
        listen: Callable[[Event], None] | None = None,
    ) -> Answer:
        """Run a flow, or the stored one of a name; the text of its last completion is the answer.

        `text` is the input of this run; without it, the flow's own input is used.
        """
        if isinstance(flow, str):
            flow = (await self.flows.get(await self._services.scope(caller), flow, version)).definition
        if not isinstance(flow, Flow):
            flow = stored_flow(flow, text)
        elif text is not None:
            flow = flow.model_copy(update={"input": text})
        asked, ready = Question(flow.input, profile=flow.profile, mode="agent"), flow
        async with self._run(caller, TraceRecorder("query", asked, listen)) as run:
            return await run_flow(run, ready)

    async def _with_folder_prompt(self, question: Question, caller: Caller) -> Question:
        """Return the question with the system prompt of its folder in front of the caller's."""
        if question.filters.folder is None:
            return question
        prompt = await self._services.folders.prompt(await self._services.scope(caller), question.filters.folder)
        own = question.sampling.system_prompt
        both = "\n\n".join(part for part in (prompt, own) if part) or None
        return replace(question, sampling=replace(question.sampling, system_prompt=both))

    async def starters(self, language: str | None = None, *, caller: Caller = LOCAL) -> list[Starter]:
        """Return questions that the caller's newest documents answer; those in `language` first."""
        scope = await self._services.scope(caller)
        found = await beginnings(self._services.database, scope, documents=STARTING_DOCUMENTS)
        texts = [(one.document_id, one.title, one.language, one.text) for one in found]
        return await asyncio.to_thread(starter_questions, texts, language)

    async def search(
        self, question: str | Question, *, caller: Caller = LOCAL, settings: Settings | None = None
    ) -> SearchResult:
        """Find passages; several queries are fused. `settings` replaces the current settings for this search."""
        asked = Question(question) if isinstance(question, str) else question
        if settings is None and (assumed := self._assumable(asked, caller)):
            with suppress(ScopeChanged):
                return await self._search(asked, caller, None, assumed)
        return await self._search(asked, caller, settings)

    def _assumable(self, asked: Question, caller: Caller) -> SearchedScope | None:
        """Return the caller's scope of an earlier request, if what it admits is in memory; the search confirms it.

        One round trip is saved. It is confirmed with the passages, in one snapshot, under row-level security. A replica
        may lag behind, so it confirms nothing.
        """
        services, known = self._services, self._scopes.get(caller.person)
        if known is None or asked.filters != Filters() or read_only.get() or services.database.replicas is not None:
            return None
        scope, searched = known
        current = searched == services.prepared.index
        return known if current and services.tools.resident.is_current(scope, services.tools.vectors) else None

    async def _search(
        self, asked: Question, caller: Caller, settings: Settings | None, assumed: SearchedScope | None = None
    ) -> SearchResult:
        recorder = TraceRecorder("search" if settings is None else "evaluation", asked)
        async with self._run(caller, recorder, settings, assumed) as run:
            plan, hits = await pipeline.search(run, asked)
            if isinstance(run.kit.index, MemoryIndex):
                run.kit.index.require_confirmed()
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
        """Replay a traced question with other settings; `question` is its text, if the trace does not contain it.

        If the trace does not contain the old answer, the question is asked twice: unchanged, and with the changes.
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
            was, _ = await self._replay_once(caller, asked, before, settings_for(self._services.settings, before, {}))
        now, after = await self._replay_once(caller, asked, before, settings)
        return await asyncio.to_thread(compare, before, after, (was, now))

    async def _replay_once(
        self, caller: Caller, asked: Question, before: Trace, settings: Settings
    ) -> tuple[str | None, Trace]:
        recorder = TraceRecorder("replay", asked, replays=before)
        async with self._run(caller, recorder, settings) as run:
            await (pipeline.search if before.searched else pipeline.answer)(run, replace(asked, fresh=True))
        assert recorder.told is not None
        return recorder.answer, recorder.told

    @asynccontextmanager
    async def _run(
        self,
        caller: Caller,
        recorder: TraceRecorder,
        settings: Settings | None = None,
        assumed: SearchedScope | None = None,
    ) -> AsyncIterator[Run]:
        """Run one request; its trace is stored whether it succeeds or fails, unless it begins again."""
        embedder, max_chars = self._services.tools.embedder, self._services.settings.guard.max_query_chars
        # Only a local embedder: a call to a server must be in the trace and count against the question's deadline.
        async with prefetched(embedder, recorder.certain_queries(max_chars) if embedder.local else ()) as embeddings:
            run = await self._make_run(caller, recorder, settings, assumed)
            if run.kit.embedder is embedder:
                run.prefetched = embeddings
            error: BaseException | None = None
            is_outermost = not request_id.get()
            if is_outermost:
                request_id.set(run.id)
            try:
                async with _deadline(run.deadline):
                    filters = recorder.question.filters
                    run.warnings.extend(await check_filters(self._services.database, run.scope, filters))
                    yield run
            except BaseException as raised:
                error = raised
                raise
            finally:
                await run.close()
                if not isinstance(error, ScopeChanged):
                    await self._services.trace_sink.keep(caller.person, recorder.trace(run, error))
                if is_outermost:
                    request_id.set("")

    async def _make_run(
        self, caller: Caller, recorder: TraceRecorder, settings: Settings | None, assumed: SearchedScope | None
    ) -> Run:
        """Return a run with the caller's scope, a snapshot of the settings, and the tools of the index in service."""
        scope, serving = assumed or await self._services.library.scope_now(caller.person)
        if assumed is None:
            self._remember(caller.person, scope, serving)
        if serving != self._services.prepared.index:  # before the tools are read, so that all belong to the same index
            await self._services.live_settings.renew()
        missing: tuple[Degraded, ...] = ()
        if settings is None:
            settings, missing = self._settings_for(recorder)
        if labels := await self._services.folders.labels(scope):
            settings = settings.model_copy(update={"category_labels": {**settings.category_labels, **labels}})
        tools = await self._tools_for(recorder.question.filters.index)
        index = tools.index(settings.rag)
        if assumed is not None:
            index.assume(scope, serving)
        run = Run(
            id=secrets.token_hex(16),
            kit=replace(
                await _kit(
                    self._services.kit_factory if tools is self._services.tools else tools.kit_factory, settings
                ),
                index=index,
                memory=self._services.sessions,
                vocabulary=tools.vocabulary(),
                cache=self._services.answer_cache,
                query_vectors=QueryVectorCache(self._services.database, tools.model),
                document_reader=self._services.reader,
                picture_reader=OcrPictureReader(self._services.reader_pool, settings.chunking),
                builds=self._services.engine_builds,
                graph=PostgresGraph(self._services.database, tools.model),
                tree=TreeIndex(self._services.database, tools.model, settings.rag),
                late=LateIndex(self._services.database),
            ),
            settings=settings,
            caller=caller,
            scope=scope,
            deadline=time.monotonic() + settings.llm.question_timeout_s,
            emit=recorder.hear,
        )
        replicas = self._services.database.replicas
        if replicas is not None and replicas.missing:
            reason = f"{count(replicas.missing, 'replica')} cannot be reached; the primary is read instead"
            run.degraded.append(Degraded("read_replicas", reason))
        run.degraded.extend(missing)  # without a log entry: the request asked for a feature that is not available
        return run

    def _remember(self, person: str, scope: Scope, serving: int) -> None:
        if len(self._scopes) >= MAX_SCOPES:
            self._scopes.clear()
        if len(scope.realms) > MAX_REALMS:  # such a scope is never in memory
            self._scopes.pop(person, None)
        else:
            self._scopes[person] = scope, serving

    async def _tools_for(self, index: str | None) -> IndexTools:
        """Return the tools of the index in service, or of another index by its signature."""
        if index in (None, self._services.prepared.signature):
            return self._services.tools
        indexes = (await self._services.index_switch.status()).all
        other = next((one.id for one in indexes if one.signature == index), None)
        return self._services.tools if other is None else (await self._services.index_switch.tools_for(other))[1]

    def _settings_for(self, recorder: TraceRecorder) -> tuple[Settings, tuple[Degraded, ...]]:
        """Return the settings of a request, and the unmet needs of its profile.

        A level overrides the profile, and the request's own changes override both; a search has no level.
        """
        question, profile = recorder.question, recorder.question.profile
        settings, unmet = (
            (self._services.settings, ())
            if profile is None
            else self._services.live_settings.for_profile(profile, question.sampling.model)
        )
        missing = [Degraded(PROFILE_STAGE, note) for note in unmet]
        if recorder.answers:
            return _with_level(question, settings), tuple(missing)
        changes = dict(question.changes)
        return (with_changes(settings, changes, "a request") if changes else settings), tuple(missing)


def _with_level(question: Question, settings: Settings) -> Settings:
    """Return the settings with the values of the question's level and its own changes."""
    changes, level = dict(question.changes), level_of(question, settings)
    if level is not None:
        changes = {**find_level(level).values, **changes}
    return with_changes(settings, changes, "a request") if changes else settings


def _fusion(rag: Rag) -> FusionSettings:
    return FusionSettings(rag.fusion, rag.alpha, rag.rrf_k, rag.multi_query_rrf_k, rag.reranker)


async def _kit(kit_factory: KitFactory, settings: Settings) -> Kit:
    """Return the tools of one request; `Invalid` if a profile or a replay needs a tool that is not configured."""
    try:
        return await kit_factory.ready(settings)
    except SettingsError as error:
        raise Invalid(str(error)) from error


@asynccontextmanager
async def _deadline(due: float) -> AsyncIterator[None]:
    """Cancel the block at a time of `time.monotonic`, and raise `OverBudget`."""
    deadline.set(due)
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + due - time.monotonic()):
            yield
    except TimeoutError as error:
        raise OverBudget("the question took too long (llm.question_timeout_s)") from error
    finally:
        deadline.set(None)
