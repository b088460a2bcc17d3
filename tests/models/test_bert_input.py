"""The names of inputs and outputs are those of the shipped graphs."""

from pincite.models.bert_input import INPUT, READER_OUTPUTS, TYPES
from pincite.models.onnx import open_session
from pincite.models.shipped import shipped_model


def test_the_shipped_graphs_have_these_inputs_and_outputs() -> None:
    embedder, reader = (
        open_session(str(shipped_model(name).file("model.onnx"))) for name in ("pincite-embed", "pincite-read")
    )
    assert [one.name for one in embedder.get_inputs()] == [INPUT]
    assert [one.name for one in reader.get_inputs()] == [INPUT, TYPES]
    assert tuple(one.name for one in reader.get_outputs()) == READER_OUTPUTS
