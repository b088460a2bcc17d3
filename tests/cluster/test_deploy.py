"""The files in `deploy` are what was tried: their commands and variables exist, and haproxy runs with its file."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from benchmarks._machines import free_port
from pincite.cli import main
from pincite.config.schema import catalogue
from pincite.config.settings import ALIASES
from tests.api.live_server import LiveServer

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")


def containers() -> Iterator[tuple[list[str], list[str]]]:
    """The command and the variables of every container of pincite."""
    for service in yaml.safe_load((DEPLOY / "compose.cluster.yaml").read_text())["services"].values():
        if service["image"] == "pincite":
            yield service["command"], list(service["environment"])
    for part in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()):
        for one in part["spec"].get("template", {}).get("spec", {}).get("containers", []):
            yield one["args"], [variable["name"] for variable in one["env"]]


def test_every_command_and_variable_exists(capsys: pytest.CaptureFixture[str]) -> None:
    known = {key.environment for key in catalogue().values()} | set(ALIASES)
    found = list(containers())
    assert len(found) == 6
    for command, variables in found:
        assert main([command[0], "--help"]) == 0
        told = capsys.readouterr().out
        assert all(word in told for word in command[1:] if word.startswith("--"))
        assert set(variables) <= known


def test_the_image_is_started_with_an_existing_command() -> None:
    text = (DEPLOY.parent / "Containerfile").read_text()
    assert re.search(r'CMD \["serve", "--host", "0.0.0.0"\]', text)
    assert "USER 10001" in text


@pytest.mark.skipif(HAPROXY is None, reason="haproxy is not installed")
def test_haproxy_sends_requests_only_to_servers_that_are_ready(database_url: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"database.url": database_url}
    port = free_port()
    with LiveServer(tmp_path / "a", **options) as first, LiveServer(tmp_path / "b", **options) as second:
        text = (DEPLOY / "haproxy.cfg").read_text().replace("bind :8080", f"bind 127.0.0.1:{port}")
        for name, server in (("server1", first), ("server2", second)):
            text = text.replace(f"{name}:8377", server.url.removeprefix("http://"))
        (tmp_path / "haproxy.cfg").write_text(text)
        assert HAPROXY is not None
        running = subprocess.Popen([HAPROXY, "-db", "-f", tmp_path / "haproxy.cfg"])
        try:
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client:
                assert answered(client)
                first.stop()
                assert answered(client)
                second.stop()
                assert not answered(client, want=503)
        finally:
            running.kill()
            running.wait()


def answered(client: httpx2.Client, want: int = 200) -> bool:
    """Whether a request is answered with 200, once the expected status was seen ten times in a row."""
    in_a_row = 0
    until = time.monotonic() + 90
    while in_a_row < 10:
        assert time.monotonic() < until, f"no {want}"
        try:
            in_a_row = in_a_row + 1 if client.get("/api/v1/health/ready").status_code == want else 0
        except httpx2.TransportError:
            in_a_row = 0
        time.sleep(0.05)
    return want == 200
