"""The commands for folders."""

from pathlib import Path

from .terminal import Call


def test_a_folder_is_set_moved_and_removed(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Cats purr.\n")
    assert pincite("add", tmp_path / "a.md", "--folder", "zoo/cats").code == 0
    assert pincite("folders", "set", "zoo", "--prompt", "Be kind.", "--label", "The zoo").out == "zoo: 1 document\n"
    line = next(line for line in pincite("folders", "list").out.splitlines() if line.startswith("zoo "))
    assert line.split(maxsplit=2) == ["zoo", "1", "The zoo  Be kind."]
    assert pincite("folders", "set", "zoo", "--label", "", "--json").json == {
        "path": "zoo",
        "system_prompt": "Be kind.",
        "category_label": None,
        "documents": 1,
        "access": None,
    }
    assert pincite("folders", "move", "zoo", "animals/zoo").out == "moved zoo to animals/zoo: 1 document\n"
    listed = {one["path"]: one for one in pincite("folders", "list", "--json").json["items"]}
    assert listed["animals/zoo"]["system_prompt"] == "Be kind."
    assert "contains documents" in pincite("folders", "remove", "animals").failed_with(1)
    assert pincite("folders", "remove", "animals", "--recursive").out == "removed animals with 1 document\n"
    assert "there is no folder 'animals'" in pincite("folders", "remove", "animals").failed_with(1)


def test_the_top_is_no_folder(pincite: Call) -> None:
    assert "name a folder" in pincite("folders", "set", "/").failed_with(2)
    assert "name two folders" in pincite("folders", "move", "a", "/").failed_with(2)
