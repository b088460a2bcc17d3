"""On a machine without network everything starts and answers, and no other host is contacted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("built_in_reader")
ALONE = """
import asyncio, fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # only the loopback device is up
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))
elsewhere = []
def hear(event, arguments):
    if event == "socket.getaddrinfo" or (event == "socket.connect" and isinstance(arguments[1], tuple)):
        elsewhere.append(arguments)
sys.addaudithook(hear)
from pincite import AsyncPincite
async def main():
    async with AsyncPincite(sys.argv[1]) as pincite:
        added = await pincite.add(sys.argv[2])
        answer = await pincite.ask("How many vacation days carry over?")
        print(answer.citations[0].quote)
    print(elsewhere)
asyncio.run(main())
"""


@pytest.mark.slow
def test_without_a_network_it_starts_answers_and_contacts_no_other_host(tmp_path: Path) -> None:
    alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-current-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody have a network of their own")
    (tmp_path / "leave.md").write_text("# Leave\n\nFive vacation days carry over to the next year.\n")
    command = [*alone, sys.executable, "-c", ALONE, str(tmp_path / "data"), str(tmp_path / "leave.md")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Five vacation days carry over to the next year.", "[]"]
