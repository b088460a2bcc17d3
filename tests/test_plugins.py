import pytest

from pincite import plugins
from pincite.core.protocols import LLM, Embedder, Reranker
from pincite.errors import SettingsError

PROVIDERS = "pincite.providers"


def test_a_plugin_is_loaded_by_its_file_name() -> None:
    made = plugins.load(Embedder, PROVIDERS, "scripted", {"dimensions": 8, "something_else": 1})
    assert made.dimensions == 8


def test_a_dotted_name_is_a_module_path() -> None:
    assert plugins.load(LLM, PROVIDERS, "pincite.providers.scripted", {}).name == "scripted"


def test_offered_objects_are_passed_by_parameter_name() -> None:
    embedder = plugins.load(Embedder, PROVIDERS, "scripted", {})
    assert plugins.load(Reranker, PROVIDERS, "cosine", {}, embedder=embedder)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (Embedder, "nope", "no embedder called 'nope'; there are: .*minilm.*scripted"),
        (Reranker, "minilm", "'minilm' provides no reranker; use one of: cosine"),
        (LLM, "no.such.package", "there is no llm called|needs the Python package"),
    ],
)
def test_the_error_of_a_wrong_name_lists_the_plugins(kind: type, name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        plugins.load(kind, PROVIDERS, name, {})
