"""`add --watch`: a folder is watched until Ctrl-C."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from pincite.cli.view.screen import Screen
from pincite.cli.view.watch import print_changes
from pincite.core.documents.document import Added, Failure, Receipt
from pincite.engine.connectors.folder_sync import Changes
from pincite.errors import Unsupported
from tests.cli.view.makers import document

from .terminal import Call, start


def test_a_folder_is_watched_until_ctrl_c(library_settings: dict[str, str], tmp_path: Path) -> None:
    box = tmp_path / "watched"
    box.mkdir()
    (box / "a.md").write_text("Cats purr.\n")
    (box / "b.md").write_text("Dogs bark.\n")
    with start("add", box, "--watch", "--json", **library_settings) as process:
        assert process.stdout is not None

        def told() -> Any:
            return json.loads(process.stdout.readline())  # type: ignore[union-attr]

        assert {one["path"]: one["outcome"] for one in told()["added"]} == {"a.md": "new", "b.md": "new"}
        (box / "a.md").rename(box / "c.md")
        (box / "b.md").unlink()
        changes = told()
        if not changes["removed"]:  # on a busy machine the watcher may look between the two changes
            changes["removed"] = told()["removed"]
        assert changes["moved"] == [{"path": "c.md", "from": "a.md"}]
        assert [one["path"] for one in changes["removed"]] == ["b.md"]
        assert changes["removed"][0]["receipt"]["verified"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_overlapping_folders_cannot_be_watched(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "in" / "box").mkdir(parents=True)
    (tmp_path / "box").mkdir()
    (tmp_path / "a.md").write_text("Cats purr.\n")
    assert "only a folder can be watched" in pincite("add", tmp_path / "a.md", "--watch").failed_with(2)
    assert "overlap" in pincite("add", tmp_path, tmp_path / "box", "--watch").failed_with(2)
    assert "have the same name" in pincite("add", tmp_path / "in" / "box", tmp_path / "box", "--watch").failed_with(2)
    assert "requires --watch" in pincite("add", tmp_path / "a.md", "--keep-removed").failed_with(2)


def test_each_changed_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    receipt = Receipt("id", 1, 12, 12, 40, 0, 0, 0, True, True)
    print_changes(
        Screen(),
        Changes(
            added={
                "new.md": Added(document(), "new"),
                "changed.md": Added(document(), "new_version"),
                "same.md": Added(document(), "unchanged"),
                "bad.md": Added(document(error=Failure("unreadable", "it is broken")), "new"),
            },
            moved={"there.md": "here.md"},
            removed={"gone.md": receipt},
            refused={"lying.pdf": Unsupported("no PDF\x1b[2J")},
            kept=("old.md",),
        ),
    )
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "added new.md",
        "updated changed.md",
        "failed bad.md: it is broken",
        "moved here.md → there.md",
        "removed gone.md (12 passages)",
        "failed lying.pdf: no PDF\\x1b[2J",
        "kept old.md, whose file was removed",
    ]
    print_changes(Screen(), Changes(added={"same.md": Added(document(), "unchanged")}))
    assert capsys.readouterr().out == "1 unchanged\n"
