"""The models shipped with the package: their files, checksums, licences and sources."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pincite.config.settings import Settings
from pincite.errors import SettingsError

FOLDER = Path(__file__).parent / "weights"
CARDS = FOLDER / "cards.toml"


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """One model: what it is for, in which languages, its licence, and the SHA-256 checksum of each of its files."""

    name: str
    version: str
    task: str
    languages: tuple[str, ...]
    licence: str
    made_from: str
    checksums: Mapping[str, str]

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return FOLDER / self.name

    @property
    def size(self) -> int:
        """The size of its files in bytes; 0 where they are missing."""
        return sum(path.stat().st_size for name in self.checksums if (path := self.folder / name).is_file())

    def file(self, name: str) -> Path:
        """Return the path of a file after comparing its checksum."""
        path = self.folder / name
        try:
            with path.open("rb") as data:
                found = hashlib.file_digest(data, "sha256").hexdigest()
        except OSError as error:
            raise SettingsError(f"cannot read {path}: {error.strerror}; install pincite again") from error
        if found != self.checksums[name]:
            raise SettingsError(
                f"{path} is not the file of {self.name} {self.version} that pincite was made with: its sha256 is "
                f"{found}, not {self.checksums[name]}; install pincite again"
            )
        return path


@cache
def shipped_models() -> tuple[ShippedModel, ...]:
    """All models shipped with the package."""
    with CARDS.open("rb") as file:
        cards: list[dict[str, Any]] = tomllib.load(file)["model"]
    return tuple(
        ShippedModel(**{**card, "languages": tuple(card["languages"]), "checksums": dict(card["checksums"])})
        for card in cards
    )


def shipped_model(name: str) -> ShippedModel:
    """Return the model with this name."""
    return next(model for model in shipped_models() if model.name == name)


def models_in_use(settings: Settings) -> frozenset[str]:
    """The names of the shipped models that these settings use."""
    used = {
        "pincite-embed": settings.embedding.provider == "pincite_embed",
        "pincite-read": "reader" in (settings.answers.reader, settings.rag.reranker),
    }
    return frozenset(name for name, needed in used.items() if needed)
