"""Tokenizers and ONNX models as the providers open them."""

from pathlib import Path

from pincite.models.onnx import open_session, open_tokenizer
from tests.cross_encoder_maker import make_cross_encoder


def test_a_tokenizer_neither_truncates_nor_reads_special_tokens_in_a_text(tmp_path: Path) -> None:
    folder = Path(make_cross_encoder(tmp_path))
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    assert tokenizer.truncation is None
    assert tokenizer.padding is None
    assert tokenizer.encode_special_tokens


def test_a_session_opens_from_a_path_and_from_bytes(tmp_path: Path) -> None:
    model = Path(make_cross_encoder(tmp_path)) / "model.onnx"
    names = [[one.name for one in open_session(source).get_inputs()] for source in (str(model), model.read_bytes())]
    assert names[0] == names[1]
