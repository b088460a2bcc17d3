"""The commands diff, reindex and index, and as-of questions."""

from pathlib import Path

import pytest

from .terminal import Call

SAMPLE = Path(__file__).parents[2] / "examples" / "documents" / "station-handbook.md"


def write(path: Path, litres: str) -> Path:
    path.write_text(f"# Pump\n\nThe pump holds {litres} litres.\n", encoding="utf-8")
    return path


def test_versions_are_compared_asked_and_reindexed(pincite: Call, tmp_path: Path) -> None:
    file = tmp_path / "versions-pump.md"
    pincite("add", str(write(file, "ten")))
    pincite("add", str(write(file, "twenty")))
    [document] = [one for one in pincite("list", "--json").json["items"] if one["name"] == file.name]
    said = pincite("diff", document["id"])
    assert "-The pump holds ten litres." in said.out
    assert "+The pump holds twenty litres." in said.out
    assert "1 lines added, 1 removed" in said.out
    told = pincite("diff", document["id"], "--json").json
    assert (told["added"], told["removed"], told["to"]) == (1, 1, document["version"])
    found = pincite("search", "pump litres", "--as-of", told["from"][:4] + "-01-01", "--json").json["results"]
    assert not [one for one in found if one["metadata"]["document_id"] == document["id"]]
    assert "--as-of should be a time such as" in pincite("ask", "pump?", "--as-of", "soon").failed_with(2)
    assert pincite("reindex", document["id"], "--json").json["documents"] == 1
    assert pincite("list", "--stale", "--json").json["items"] == []


def test_an_index_with_other_chunking_is_built_switched_and_rolled_back(pincite: Call, tmp_path: Path) -> None:
    pincite("add", str(write(tmp_path / "cut-pump.md", "ten")))
    assert "serving" in pincite("index", "status").out
    pincite("settings", "set", "chunking.size=77")
    try:
        assert "require a new index" in pincite("index", "status").out
        assert pincite("list", "--stale", "--json").json["items"]
        assert "reindexed" in pincite("reindex").out
        states = [one["state"] for one in pincite("index", "status", "--json").json["items"]]
        assert sorted(states) == ["serving", "standby"]
        assert pincite("list", "--stale", "--json").json["items"] == []
        assert pincite("index", "rollback", "--json").json == {"switched": True}
    finally:
        pincite("settings", "undo")
    assert pincite("index", "discard", "--json").json == {"discarded": 1}
    assert pincite("list", "--stale", "--json").json["items"] == []


def test_a_file_added_after_a_change_of_chunking_is_cut_by_it(pincite: Call, tmp_path: Path) -> None:
    text = "".join(f"{n:04d} beans.\n" for n in range(100))  # 1,200 characters

    def chunks(name: str) -> tuple[int, bool]:
        [one] = [one for one in pincite("list", "--json").json["items"] if one["name"] == name]
        return one["chunks"], one["stale"]

    first, second = tmp_path / "cut-first.txt", tmp_path / "cut-second.txt"
    first.write_text(text, encoding="utf-8")
    second.write_text(text.replace("beans", "peas!"), encoding="utf-8")
    pincite("add", str(first))
    assert chunks(first.name) == (1, False)  # 500 tokens
    said = pincite(
        "settings", "set", "chunking.strategy=window", "chunking.window_chars=310", "chunking.window_overlap_chars=0"
    ).out
    try:
        assert "applies to documents indexed from now on" in " ".join(said.split())
        assert chunks(first.name) == (1, True)
        pincite("add", str(second))
        assert chunks(second.name) == (4, False)  # 25 lines of 12 characters each
        assert "1 indexed again" in pincite("add", str(first)).out
        assert chunks(first.name) == (4, False)
    finally:
        pincite("settings", "undo")
    pincite("remove", *[one["id"] for one in pincite("list", "--json").json["items"] if "cut-" in one["name"]])


def test_an_index_is_built_held_compared_and_then_switched_to(
    pincite: Call, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_DATABASE_URL", database_url)
    monkeypatch.setenv("PINCITE_DATA", str(tmp_path / "data"))
    pincite("add", str(SAMPLE))
    assert "make one with: pincite eval --auto" in pincite("index", "compare").failed_with(1)
    assert pincite("eval", "--auto", "--questions", "10").code == 0
    assert "no second index to compare with" in pincite("index", "compare").failed_with(1)
    pincite("settings", "set", "chunking.size=77")
    assert "the new index is not active yet" in pincite("reindex", "--hold").out
    told = pincite("index", "compare", "--json").json
    assert [trial["name"] for trial in told["trials"]] == ["searched", "built"]
    assert told["trials"][1]["against"]["measures"]["nDCG@10"]["verdict"] in ("better", "worse", "within noise")
    assert "built:" in pincite("index", "compare").out
    assert pincite("index", "switch", "--json").json == {"switched": True}
