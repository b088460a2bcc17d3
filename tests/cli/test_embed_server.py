"""The command embed-server."""

import pytest

from .terminal import call


def test_an_embedder_that_runs_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_EMBEDDING__PROVIDER", "embed_server")
    monkeypatch.setenv("PINCITE_EMBEDDING__BASE_URL", "http://127.0.0.1:1/v1")
    told = call("embed-server")
    assert told.code != 0
    assert "runs elsewhere itself" in told.err
