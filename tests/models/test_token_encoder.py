"""The tokens of the shipped embedder: which ones are kept, and that their mean is the embedder's own vector."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from pincite.errors import ProviderError, SettingsError
from pincite.models.token_encoder import TokenEncoder, open_folder, packed_tokens, token_encoder
from pincite.models.token_vectors import Tokens
from pincite.providers.pincite_embed import Options, make_embedder
from pincite.providers.scripted import Options as ScriptedOptions
from pincite.providers.scripted import make_embedder as make_scripted_embedder


@pytest.fixture(scope="module")
def encoder() -> TokenEncoder:
    return token_encoder(make_embedder(Options()), "")


def _embed(encoder: TokenEncoder, text: str, language: str = "en") -> Tokens:
    [found] = asyncio.run(encoder.embed_tokens([(text, language)], as_query=False))
    return found


def test_stop_words_and_punctuation_have_no_vectors(encoder: TokenEncoder) -> None:
    assert len(_embed(encoder, "The dome, and the crank!")) == len(_embed(encoder, "dome crank"))


def test_stop_words_are_those_of_the_texts_language(encoder: TokenEncoder) -> None:
    assert len(_embed(encoder, "war", "de")) == 1  # a text of stop words only keeps them
    assert len(_embed(encoder, "die Kuppel war offen", "de")) < len(_embed(encoder, "die Kuppel war offen", "en"))


def test_vectors_have_unit_length(encoder: TokenEncoder) -> None:
    found = _embed(encoder, "A hand crank closes the dome shutter.")
    assert found.shape[1] == 384
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(found)), abs=1e-5)


def test_an_empty_text_has_no_vectors(encoder: TokenEncoder) -> None:
    assert _embed(encoder, "").shape == (0, 384)


def test_a_long_text_has_the_vectors_of_all_its_tokens(encoder: TokenEncoder) -> None:
    assert len(_embed(encoder, "dome " * 1300)) == 1300


def test_the_same_model_is_opened_once(encoder: TokenEncoder) -> None:
    assert token_encoder(make_embedder(Options()), "") is encoder


def test_an_embedder_without_tokens_says_what_to_do() -> None:
    with pytest.raises(ProviderError, match=r"set late\.model"):
        asyncio.run(packed_tokens(make_scripted_embedder(ScriptedOptions()), [("a", "en")], ""))


def test_a_folder_without_a_model_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"late\.model: there is no model\.onnx"):
        open_folder(str(tmp_path), threads=1)


def test_a_folder_with_a_model_is_opened(tmp_path: Path, encoder: TokenEncoder) -> None:
    from pincite.models.shipped import shipped_model
    from pincite.models.token_encoder import with_token_output

    shipped = shipped_model("pincite-embed").folder
    (tmp_path / "model.onnx").write_bytes(with_token_output(str(shipped / "model.onnx")))
    (tmp_path / "tokenizer.json").write_bytes((shipped / "tokenizer.json").read_bytes())
    found = open_folder(str(tmp_path), threads=1)
    assert found.dimensions == 384
    assert len(_embed(found, "The dome and the crank.")) == 2
    assert found.name.startswith(tmp_path.name)
