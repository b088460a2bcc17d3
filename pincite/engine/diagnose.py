"""The checks of `pincite doctor`. Each returns its findings; a failed check does not stop the others."""

import asyncio
import os
import platform
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL
from pincite.core.documents.document import Document, Status
from pincite.engine.app import AsyncPincite
from pincite.engine.data_flow import answers_from, embeddings_from, host_and_port, reranking_from
from pincite.errors import Invalid, PinciteError
from pincite.ingest.read.reader_pool import isolation
from pincite.models.kit_factory import address_of, plain_embedder, provider_of, rerank_address
from pincite.models.shipped import models_in_use, shipped_models
from pincite.providers.ollama import running_here
from pincite.query.prompt.templates import check_custom_prompts
from pincite.store.database import Database
from pincite.store.operations.backup import documents_since, last_backup
from pincite.store.operations.integrity import inspect, stray_files
from pincite.store.operations.open_bare import library
from pincite.text.units import count, size

State = Literal["ok", "note", "broken"]
LOW_SPACE_BYTES = 500 * 1024 * 1024
"""Free bytes on the data folder's disk below which a note is shown."""
CONNECT_TIMEOUT_S = 3.0
"""Timeout of a connection test, in seconds."""
MAX_FAILED_SHOWN = 5
"""Maximum failed documents shown."""
MAX_MODELS_SHOWN = 8
"""Maximum Ollama models shown."""
MAX_FAULTS_SHOWN = 20
"""Maximum faults of the integrity check shown."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: its state, what was found, and what to do."""

    name: str
    state: State
    found: str
    advice: str = ""


async def check_database(settings: Settings) -> list[Finding]:
    """Check the database server of the settings, without changing it; the advice is SQL for its administrator."""
    from pincite.store.operations.requirements import check

    own = settings.database
    if own.url is None:
        raise Invalid("the embedded database needs no check: set PINCITE_DATABASE_URL to a server of your own")
    direct = own.direct_url.get_secret_value() if own.direct_url else None
    found = await check(own.url.get_secret_value(), direct, own.role)
    return [Finding(one.name, one.state, one.found, one.remedy) for one in found]


async def diagnose(settings: Settings, *, verify: bool = False) -> list[Finding]:
    """Run all checks; `verify` also runs the integrity check of all stored documents."""
    folder, prompts, embedder = _data_folder(settings.data), _prompts(settings.data), await _embedder(settings)
    missing = [finding.name for finding in (folder, *prompts, embedder) if finding.state == "broken"]
    return [
        _python(),
        folder,
        *prompts,
        *([_database_not_checked(missing)] if missing else await _library(settings)),
        *(await _content(settings) if verify and folder.state != "broken" else ()),
        embedder,
        *_shipped_models(settings),
        await _answerer(settings),
        *await _reranker(settings),
        *await _ollama(settings),
        await asyncio.to_thread(_reader, settings),
    ]


def _prompts(data: Path) -> list[Finding]:
    """Check the prompts in the data folder; nothing is reported where all are valid."""
    try:
        check_custom_prompts(data)
    except PinciteError as error:
        return [Finding("prompts", "broken", str(error), "correct or remove the file")]
    return []


def _database_not_checked(missing: list[str]) -> Finding:
    return Finding("database", "note", f"not checked: the library does not open without its {missing[0]}")


def _python() -> Finding:
    version = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Finding("Python", "note", version, "pincite is tested with Python 3.11 to 3.13; use one of these")
    return Finding("Python", "ok", version)


