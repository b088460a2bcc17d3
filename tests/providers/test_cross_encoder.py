import asyncio
import gc
import math
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from pincite.errors import ProviderError, SettingsError
from pincite.providers.cross_encoder import CrossEncoder, Options, _loaded, load_weights, make_reranker
from tests.cross_encoder_maker import make_cross_encoder

QUERY = "why cats purr"
TEXTS = ["the stock market fell", "cats purr", "cats", ""]


def score(path: str, query: str = QUERY, texts: list[str] = TEXTS, **options: Any) -> list[float]:
    return asyncio.run(make_reranker(Options(path=path, threads=2, **options)).score(query, texts))


def test_one_logit_becomes_a_share_of_one_and_two_are_weighed_against_each_other(tmp_path: Path) -> None:
    one = score(make_cross_encoder(tmp_path / "one"))
    assert one == pytest.approx([1 / (1 + math.exp(1.5 - words)) for words in (0, 2, 1, 0)])
    two = score(make_cross_encoder(tmp_path / "two", logits=2))
    assert two == pytest.approx([1 / (1 + math.exp(2 * (1.5 - words))) for words in (0, 2, 1, 0)])


def test_a_pair_is_put_together_as_the_tokenizer_would(tmp_path: Path) -> None:
    path = make_cross_encoder(tmp_path)
    made = CrossEncoder(Options(path=path))
    plain = Tokenizer.from_file(f"{path}/tokenizer.json")
    plain.no_truncation()
    plain.no_padding()
    ours = load_weights(path).tokenizer.post_process(made._pieces(QUERY, 99), made._pieces(TEXTS[0], 99))
    theirs = plain.encode(QUERY, TEXTS[0])
    assert (ours.ids, ours.type_ids, ours.attention_mask) == (theirs.ids, theirs.type_ids, theirs.attention_mask)


def test_a_long_passage_is_cut_at_its_end_and_a_long_question_to_half_of_the_window(tmp_path: Path) -> None:
    path = make_cross_encoder(tmp_path)
    filler = "market " * 70
    early, late = score(path, QUERY, [f"cats purr {filler}", f"{filler} cats purr"], window=64)
    assert early > late
    [long] = score(path, f"{QUERY} {'stock ' * 500}", [f"cats {filler}"], window=64)
    assert long == pytest.approx(early / (early + (1 - early) * math.e))  # one word fewer than above


def test_the_window_is_never_more_than_the_model_was_made_for(tmp_path: Path) -> None:
    def room(name: str, **config: Any) -> int:
        return CrossEncoder(Options(path=make_cross_encoder(tmp_path / name, **config)))._room

    assert room("unknown") == 512 - 3
    assert room("bert", model_type="bert", max_position_embeddings=128) == 128 - 3
    assert room("roberta", model_type="xlm-roberta", max_position_embeddings=130) == 128 - 3
    (tmp_path / "unknown" / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')
    assert load_weights(str(tmp_path / "unknown")).max_tokens > 512


def test_special_tokens_in_a_text_are_plain_text(tmp_path: Path) -> None:
    path = make_cross_encoder(tmp_path)
    plain, marked = score(path, QUERY, ["cats purr", "[SEP] cats [CLS] purr \ud800"])
    assert plain == marked


def test_a_score_that_is_not_a_number_is_no_score(tmp_path: Path) -> None:
    path = make_cross_encoder(tmp_path, infinite=True)
    with pytest.raises(ProviderError, match="a score that is not a number"):
        score(path)


def test_a_model_may_do_without_some_inputs_and_lie_where_it_is_published(tmp_path: Path) -> None:
    path = make_cross_encoder(tmp_path, inputs=("input_ids", "token_type_ids"))
    (tmp_path / "onnx").mkdir()
    shutil.move(tmp_path / "model.onnx", tmp_path / "onnx" / "model.onnx")
    assert len(score(path)) == len(TEXTS)


def test_whoever_uses_the_same_folder_shares_its_weights_and_the_last_one_lets_them_go(tmp_path: Path) -> None:
    path, before = make_cross_encoder(tmp_path), len(_loaded)
    one, other = CrossEncoder(Options(path=path)), CrossEncoder(Options(path=path, window=64))
    assert one._weights is other._weights
    asyncio.run(one.close())
    assert len(asyncio.run(other.score(QUERY, TEXTS))) == len(TEXTS)
    del one, other
    for _ in range(100):  # the thread that scored may hold them a moment longer
        gc.collect()
        if len(_loaded) <= before:
            return
        time.sleep(0.05)
    pytest.fail("the weights are still held")


def broken(folder: Path, name: str) -> str:
    make_cross_encoder(folder)
    (folder / name).write_bytes(b"rubbish")
    return str(folder)


def without(folder: Path, name: str) -> str:
    make_cross_encoder(folder)
    (folder / name).unlink()
    return str(folder)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: "", "needs rerank.path: a folder with model.onnx and tokenizer.json"),
        (lambda folder: str(folder / "nowhere"), "there is no model.onnx in"),
        (lambda folder: without(folder, "model.onnx"), "there is no model.onnx in"),
        (lambda folder: without(folder, "tokenizer.json"), "there is no tokenizer.json in"),
        (lambda folder: broken(folder, "model.onnx"), "is not a usable ONNX model"),
        (lambda folder: broken(folder, "tokenizer.json"), "is not a tokenizer"),
        (lambda folder: broken(folder, "config.json"), "config.json cannot be read"),
        (lambda folder: make_cross_encoder(folder, logits=3), "returns 3 numbers per pair, not one or two"),
        (
            lambda folder: make_cross_encoder(folder, inputs=("input_ids", "token_type_ids", "pixels")),
            "cannot score a pair",
        ),
    ],
)
def test_a_folder_that_cannot_be_used_is_told_at_start(tmp_path: Path, make: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        make_reranker(Options(path=make(tmp_path)))
