"""Backup, restore and purge. They open only the database: no embedder, model or worker is needed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from pincite.config.settings import Settings
from pincite.core.documents.document import Progress
from pincite.core.operations import Backup, BackupManifest, IntegrityReport, PurgeResult
from pincite.errors import Invalid
from pincite.store.operations.backup import back_up
from pincite.store.operations.integrity import inspect
from pincite.store.operations.open_bare import address, library
from pincite.store.operations.purge import purge
from pincite.store.operations.restore import read_backup, restore

Report = Callable[[Progress], None]


async def back_up_library(settings: Settings, target: Path, *, traces: bool, report: Report) -> Backup:
    """Write the whole library to one file, while it stays in use."""
    _require_library(settings)
    _require_outside(target, settings.data)
    async with library(settings) as (database, files):
        return await back_up(database, files, target, traces=traces, report=report)


async def restore_library(settings: Settings, source: Path, report: Report) -> tuple[BackupManifest, IntegrityReport]:
    """Restore a backup into an empty library, and run the integrity check."""
    manifest = await asyncio.to_thread(read_backup, source, report)
    async with address(settings) as url:
        await restore(url, settings.data, source, manifest, report, role=settings.database.role)
    async with library(settings) as (database, files):
        return manifest, await inspect(database, files, report)


async def purge_library(settings: Settings, report: Report) -> PurgeResult:
    """Make removed documents unrecoverable from the data folder."""
    _require_library(settings)
    async with library(settings) as (database, files):
        return await purge(database, files, embedded=settings.database.url is None, report=report)


def _require_outside(target: Path, data: Path) -> None:
    if target.resolve().is_relative_to(data.resolve()):
        raise Invalid("a backup inside the data folder would be lost with it; name a file elsewhere")


def _require_library(settings: Settings) -> None:
    if settings.database.url is None and not (settings.data / "postgres").is_dir():
        raise Invalid(f"there is no library in {settings.data}; name its folder with --data")
