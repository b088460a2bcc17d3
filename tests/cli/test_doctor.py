"""The command doctor."""

import asyncio
import json
import shutil
import socket
from pathlib import Path

import pytest

from pincite.config.sources import load_settings
from pincite.core.protocols import ServerModel
from pincite.engine import diagnose
from pincite.engine.diagnose import Finding
from pincite.errors import Unavailable
from pincite.ingest.read.reader_pool import Isolation
from pincite.models import shipped

from .terminal import Call, CommandResult

pytestmark = pytest.mark.usefixtures("built_in_reader")


@pytest.fixture(autouse=True)
def _isolation_is_known(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding it out starts a process; once is enough."""
    if request.function is not test_a_healthy_library_has_no_problems:
        monkeypatch.setattr(diagnose, "isolation", lambda _memory_mb: Isolation(("no network",)))


def states(said: CommandResult) -> dict[str, str]:
    return {check["name"]: check["state"] for check in said.json["checks"]}


def test_a_healthy_library_has_no_problems(library: Call) -> None:
    said = library("doctor", "--json")
    checks = {check["name"]: check for check in said.json["checks"]}
    assert (said.code, said.json["ok"]) == (0, True)
    assert set(checks) >= {"Python", "data folder", "database", "documents", "embedder", "answers", "reader"}
    assert checks["database"]["found"].startswith("PostgreSQL server 1")
    assert "role pincite_app" in checks["database"]["found"]
    assert "completed" in checks["documents"]["found"]
    assert "ms for one question" in checks["embedder"]["found"]
    assert checks["answers"]["found"] == "extractive, on this machine"
    assert "1024 MB of memory" in checks["reader"]["found"]


def test_the_model_in_use_is_verified_and_named_with_its_licence(
    library: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = ("doctor", "--json", "--set", "embedding.provider=pincite_embed")
    models = [check["found"] for check in library(*used).json["checks"] if check["name"] == "model"]
    for name, found in zip(("pincite-embed 1", "pincite-read 5"), models, strict=True):
        assert name in found
        assert "licence CC BY-SA 4.0" in found
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    said = library(*used)
    assert said.code == 1
    assert {"state": "broken", "name": "embedder"}.items() <= next(
        check.items() for check in said.json["checks"] if check["name"] == "embedder"
    )


def test_the_rerankers_address_is_reported(library: Call) -> None:
    server = ["--set", "rag.reranker=rerank_api", "--set", "rerank.base_url=http://127.0.0.1:9"]
    for chosen, state, found in (
        (["--set", "rag.reranker=scripted"], "ok", "scripted"),
        (server, "note", "rerank_api at http://127.0.0.1:9: no server answers there"),
    ):
        checks = {check["name"]: check for check in library("doctor", "--json", *chosen).json["checks"]}
        assert checks["reranker"]["state"] == state
        assert checks["reranker"]["found"].startswith(found)


def test_a_document_that_failed_and_stale_ones_are_named(library: Call, tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_bytes("caf\0".encode("utf-16"))
    assert library("add", tmp_path / "broken.txt", "--json").code == 1
    said = library("doctor", "--json", "--set", "chunking.size=100")
    [failed] = [check for check in said.json["checks"] if check["name"] == "failed" and "broken" in check["found"]]
    assert "is a NUL" in failed["found"]
    document_id = failed["advice"].rpartition(" ")[2]
    assert states(said)["stale"] == "note"
    assert said.code == 0
    assert library("remove", document_id).code == 0


def test_an_embedder_that_does_not_load_is_broken(library: Call) -> None:
    said = library("doctor", "--json", "--set", "embedding.provider=openai_compatible")
    assert (said.code, said.json["ok"]) == (1, False)
    assert (states(said)["embedder"], states(said)["database"]) == ("broken", "note")
    assert "1 thing to fix." in library("doctor", "--set", "embedding.provider=openai_compatible").out


def test_a_prompt_file_that_is_invalid_is_named_as_such(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "sytem.txt").write_text("Hello.", encoding="utf-8")
    said = pincite("doctor", "--data", str(tmp_path), "--json")
    assert (said.code, states(said)["prompts"], states(said)["database"]) == (1, "broken", "note")
    assert "sytem.txt is not a prompt" in json.dumps(said.json)


def test_a_data_folder_that_is_a_file_is_broken(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = pincite("doctor", "--json", "--data", tmp_path / "file" / "below")
    assert (said.code, states(said)["data folder"]) == (1, "broken")


def test_a_reader_that_does_not_start_is_broken(pincite: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_memory_mb: int) -> str:
        raise Unavailable("the process that reads files does not start")

    monkeypatch.setattr(diagnose, "isolation", fail)
    said = pincite("doctor")
    assert said.code == 1
    assert "BROKEN reader the process that reads files does not start" in said.words


def test_missing_sandbox_features_are_noted(pincite: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Isolation(("512 MB of memory",), ("no network",))
    monkeypatch.setattr(diagnose, "isolation", lambda _memory_mb: known)
    said = pincite("doctor", "--json")
    [reader] = [check for check in said.json["checks"] if check["name"] == "reader"]
    assert (said.code, reader["state"]) == (0, "note")
    assert "with 512 MB of memory; this system lacks: no network" in reader["found"]
    assert "files that you trust" in reader["advice"]


def test_a_database_that_is_down_is_broken(pincite: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    said = pincite("doctor", "--json")
    assert (said.code, states(said)["database"]) == (1, "broken")


def test_little_space_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000)  # type: ignore[attr-defined]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    found = diagnose._data_folder(tmp_path / "not there yet")
    assert (found.state, "1,000 bytes free" in found.found) == ("note", True)
    assert not (tmp_path / "not there yet").exists()


def _answerer(address: str) -> Finding:
    settings = load_settings({"llm.base_url": address, "llm.model": "m"}, env={})
    return asyncio.run(diagnose._answerer(settings))


def test_a_model_server_is_probed_without_sending_text() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        there = _answerer(address)
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(100) == b""
    assert (there.state, there.found) == ("ok", f"m at {address}, reachable")
    gone = _answerer(address)
    assert gone.state == "note"
    assert "llm.base_url" in gone.advice
    assert _answerer("http://127.0.0.1:notaport/").state == "note"


def test_an_ollama_on_this_machine_is_offered_and_never_used_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def running() -> list[ServerModel]:
        return [ServerModel(f"model-{n}") for n in range(10)]

    monkeypatch.setattr(diagnose, "running_here", running)
    [offer] = asyncio.run(diagnose._ollama(load_settings({}, env={})))
    assert (offer.state, "not used" in offer.found, "and 2 more" in offer.found) == ("ok", True, True)
    assert offer.advice == "to use it for answers: PINCITE_LLM__PROVIDER=ollama PINCITE_LLM__MODEL=model-0"
    assert asyncio.run(diagnose._ollama(load_settings({"llm.provider": "ollama"}, env={}))) == []


def test_a_missing_ollama_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    async def none() -> list[ServerModel]:
        return []

    monkeypatch.setattr(diagnose, "running_here", none)
    assert asyncio.run(diagnose._ollama(load_settings({}, env={}))) == []
