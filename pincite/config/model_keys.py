"""Keys of model servers that an administrator entered: in a file of the data folder that only its owner can read.

A key is bound to the server that it was entered for. It is not used with another provider or address.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pincite.errors import SettingsError

FILE_NAME = "model-keys.json"


@dataclass(frozen=True, slots=True)
class ModelKey:
    """A key, and the provider and address that it belongs to."""

    provider: str
    base_url: str
    key: str = field(repr=False)

    def fits(self, branch: str, values: Mapping[str, object]) -> bool:
        """Whether the settings of a branch still name its server."""
        given = (values.get(f"{branch}.provider") or "", values.get(f"{branch}.base_url") or "")
        return given == (self.provider, self.base_url)


def read_model_keys(folder: Path) -> dict[str, ModelKey]:
    """Read the keys by their branch, such as `llm`; without a file there are none."""
    path = folder / FILE_NAME
    try:
        return {branch: ModelKey(**one) for branch, one in json.loads(path.read_text(encoding="utf-8")).items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        raise SettingsError(f"the file {path} cannot be read; delete it and enter the keys again") from None


def write_model_key(folder: Path, branch: str, key: ModelKey | None) -> None:
    """Write or remove the key of a branch; the file is replaced as a whole and readable by its owner only."""
    keys = {**read_model_keys(folder)}
    if key is None:
        keys.pop(branch, None)
    else:
        keys[branch] = key
    path, aside = folder / FILE_NAME, folder / f"{FILE_NAME}.new"
    aside.unlink(missing_ok=True)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({name: asdict(one) for name, one in keys.items()}, file)
    aside.replace(path)
