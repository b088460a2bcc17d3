"""The command stub-llm, as a process."""

import json
import signal
from pathlib import Path

import httpx2
import pytest

from .terminal import call, start


@pytest.mark.slow
def test_the_stub_prints_its_usage_answers_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_text("Yes.\n---\nNo.\n")
    process = start("stub-llm", script, "--port", "0", "--fault", "503@2", "--json")
    try:
        assert process.stdout is not None
        said = "".join(iter(process.stdout.readline, "}\n")) + "}"
        told = json.loads(said)
        with httpx2.Client() as client:
            answers = [client.post(f"{told['url']}/chat/completions", json={"messages": []}) for _ in range(3)]
            log = client.get(told["calls"]).json()
        assert [answer.status_code for answer in answers] == [200, 503, 200]
        assert answers[0].json()["choices"][0]["message"]["content"] == "Yes."
        assert log["count"] == 3
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0, "")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--fault", "hag"), "did you mean 'hang'"),
        (("--behaviour", "nice"), "behaviour: Input should be 'quote', 'refuse', 'echo', 'obey' or 'plan'"),
        (("/nowhere/script.json",), "cannot be read"),
    ],
)
def test_an_invalid_option_is_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert words in call("stub-llm", *arguments).failed_with(2)
