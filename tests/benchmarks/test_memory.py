import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks._memory import belonging, resident_mb

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="read from /proc")


def test_a_process_occupies_something_and_one_that_is_gone_nothing() -> None:
    assert resident_mb([os.getpid()]) > 10
    assert resident_mb([2**22 + 1]) == 0


@pytest.mark.slow
def test_descendants_and_holders_of_the_folder_belong_to_a_process(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    holding = "import sys; file = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path / "file")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert process.pid in belonging(os.getpid())
        assert process.pid in belonging(1_000_000_000, tmp_path)
        assert process.pid not in belonging(1_000_000_000)
