"""Canary words: no route returns text without permission, and secrets are never stored or shown in the clear."""

import io
import logging
import random
import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.api.live_server import LiveServer
from tests.hostile.sweep import (
    API,
    OWNER,
    REQUEST_MAKERS,
    ROLES,
    World,
    leaks,
    misspelled,
    over_websocket,
    requests,
    world,
)

REQUESTS = 600
KEY, PASSWORD = "sk-canarykeyforthemodel", "a password nobody has said"


@pytest.fixture(scope="module")
def logged() -> Iterator[io.StringIO]:
    """All log output at level DEBUG."""
    stream = io.StringIO()
    handler, root = logging.StreamHandler(stream), logging.getLogger("pincite")
    handler.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s"))
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture(scope="module")
def swept(module_database_url: str, tmp_path_factory: pytest.TempPathFactory, logged: io.StringIO) -> Iterator[World]:
    settings = {"database.url": module_database_url, "llm.api_key": KEY, "traces.content": True}
    with LiveServer(tmp_path_factory.mktemp("canaries") / "data", **settings) as door:
        made = world(door)
        yield made
        made.close()


def test_the_owner_finds_every_word(swept: World) -> None:
    """Without this there would be nothing to leak."""
    for word in swept.words[2:30]:
        found = swept.clients[OWNER].post(f"{API}/search", json={"query": word}).text
        assert word in found
    assert sum(bool(leaks(swept, OWNER, request)) for request in requests(swept, len(REQUEST_MAKERS))) > 20


def test_no_route_returns_words_without_read_permission(swept: World) -> None:
    found = [
        leak
        for n, request in enumerate(requests(swept, REQUESTS))
        for leak in leaks(swept, f"canary {ROLES[n % len(ROLES)]}", request)
    ]
    assert found == []


def test_no_websocket_returns_words_without_read_permission(swept: World) -> None:
    dice = random.Random(1)
    for role in ROLES:
        for word in swept.words[2:8]:
            assert over_websocket(swept, f"canary {role}", f"Where is the {misspelled(word, dice)} pump?") == []


def test_secrets_are_in_no_log_trace_metric_error_or_table(
    swept: World, logged: io.StringIO, module_database_url: str
) -> None:
    with swept.door.client() as boss:
        name = f"guarded {secrets.token_hex(4)}"
        boss.post(f"{API}/users", json={"name": name, "role": "reader", "password": PASSWORD})
        with swept.door.client(None) as anyone:
            entered = anyone.post(f"{API}/auth/login", json={"name": name, "password": PASSWORD})
            wrong = anyone.post(f"{API}/auth/login", json={"name": name, "password": f"{PASSWORD}!"})
            token = next(iter(entered.cookies.values()))
            assert token
        paths = ("metrics", "settings", "health/details", "traces", "users", "keys")
        texts = [wrong.text, *(boss.get(f"{API}/{path}").text for path in paths)]
    hidden = [KEY, PASSWORD, token, *swept.keys.values(), *swept.door.keys.values()]
    texts += [logged.getvalue(), *_tables(module_database_url)]
    assert len(texts) > 20
    for text in texts:
        for secret in hidden:
            assert secret not in text
            assert secret.encode().hex() not in text


def _tables(url: str) -> Iterator[str]:
    """The rows of every table, as text."""
    with psycopg.connect(url) as connection:
        names = connection.execute("select tablename from pg_tables where schemaname = 'pincite'").fetchall()
        for (name,) in names:
            rows = connection.execute(sql.SQL("select t::text from pincite.{} t").format(sql.Identifier(name)))
            yield "\n".join(row for (row,) in rows)


def test_the_data_folder_holds_no_secret_either(swept: World) -> None:
    data: Path = swept.door.pincite.settings.data
    hidden = [KEY.encode(), PASSWORD.encode(), *(key.encode() for key in swept.keys.values())]
    for file in data.rglob("*"):
        if file.is_file():
            assert not any(secret in file.read_bytes() for secret in hidden), file
