"""Hostile files through HTTP and the command line: limited time and memory, a clear reason, no side effects."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.live_server import LiveServer, upload
from tests.hostile.conftest import API, BASE_MB, MEMORY_MB, TIMEOUT_S, Trap, Watch, ending
from tests.hostile.makers import CASES, NAMES, TRAP, Case

pytestmark = pytest.mark.slow
BY_COMMAND = (
    "zip_bomb.docx",
    "zip_slip.docx",
    "zip_slip_absolute.docx",
    "symlink.docx",
    "external_file.docx",
    "external_http.docx",
    "remote_template.docx",
    "billion_laughs.xlsx",
    "page_loop.pdf",
    "active.pdf",
    "polyglot.pdf",
    "program.txt",
    "deep_lists.md",
    "invalid.txt",
    "remote.html",
    "bomb.eml",
    "huge.png",
)
"""Files of every outcome for the command line; it reads files by the same code as HTTP."""


def outside(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if "data" not in path.relative_to(folder).parts}


def content(case: Case, trap: Trap) -> bytes:
    return case.make().replace(TRAP.encode(), trap.address.encode())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_hostile_file_ends_with_a_reason_and_others_go_on_meanwhile(
    case: Case, client: httpx2.Client, trap: Trap, watch: Watch, surroundings: Path
) -> None:
    data, before = content(case, trap), outside(surroundings)
    started = time.monotonic()
    response = upload(client, case.name, data)
    if response.status_code >= 400:
        problem = response.json()
        assert response.status_code in (413, 415, 422), problem
        assert f"refused:{problem['code']}" in case.ends
        assert problem["detail"]
    else:
        other = upload(client, f"harmless-{case.name}.md", f"# Harmless\n\nBeside {case.name}.\n").json()["document"]
        assert ending(client, other)["status"] == "completed"
        found = ending(client, response.json()["document"])
        error = found["error"]
        assert (f"error:{error['code']}" if error else found["status"]) in case.ends, error
        if error:
            assert len(error["message"]) > 15
            assert client.get(f"{API}/documents/{found['id']}/chunks").json()["items"] == []
    assert time.monotonic() - started < TIMEOUT_S + 30
    assert trap.hits == 0
    assert watch.peak_mb < MEMORY_MB + BASE_MB
    assert outside(surroundings) == before


def test_the_peak_memory_is_measured(watch: Watch, client: httpx2.Client) -> None:
    assert ending(client, upload(client, "seen.md", "# Seen\n").json()["document"])["status"] == "completed"
    assert watch.peak_mb > 30


@pytest.mark.parametrize("name", NAMES, ids=[repr(name[:20]) for name in NAMES])
def test_a_hostile_file_name_is_refused_or_harmless(
    name: str, client: httpx2.Client, surroundings: Path, attacked: LiveServer
) -> None:
    before = outside(surroundings)
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').encode()
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="'
        + escaped
        + b'"\r\n\r\n# Evil\n\nwords\r\n--b--\r\n'
    )
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    response = client.post(f"{API}/documents/upload", content=body, headers=headers)
    assert response.status_code in (200, 202, 400, 413, 415, 422), response.text
    if response.status_code < 400:
        document = ending(client, response.json()["document"])
        assert "/" not in document["name"]
        stored = [path for path in (surroundings / "data").rglob("*") if path.is_file()]
        assert not [path for path in stored if "evil" in path.name]
    assert outside(surroundings) == before
    assert not Path("/tmp/evil.md").exists()


def test_the_server_survives_several_hostile_files_at_once(client: httpx2.Client, trap: Trap) -> None:
    bad = [case for case in CASES if case.name in ("zip_bomb.docx", "many_objects.pdf", "huge_sheet.xlsx", "deep.html")]
    sent = [upload(client, f"again-{case.name}", content(case, trap)).json()["document"] for case in bad]
    good = [upload(client, f"good-{n}.md", f"# Good\n\nNumber {n}.\n").json()["document"] for n in range(10)]
    assert {ending(client, document)["status"] for document in good} == {"completed"}
    assert {ending(client, document)["status"] for document in sent} <= {"completed", "error"}
    assert client.get(f"{API}/health/ready").status_code == 200


def test_the_command_line_adds_readable_files_and_reports_the_rest(trap: Trap, tmp_path: Path) -> None:
    files, data = tmp_path / "files", tmp_path / "data"
    files.mkdir()
    chosen = [case for case in CASES if case.name in BY_COMMAND]
    assert len(chosen) == len(BY_COMMAND)
    for case in chosen:
        (files / case.name).write_bytes(content(case, trap))
    (files / "harmless.md").write_text("# Harmless\n\nWords.\n")
    before = outside(tmp_path)
    environment = {
        **os.environ,
        "PINCITE_EMBEDDING__PROVIDER": "scripted",
        "PINCITE_INGEST__PARSE_TIMEOUT_S": str(TIMEOUT_S),
        "PINCITE_INGEST__PARSE_MEMORY_MB": str(MEMORY_MB),
    }
    command = [
        sys.executable,
        "-c",
        "import sys; from pincite.cli import main; sys.exit(main())",
        "add",
        str(files),
        "--json",
        "--data",
        str(data),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    ends = {one["document"]["name"]: _end(one["document"]) for one in result["added"]}
    ends |= {Path(one["path"]).name: f"refused:{one['code']}" for one in result["refused"]}
    assert ends.pop("harmless.md") == "completed"
    assert {case.name: ends[case.name] for case in chosen if ends[case.name] not in case.ends} == {}
    assert outside(tmp_path) == before
    assert trap.hits == 0


def _end(document: dict[str, Any]) -> str:
    return f"error:{document['error']['code']}" if document["error"] else str(document["status"])
