"""The graph of a sentence encoder: the same vectors as a plain computation of BERT, in both forms."""

import math

import numpy as np
import onnxruntime
import pytest

from pincite.models.bert_graph import HEADS, WIDTH, build

LAYERS, VOCABULARY, POSITIONS, INNER = 2, 50, 16, 64


@pytest.fixture(scope="module")
def tensors() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(3)

    def random(*shape: int) -> np.ndarray:
        return draw.normal(0, 0.08, shape).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": random(VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": random(POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": random(2, WIDTH),
    }
    shapes = {"attention.self.query": (WIDTH, WIDTH), "attention.self.key": (WIDTH, WIDTH)}
    shapes |= {"attention.self.value": (WIDTH, WIDTH), "attention.output.dense": (WIDTH, WIDTH)}
    shapes |= {"intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
        for part, shape in shapes.items():
            made[f"{name}.{part}.weight"], made[f"{name}.{part}.bias"] = random(*shape), random(shape[0])
    for norm in norms:
        made[f"{norm}.weight"], made[f"{norm}.bias"] = 1 + random(WIDTH), random(WIDTH)
    return made


def plain_vector(tensors: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The mean of the last states of BERT, as a unit vector."""

    def normalised(state: np.ndarray, name: str) -> np.ndarray:
        centred = state - state.mean(-1, keepdims=True)
        return centred / centred.std(-1, keepdims=True) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def linear(state: np.ndarray, name: str) -> np.ndarray:
        return state @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    state = (
        tensors["embeddings.word_embeddings.weight"][ids] + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    )
    state = normalised(state + tensors["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            linear(state, f"{name}.attention.self.{part}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(WIDTH / HEADS))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        state = normalised(
            linear(mixed, f"{name}.attention.output.dense") + state, f"{name}.attention.output.LayerNorm"
        )
        inner = linear(state, f"{name}.intermediate.dense")
        gelu = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / np.sqrt(2)))
        state = normalised(linear(gelu, f"{name}.output.dense") + state, f"{name}.output.LayerNorm")
    mean = state.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize(("int8", "least"), [(False, 0.99999), (True, 0.99)])
def test_a_vector_is_that_of_a_plain_computation(tensors: dict[str, np.ndarray], int8: bool, least: float) -> None:
    session = onnxruntime.InferenceSession(build(tensors, "tiny", int8=int8), providers=["CPUExecutionProvider"])
    ids = [3, 17, 42, 8, 21]
    [vectors] = session.run(None, {"ids": np.array([ids])})
    assert vectors.shape == (1, WIDTH)
    assert float(vectors[0] @ plain_vector(tensors, ids)) > least
