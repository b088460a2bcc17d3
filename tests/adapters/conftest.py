"""A small library that the retrievers of other frameworks search."""

from collections.abc import Iterator

import pytest

from pincite import Pincite


@pytest.fixture(scope="module")
def library(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pincite]:
    place = tmp_path_factory.mktemp("adapters")
    (place / "leave.md").write_text("# Leave\n\nUp to five vacation days carry over.\n", encoding="utf-8")
    (place / "cats.md").write_text("# Cats\n\nCats carry five days of food.\n", encoding="utf-8")
    settings = {"database.url": module_database_url, "embedding.provider": "scripted"}
    with Pincite(place / "data", settings=settings) as library:
        library.add(place / "leave.md", folder="hr")
        library.add(place / "cats.md", folder="pets")
        yield library
