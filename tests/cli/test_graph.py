"""The commands of the knowledge graph."""

from pathlib import Path

from .terminal import Call

FILM = "# Tidal Song\n\nTidal Song was directed by Mira Okafor. It was shown in Lisbon.\n"
PERSON = "# Mira Okafor\n\nMira Okafor was born in Lagos.\n"


def test_the_graph_is_built_and_read_from_the_command_line(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "film.md").write_text(FILM)
    (tmp_path / "person.md").write_text(PERSON)
    pincite("add", str(tmp_path / "film.md"), str(tmp_path / "person.md"))
    assert "graph.build is off" in pincite("reindex", "--graph").failed_with(2)
    pincite("settings", "set", "graph.build", "rules")
    assert pincite("reindex", "--graph").out == "graph: 2 documents built, 0 incomplete\n"
    assert pincite("reindex", "--graph", "--json").json == {"built": {"graph": 0}, "failed": {"graph": 0}}
    found = pincite("graph", "find", "okafor", "--json").json["items"]
    assert [one["name"] for one in found] == ["Mira Okafor"]
    shown = pincite("graph", "show", "Mira Okafor").out
    assert "Tidal Song — was directed by — Mira Okafor" in shown
    assert "Tidal Song, line 3" in shown
    assert "Mira Okafor — was born in — Lagos" in pincite("graph", "path", "Tidal Song", "Lagos").out
    assert "there is no entity" in pincite("graph", "show", "Nobody").failed_with(1)
    assert "no entity has this name" in pincite("graph", "find", "Nobody").out
