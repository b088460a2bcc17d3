"""A share of packed examples keeps whole examples."""

from pathlib import Path

import numpy as np

from training.read_sample import sample


def test_a_sample_keeps_whole_examples_in_their_order(tmp_path: Path) -> None:
    lengths = np.arange(1, 101)
    ids = np.repeat(np.arange(100), lengths)
    np.savez(tmp_path / "all.npz", length=lengths, ids=ids, sentence=ids, task=np.arange(100), sources=np.array(["a"]))
    examples, pieces = sample(str(tmp_path / "all.npz"), str(tmp_path / "sample" / "some.npz"), 0.4)
    made = np.load(tmp_path / "sample" / "some.npz")
    assert 25 < examples == len(made["length"]) < 55
    assert pieces == made["length"].sum() == len(made["ids"]) == len(made["sentence"])
    assert made["ids"].tolist() == [number for number in made["task"] for _ in range(lengths[number])]
