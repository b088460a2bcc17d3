"""A database that cannot be written: not ready, and refusals with the reason."""

from pathlib import Path

import psycopg
import psycopg.conninfo

from tests.api.live_server import LiveServer

READ_ONLY = "default_transaction_read_only"


def test_a_read_only_database_is_not_ready_and_refusals_say_why(database_url: str, tmp_path: Path) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    with LiveServer(tmp_path / "data", **{"database.url": database_url}) as server, server.client() as client:
        with psycopg.connect(database_url, autocommit=True) as superuser:
            superuser.execute(f"alter database {name} set {READ_ONLY} = on")
            end = (
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()"
            )
            superuser.execute(end, (name,))
        for _ in range(100):  # each ended connection is told once
            ready = client.get("/api/v1/health/ready")
            if ready.json().get("code") != "store_down":
                break
        told = [
            ready,
            client.post("/api/v1/documents", files={"file": ("a.md", b"The cat purrs.")}),
            client.post("/api/v1/chat", json={"message": "Who purrs?"}),
        ]
        assert [(one.status_code, one.json()["code"]) for one in told] == [(503, "store_read_only")] * 3, told
        assert client.get("/api/v1/health/live").status_code == 200
        with psycopg.connect(database_url, autocommit=True) as superuser:
            superuser.execute(f"set {READ_ONLY} = off")
            superuser.execute(f"alter database {name} reset {READ_ONLY}")
            superuser.execute(end, (name,))
        assert any(client.get("/api/v1/health/ready").status_code == 200 for _ in range(100))
