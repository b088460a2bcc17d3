"""The graphs of a sentence encoder and a reader: the same outputs as a plain computation of BERT, in both forms."""

import math

import numpy as np
import onnxruntime
import pytest

from pincite.models.bert_graph import HEADS, WIDTH, build, build_reader
from pincite.models.bert_input import READER_OUTPUTS

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


def gelu(inner: np.ndarray) -> np.ndarray:
    return inner * 0.5 * (1 + np.vectorize(math.erf)(inner / np.sqrt(2)))


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def plain_states(tensors: dict[str, np.ndarray], ids: list[int], types: list[int]) -> np.ndarray:
    """The last states of BERT."""

    def normalised(state: np.ndarray, name: str) -> np.ndarray:
        centred = state - state.mean(-1, keepdims=True)
        return centred / centred.std(-1, keepdims=True) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    state = (
        tensors["embeddings.word_embeddings.weight"][ids] + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    )
    state = normalised(state + tensors["embeddings.token_type_embeddings.weight"][types], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            linear(tensors, state, f"{name}.attention.self.{part}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = softmax(query @ key.transpose(0, 2, 1) / np.sqrt(WIDTH / HEADS))
        mixed = (scores @ value).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        attended = linear(tensors, mixed, f"{name}.attention.output.dense") + state
        state = normalised(attended, f"{name}.attention.output.LayerNorm")
        inner = gelu(linear(tensors, state, f"{name}.intermediate.dense"))
        state = normalised(linear(tensors, inner, f"{name}.output.dense") + state, f"{name}.output.LayerNorm")
    return state


def linear(tensors: dict[str, np.ndarray], state: np.ndarray, name: str) -> np.ndarray:
    return state @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]


def plain_vector(tensors: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The mean of the last states of BERT, as a unit vector."""
    mean = plain_states(tensors, ids, [0] * len(ids)).mean(0)
    return mean / np.linalg.norm(mean)


def plain_reading(tensors: dict[str, np.ndarray], ids: list[int], asked: int) -> dict[str, np.ndarray]:
    """The outputs of a reader whose first `asked` pieces are the question's."""
    state = plain_states(tensors, ids, [int(place >= asked) for place in range(len(ids))])
    inside = slice(asked, len(ids) - 1)

    def within(logits: np.ndarray) -> np.ndarray:
        found = np.full(len(ids), -1e4)
        found[inside] = logits[inside]
        return found

    edges = linear(tensors, state, "head.span")
    weights = softmax(linear(tensors, state, "head.weigh")[inside, 0])
    joined = np.concatenate([state[0], state[:asked].mean(0), weights @ state[inside]])
    judged = linear(tensors, gelu(linear(tensors, joined, "head.pool")), "head.judge")
    return {
        "start": within(edges[:, 0]),
        "end": within(edges[:, 1]),
        "answerable": judged[:1],
        "polarity": judged[1:4],
        "claim": judged[4:],
    }


@pytest.mark.parametrize(("int8", "least"), [(False, 0.99999), (True, 0.99)])
def test_a_vector_is_that_of_a_plain_computation(tensors: dict[str, np.ndarray], int8: bool, least: float) -> None:
    session = onnxruntime.InferenceSession(build(tensors, "tiny", int8=int8), providers=["CPUExecutionProvider"])
    ids = [3, 17, 42, 8, 21]
    [vectors] = session.run(None, {"ids": np.array([ids])})
    assert vectors.shape == (1, WIDTH)
    assert float(vectors[0] @ plain_vector(tensors, ids)) > least


@pytest.fixture(scope="module")
def reader_tensors(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(5)
    made = dict(tensors)
    for part, shape in {
        "span": (2, WIDTH),
        "weigh": (1, WIDTH),
        "pool": (WIDTH, 3 * WIDTH),
        "judge": (7, WIDTH),
    }.items():
        made[f"head.{part}.weight"] = draw.normal(0, 0.08, shape).astype(np.float32)
        made[f"head.{part}.bias"] = draw.normal(0, 0.08, shape[0]).astype(np.float32)
    return made


@pytest.mark.parametrize(("int8", "most"), [(False, 1e-4), (True, 0.2)])
@pytest.mark.parametrize(("ids", "asked"), [([3, 17, 42, 8, 21, 30, 9, 42], 3), ([1, 42, 5, 42], 2)])
def test_a_reading_is_that_of_a_plain_computation(
    reader_tensors: dict[str, np.ndarray], ids: list[int], asked: int, int8: bool, most: float
) -> None:
    session = onnxruntime.InferenceSession(
        build_reader(reader_tensors, "tiny", int8=int8), providers=["CPUExecutionProvider"]
    )
    types = [[int(place >= asked) for place in range(len(ids))]]
    outputs = session.run(list(READER_OUTPUTS), {"ids": np.array([ids]), "types": np.array(types)})
    found, wanted = dict(zip(READER_OUTPUTS, outputs, strict=True)), plain_reading(reader_tensors, ids, asked)
    for name in READER_OUTPUTS:
        assert found[name].shape == (1, *wanted[name].shape), name
        assert float(np.abs(found[name][0] - wanted[name]).max()) < most, name
