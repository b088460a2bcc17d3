"""Weights as they are trained become the graphs that pincite runs."""

from pathlib import Path

import numpy as np
import pytest

from pincite.models.bert_input import READER_OUTPUTS
from pincite.models.onnx import open_session
from training.weights import export, import_reader, mean, reader_tensors

WIDTH = 384


def trained() -> dict[str, np.ndarray]:
    """The weights of a reader of one layer, by the names that training uses."""
    draw = np.random.default_rng(4)
    shapes = {f"embeddings.{name}_embeddings.weight": (size, WIDTH) for name, size in
              (("word", 20), ("position", 12), ("token_type", 2))}  # fmt: skip
    linears = {"attention.self.qkv": (3 * WIDTH, WIDTH), "attention.output.dense": (WIDTH, WIDTH)}
    linears |= {"intermediate.dense": (64, WIDTH), "output.dense": (WIDTH, 64)}
    linears = {f"layer.0.{name}": shape for name, shape in linears.items()}
    linears |= {"head.span": (2, WIDTH), "head.weigh": (1, WIDTH)}
    linears |= {"head.pool": (WIDTH, 3 * WIDTH), "head.judge": (7, WIDTH)}
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in ("embeddings.LayerNorm", "layer.0.attention.output.LayerNorm", "layer.0.output.LayerNorm"):
        shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    return {name: draw.normal(0, 0.05, shape).astype(np.float16) for name, shape in shapes.items()}


def test_a_readers_weights_get_the_names_of_bert() -> None:
    qkv = np.arange(6)
    found = reader_tensors(
        {"layer.3.attention.self.qkv.bias": qkv, "layer.3.output.dense.bias": qkv, "head.span.bias": qkv}
    )
    assert {name: array.tolist() for name, array in found.items()} == {
        "encoder.layer.3.attention.self.query.bias": [0, 1],
        "encoder.layer.3.attention.self.key.bias": [2, 3],
        "encoder.layer.3.attention.self.value.bias": [4, 5],
        "encoder.layer.3.output.dense.bias": [0, 1, 2, 3, 4, 5],
        "head.span.bias": [0, 1, 2, 3, 4, 5],
    }


@pytest.mark.parametrize("int8", [False, True])
def test_an_exported_reader_runs(tmp_path: Path, int8: bool) -> None:
    np.savez(tmp_path / "reader.npz", **trained())
    export(str(tmp_path / "reader.npz"), str(tmp_path / "model.onnx"), int8, True)
    session = open_session(str(tmp_path / "model.onnx"), basic_optimization=True)
    inputs = {"ids": np.array([[1, 5, 2, 7, 8, 2]]), "types": np.array([[0, 0, 0, 1, 1, 1]])}
    found = session.run(list(READER_OUTPUTS), inputs)
    assert [one.shape for one in found] == [(1, 6), (1, 6), (1, 1), (1, 3), (1, 3)]
    assert all(np.isfinite(one).all() for one in found)


def test_an_exported_reader_is_imported_and_exported_again_byte_for_byte(tmp_path: Path) -> None:
    np.savez(tmp_path / "reader.npz", **trained())
    first, second = str(tmp_path / "first.onnx"), str(tmp_path / "second.onnx")
    export(str(tmp_path / "reader.npz"), first, True, True)
    import_reader(first, str(tmp_path / "again.npz"))
    export(str(tmp_path / "again.npz"), second, True, True)
    assert Path(first).read_bytes() == Path(second).read_bytes()
    state = np.load(tmp_path / "again.npz")
    assert {name: array.shape for name, array in state.items()} == {name: one.shape for name, one in trained().items()}
    for name, array in trained().items():
        assert np.abs(state[name] - array).max() < 0.002, name  # half a step of int8


def test_another_graph_is_not_imported_as_a_reader(tmp_path: Path) -> None:
    tensors = {name: array for name, array in reader_tensors(trained()).items() if not name.startswith("head.")}
    np.savez(tmp_path / "embedder.npz", **tensors)
    export(str(tmp_path / "embedder.npz"), str(tmp_path / "model.onnx"), True, False)
    with pytest.raises(SystemExit, match="not a reader exported by this script"):
        import_reader(str(tmp_path / "model.onnx"), str(tmp_path / "again.npz"))


def test_an_exported_embedder_gives_a_unit_vector(tmp_path: Path) -> None:
    tensors = {name: array for name, array in reader_tensors(trained()).items() if not name.startswith("head.")}
    np.savez(tmp_path / "embedder.npz", **tensors)
    export(str(tmp_path / "embedder.npz"), str(tmp_path / "model.onnx"), True, False)
    [vectors] = open_session(str(tmp_path / "model.onnx")).run(None, {"ids": np.array([[1, 5, 2]])})
    assert vectors.shape == (1, WIDTH)
    assert float(np.linalg.norm(vectors)) == pytest.approx(1, abs=1e-5)


def test_new_states_share_their_weight_and_the_old_one_has_the_rest(tmp_path: Path) -> None:
    for name, value in (("one", 2.0), ("two", 6.0), ("old", 8.0)):
        np.savez(tmp_path / f"{name}.npz", bias=np.full(3, value))
    one, two, old, made = (str(tmp_path / f"{name}.npz") for name in ("one", "two", "old", "made"))
    mean([one, two], old, made, 0.75)
    assert np.load(made)["bias"].tolist() == [5.0, 5.0, 5.0]  # .75 x 4 + .25 x 8
    mean([one], old, made, 0.5)
    assert np.load(made)["bias"].tolist() == [5.0, 5.0, 5.0]
