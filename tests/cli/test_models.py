"""The command models."""

from pincite.models import shipped

from .terminal import Call


def test_models_are_listed_with_licence_and_use(library: Call) -> None:
    said = library("models", "--json", "--set", "embedding.provider=pincite_embed").json["models"]
    assert [model["name"] for model in said] == [model.name for model in shipped.shipped_models()]
    [embedder] = [model for model in said if model["name"] == "pincite-embed"]
    assert embedder["in_use"]
    assert embedder["languages"] == ["English", "German"]
    assert "CC BY-SA 4.0" in embedder["licence"]
    assert embedder["bytes"] > 30_000_000
    other = library("models", "--json", "--set", "embedding.provider=scripted").json["models"]
    assert not any(model["in_use"] for model in other if model["name"] == "pincite-embed")


def test_a_line_of_the_terminal_names_version_and_licence(library: Call) -> None:
    said = library("models").out
    assert "pincite-embed 1" in said
    assert "licence: CC BY-SA 4.0" in said
