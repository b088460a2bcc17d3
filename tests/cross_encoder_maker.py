"""Writes a tiny cross-encoder that scores a pair by the words that question and passage share."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

SPECIAL = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3}
WORDS = "why cats purr the stock market fell a b c d e f g question answer".split()
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def make_cross_encoder(
    folder: Path, *, logits: int = 1, inputs: tuple[str, ...] = INPUTS, infinite: bool = False, **config: Any
) -> str:
    """Write a model folder as models are published; `logits` is the number of outputs per pair."""
    folder.mkdir(parents=True, exist_ok=True)
    _tokenizer().save(str(folder / "tokenizer.json"))
    onnx.save(_model(logits, inputs, infinite), folder / "model.onnx")
    if config:
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(folder)


def _tokenizer() -> Tokenizer:
    vocabulary = SPECIAL | {word: len(SPECIAL) + place for place, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_truncation(8)  # as published files do: it must not count
    tokenizer.enable_padding(length=64)
    return tokenizer


def _model(logits: int, inputs: tuple[str, ...], infinite: bool) -> onnx.ModelProto:
    """Count the pairs of positions, in the question and the passage, that hold the same known word."""
    node = helper.make_node
    nodes = [
        node("Unsqueeze", ["input_ids", "last"], ["down"]),
        node("Unsqueeze", ["input_ids", "middle"], ["across"]),
        node("Equal", ["down", "across"], ["same"]),
        node("GreaterOrEqual", ["down", "known"], ["is_known"]),
        node("Unsqueeze", ["token_type_ids", "last"], ["part_down"]),
        node("Unsqueeze", ["token_type_ids", "middle"], ["part_across"]),
        node("Less", ["part_down", "part_across"], ["between"]),
        node("And", ["same", "is_known"], ["word"]),
        node("And", ["word", "between"], ["shared"]),
        node("Cast", ["shared"], ["counted"], to=TensorProto.FLOAT),
        node("ReduceSum", ["counted", "places"], ["sum"], keepdims=0),
        node("Unsqueeze", ["sum", "last"], ["deep"]),
        node("Squeeze", ["deep", "last"], ["flat"]),
        node("Unsqueeze", ["flat", "middle"], ["one"]),
        node("Sub", ["one", "shift"], ["logit"]),
        node("Sub", ["zero", "logit"], ["opposite"]),
        node("Div", ["logit", "zero"], ["last_logit"]) if infinite else node("Identity", ["logit"], ["last_logit"]),
        node("Concat", [*["opposite"] * (logits - 1), "last_logit"], ["logits"], axis=1),
    ]
    constants = {
        "last": np.array([-1]),
        "middle": np.array([1]),
        "known": np.array(len(SPECIAL)),
        "places": np.array([1, 2]),
        "shift": np.array(1.5, np.float32),
        "zero": np.array(0, np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [1, None]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, logits])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
