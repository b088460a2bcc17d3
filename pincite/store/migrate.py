"""The schema: migrations in order, the unprivileged role, and the vector indexes."""

import logging
from importlib import resources

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from pincite.errors import DataFolderError, StoreDown
from pincite.store.roles import APP_ROLE, GRANT_CREATE, ask_for, create_extension, create_role, first_line

log = logging.getLogger(__name__)

MIGRATION_LOCK = 0x70696E63  # "pinc": advisory lock; one migration at a time in a database
INDEX_LOCK = 0x68_6E_73_77  # "hnsw": advisory lock; one process builds vector indexes
Administrator = AsyncConnection[TupleRow]
"""A connection that may change the schema."""
READ_ONLY_TABLES = (
    "migration",
    "library",
    "realm",
    "embedding_model",
    "audit_event",
    "audit_head",
    "told_trace",
    "told_span",
)
"""Tables and views that the application role may only read; functions write some of them."""


def migration_files() -> list[tuple[int, str, str]]:
    """Return number, file name and SQL of every migration, in order."""
    folder = resources.files("pincite.store") / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [(int(file.name[:4]), file.name, file.read_text(encoding="utf-8")) for file in files]


async def migrate(admin: Administrator, *, upto: int | None = None, role: str = APP_ROLE) -> None:
    """Apply the missing migrations, all or `upto` a number, and refuse a newer or foreign schema.

    One process at a time does it; the others wait. It is one transaction, because behind a pooler a lock lives no longer.
    """
    async with admin.transaction():
        await admin.execute("select pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        done = await _applied(admin, role)
        files = migration_files()
        if done and max(done) > files[-1][0]:
            raise DataFolderError(
                f"the data was written by a newer pincite (schema {max(done)}, this version has {files[-1][0]}); "
                "install the newer version to use it"
            )
        for number, name, text in files:
            if number not in done and (upto is None or number <= upto):
                await _apply(admin, number, name, text, role)


async def _applied(admin: Administrator, role: str) -> set[int]:
    """Return the applied migrations; create the extension, the role and the schema in a new database."""
    found = await admin.execute(
        "select to_regnamespace('pincite') is not null, to_regclass('pincite.migration') is not null"
    )
    [(has_schema, has_table)] = await found.fetchall()
    if has_schema and not has_table:
        raise DataFolderError("the database has a schema 'pincite' of another application; use another database")
    if not has_schema:
        await create_extension(admin)
        await create_role(admin, role)
        await _create_schema(admin)
    return {number for (number,) in await (await admin.execute("select number from pincite.migration")).fetchall()}


async def _create_schema(admin: Administrator) -> None:
    try:
        async with admin.transaction():
            await admin.execute("create schema pincite")
            await admin.execute(
                "create table pincite.migration (number integer primary key, name text not null,"
                " applied_at timestamptz not null default now())"
            )
    except psycopg.errors.InsufficientPrivilege as error:
        raise DataFolderError(
            f"the login may not create the schema ({first_line(error)}); {await ask_for(admin, GRANT_CREATE)}"
        ) from error
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise StoreDown(
            f"the database is empty and read-only ({first_line(error)}); use the address of the primary"
        ) from error


async def _apply(admin: Administrator, number: int, name: str, text: str, role: str) -> None:
    log.info("applying migration %s", name)
    try:
        async with admin.transaction():
            await _run_migration(admin, number, name, text, role)
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise StoreDown(
            f"the database is read-only and has an older schema ({name} is missing); start pincite on the primary first"
        ) from error
    except psycopg.OperationalError as error:
        raise StoreDown(
            f"the connection was lost during a migration, which was rolled back: {first_line(error)}"
        ) from error
    except psycopg.Error as error:
        raise DataFolderError(
            f"the database cannot be migrated ({name}: {first_line(error)}); the migration was rolled back"
        ) from error


async def _run_migration(admin: Administrator, number: int, name: str, text: str, app_role: str) -> None:
    role = sql.Identifier(app_role)
    await admin.execute("set local search_path = pincite, public")
    await admin.execute(text.encode())
    await admin.execute("insert into migration (number, name) values (%s, %s)", (number, name))
    await admin.execute(sql.SQL("grant usage on schema pincite to {}").format(role))
    await admin.execute(
        sql.SQL("grant select, insert, update, delete on all tables in schema pincite to {}").format(role)
    )
    await admin.execute(sql.SQL("grant execute on all functions in schema pincite to {}").format(role))
    existing = "select relname from pg_class where relnamespace = 'pincite'::regnamespace and relname = any(%s)"
    for (table,) in await (await admin.execute(existing, (list(READ_ONLY_TABLES),))).fetchall():
        revoke = sql.SQL("revoke insert, update, delete, truncate on {} from {}")
        await admin.execute(revoke.format(sql.Identifier(table), role))


async def index_vectors(admin: Administrator) -> None:
    """Create the missing vector indexes of embedding models."""
    missing = (
        "select id, dimensions from embedding_model where to_regclass('pincite.vector_near_' || id) is null order by id"
    )
    for model, dimensions in await (await admin.execute(missing)).fetchall():
        await admin.execute(vector_index(int(model), int(dimensions)))


def vector_index(model: int, dimensions: int) -> sql.Composed:
    """Return the statement that creates the HNSW index of one model's vectors."""
    return sql.SQL(
        "create index {name} on vector using hnsw ((embedding::halfvec({dimensions})) halfvec_ip_ops)"
        " with (m = 16, ef_construction = 100) where model = {model}"
    ).format(name=sql.Identifier(f"vector_near_{model}"), dimensions=sql.Literal(dimensions), model=sql.Literal(model))