def _data_folder(folder: Path) -> Finding:
    """Check the data folder without creating it; if it does not exist, check its nearest existing parent."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    choose = "choose another folder with --data"
    if not there.is_dir():
        return Finding("data folder", "broken", f"{folder}: {there} is a file", choose)
    if not os.access(there, os.W_OK | os.X_OK):
        return Finding("data folder", "broken", f"{folder}: {there} is not writable", f"make it writable, or {choose}")
    free = shutil.disk_usage(there).free
    found = f"{folder}, {size(free)} free"
    if free < LOW_SPACE_BYTES:
        return Finding("data folder", "note", found, f"little space is left; free some, or {choose} on another disk")
    return Finding("data folder", "ok", found)


async def _embedder(settings: Settings) -> Finding:
    try:
        embedder = plain_embedder(settings)
        await embedder.embed(["Is anybody there?"], as_query=True)
        started = time.perf_counter()
        await embedder.embed(["How long does a question take?"], as_query=True)
    except PinciteError as error:
        return Finding("embedder", "broken", f"{settings.embedding.provider}: {error}", "see the settings embedding.*")
    took = (time.perf_counter() - started) * 1000
    where = embeddings_from(embedder, settings)
    return Finding("embedder", "ok", f"{where}; {embedder.dimensions} dimensions, {took:.1f} ms for one question")


def _shipped_models(settings: Settings) -> list[Finding]:
    """Verify the files of the shipped models in use, and name their versions and licences."""
    found = []
    for model in (one for one in shipped_models() if one.name in models_in_use(settings)):
        try:
            for name in model.checksums:
                model.file(name)
        except PinciteError as error:
            found.append(Finding("model", "broken", str(error)))
        else:
            about = f"{model.name} {model.version}, {size(model.size)}, checksums verified, licence {model.licence}"
            found.append(Finding("model", "ok", about))
    return found


async def _library(settings: Settings) -> list[Finding]:
    """Open the library as every command does, and check the database and the documents."""
    try:
        async with AsyncPincite(settings=settings) as pincite:
            about = await pincite.admin.health(LOCAL)
            documents = await pincite.documents.all()
            kept = await _backup(pincite.services.database, documents)
            stray = await stray_files(pincite.services.database, pincite.services.blobs.files)
    except PinciteError as error:
        return [Finding("database", "broken", str(error))]
    kind = "embedded PostgreSQL" if settings.database.url is None else "PostgreSQL server"
    database = (
        f"{kind} {about['postgresql']}, pgvector {about['pgvector']}, schema {about['schema']}, "
        f"role {about['role']}, {size(about['bytes'])}"
    )
    return [Finding("database", "ok", database), *_documents(documents), *_stray_files(stray), *kept]


def _stray_files(number: int) -> list[Finding]:
    if not number:
        return []
    advice = "left by a process that crashed; they are deleted an hour later, when a document is added"
    return [Finding("stray files", "note", f"{count(number, 'file')} that no document uses", advice)]


async def _backup(database: Database, documents: list[Document]) -> list[Finding]:
    """Check when the last backup was made, and how many documents of all people changed or were removed since."""
    made_at = await last_backup(database)
    if made_at is None:
        return [Finding("backup", "ok", "there is none yet", "create one: pincite backup FILE")] if documents else []
    changed, removed = await documents_since(database, made_at)
    changed |= {document.id for document in documents if document.updated_at > made_at}
    since = f"{count(len(changed), 'document')} added or changed, {len(removed)} removed since"
    return [Finding("backup", "ok", f"last backup on {made_at.astimezone():%Y-%m-%d %H:%M}; {since}")]


async def _content(settings: Settings) -> list[Finding]:
    """Run the integrity check; it needs no embedder and no model."""
    try:
        async with library(settings) as (database, files):
            found = await inspect(database, files, lambda _progress: None)
    except PinciteError as error:
        return [Finding("content", "broken", str(error))]
    if not found.wrong:
        checked = f"{count(found.files, 'file')}, every passage, {count(found.searched, 'search', 'searches')}"
        return [Finding("content", "ok", f"intact: {checked}")]
    advice = "add the file again, or restore a backup"
    more = [Finding("content", "broken", f"{len(found.wrong) - MAX_FAULTS_SHOWN} more")] * (
        len(found.wrong) > MAX_FAULTS_SHOWN
    )
    return [*(Finding("content", "broken", line, advice) for line in found.wrong[:MAX_FAULTS_SHOWN]), *more]


def _documents(documents: list[Document]) -> list[Finding]:
    by_status = Counter(document.status for document in documents)
    parts = [f"{by_status[status]:,} {status}" for status in Status if by_status[status]]
    found = [
        Finding("documents", "ok", f"{count(len(documents), 'document')}: {', '.join(parts)}" if parts else "none")
    ]
    if stale := sum(document.stale for document in documents):
        found.append(
            Finding(
                "stale",
                "note",
                f"{count(stale, 'document')} indexed with other settings",
                "reindex them: pincite reindex --stale",
            )
        )
    failed = [document for document in documents if document.error]
    for document in sorted(failed, key=lambda one: one.updated_at, reverse=True)[:MAX_FAILED_SHOWN]:
        reason = document.error.message if document.error else ""
        found.append(
            Finding(
                "failed",
                "note",
                f"{document.name}: {reason}",
                f"correct the file and add it again, or: pincite remove {document.id}",
            )
        )
    return found


async def _answerer(settings: Settings) -> Finding:
    """Check that the language model's server accepts connections; nothing is sent."""
    where, address = answers_from(settings), address_of(settings.llm)
    if not address:
        return Finding("answers", "ok", where)
    if failure := await _connection_error(address):
        advice = "start the model server, or correct llm.base_url; until then answers are extracted sentences"
        return Finding("answers", "note", f"{where}: {failure}", advice)
    return Finding("answers", "ok", f"{where}, reachable")


async def _reranker(settings: Settings) -> list[Finding]:
    """Check that the reranker's server accepts connections; nothing is sent."""
    if settings.rag.reranker == "none":
        return []
    where, address = reranking_from(settings), rerank_address(settings)
    if not address:
        return [Finding("reranker", "ok", where)]
    if failure := await _connection_error(address):
        advice = "start the server, or correct rerank.base_url; until then results are not reranked"
        return [Finding("reranker", "note", f"{where}: {failure}", advice)]
    return [Finding("reranker", "ok", f"{where}, reachable")]


async def _connection_error(address: str) -> str:
    """Return why an address cannot be reached; empty if it accepts connections."""
    try:
        host, port = host_and_port(address)
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError, ValueError) as error:
        return f"no server answers there ({_reason(error)})"
    writer.close()
    return ""


async def _ollama(settings: Settings) -> list[Finding]:
    """Suggest an Ollama server that runs on this machine, if no model is configured; it is never used unasked."""
    if provider_of(settings.llm) != "extractive" or not (models := await running_here()):
        return []
    names = ", ".join(model.name for model in models[:MAX_MODELS_SHOWN])
    more = f" and {len(models) - MAX_MODELS_SHOWN} more" if len(models) > MAX_MODELS_SHOWN else ""
    use = f"PINCITE_LLM__PROVIDER=ollama PINCITE_LLM__MODEL={models[0].name}"
    return [Finding("Ollama", "ok", f"runs on this machine, not used: {names}{more}", f"to use it for answers: {use}")]


def _reason(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _reader(settings: Settings) -> Finding:
    try:
        known = isolation(settings.ingest.parse_memory_mb)
    except PinciteError as error:
        return Finding("reader", "broken", str(error))
    found = f"files are parsed in separate processes, with {', '.join(known.holds) or 'a timeout only'}"
    if not known.lacks:
        return Finding("reader", "ok", found)
    advice = "add only files that you trust, or use a Linux system with seccomp and Landlock"
    return Finding("reader", "note", f"{found}; this system lacks: {', '.join(known.lacks)}", advice)
