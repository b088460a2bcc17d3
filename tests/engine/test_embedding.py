"""The embedder that is offered to other processes."""

import pytest

from pincite.config.sources import load_settings
from pincite.engine.embedding import local_embedder
from pincite.errors import SettingsError


def test_a_local_embedder_is_offered_and_a_remote_one_refused() -> None:
    assert local_embedder(load_settings({"embedding.provider": "pincite_embed"}, env={})).local
    elsewhere = {"embedding.provider": "embed_server", "embedding.base_url": "http://127.0.0.1:1/v1"}
    with pytest.raises(SettingsError, match="runs elsewhere itself"):
        local_embedder(load_settings(elsewhere, env={}))
