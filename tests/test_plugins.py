import pytest

from pincite import plugins
from pincite.core.protocols import LLM, Embedder, Reranker
from pincite.errors import SettingsError

PROVIDERS = "pincite.providers"


def test_the_name_is_the_file() -> None:
    made = plugins.load(Embedder, PROVIDERS, "scripted", {"dimensions": 8, "something_else": 1})
    assert made.dimensions == 8


def test_a_dotted_name_is_taken_as_it_is() -> None:
    assert plugins.load(LLM, PROVIDERS, "pincite.providers.scripted", {}).name == "scripted"


def test_what_the_engine_offers_is_handed_over() -> None:
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
def test_a_wrong_name_says_which_there_are(kind: type, name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        plugins.load(kind, PROVIDERS, name, {})
