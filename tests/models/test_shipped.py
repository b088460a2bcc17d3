"""Shipped models: each file is there, and a wrong file is refused."""

from pathlib import Path

import pytest

from pincite.errors import SettingsError
from pincite.models import shipped

MODELS = shipped.shipped_models()
NOTICE = shipped.FOLDER / "NOTICE"
MAX_FILE_BYTES, MAX_TOTAL_BYTES = 50_000_000, 80_000_000


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_its_files_have_their_checksums(model: shipped.ShippedModel) -> None:
    for name in model.checksums:
        assert model.file(name).stat().st_size < MAX_FILE_BYTES
    assert {path.name for path in model.folder.iterdir()} == set(model.checksums)


def test_all_together_are_small_enough_for_a_package() -> None:
    assert 0 < sum(model.size for model in MODELS) < MAX_TOTAL_BYTES


def test_every_model_is_in_the_notice_with_its_licence() -> None:
    notice = NOTICE.read_text(encoding="utf-8")
    assert [model.name for model in MODELS if model.name not in notice] == []


def test_a_wrong_or_missing_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    model = MODELS[0]
    with pytest.raises(SettingsError, match=r"cannot read .*install pincite again"):
        model.file("tokenizer.json")
    assert model.size == 0
    model.folder.mkdir()
    (model.folder / "tokenizer.json").write_text("{}")
    with pytest.raises(SettingsError, match=f"is not the file of {model.name} .* its sha256 is 44136fa3"):
        model.file("tokenizer.json")
