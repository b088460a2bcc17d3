"""The commands of the knowledge graph."""

import re
from pathlib import Path

from .terminal import Call

FILM = "# Tidal Song\n\nTidal Song was directed by Mira Okafor. It was shown in Lisbon.\n"
PERSON = "# Mira Okafor\n\nMira Okafor was born in Lagos.\n"


def test_the_graph_is_built_and_read_from_the_command_line(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "film.md").write_text(FILM)
    (tmp_path / "person.md").write_text(PERSON)
    pincite("add", str(tmp_path / "film.md"), str(tmp_path / "person.md"))
    assert "graph.build is off" in pincite("reindex", "--graph").failed_with(2)
    build = ("reindex", "--graph", "--set", "graph.build=rules")  # the library is shared with other tests
    built = re.fullmatch(r"graph: (\d+) documents built, 0 incomplete\n", pincite(*build).out)
    assert built is not None
    assert int(built[1]) >= 2
    assert pincite(*build, "--json").json == {"built": {"graph": 0}, "failed": {"graph": 0}}
    found = pincite("graph", "find", "okafor", "--json").json["items"]
    assert [one["name"] for one in found] == ["Mira Okafor"]
    shown = pincite("graph", "show", "Mira Okafor").out
    assert "Tidal Song — was directed by — Mira Okafor" in shown
    assert "Tidal Song, line 3" in shown
    assert "Mira Okafor — was born in — Lagos" in pincite("graph", "path", "Tidal Song", "Lagos").out
    assert "there is no entity" in pincite("graph", "show", "Nobody").failed_with(1)
    assert "no entity has this name" in pincite("graph", "find", "Nobody").out
