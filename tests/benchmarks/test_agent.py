import json
from pathlib import Path

import pytest

from benchmarks import agent
from pincite.core.query.answer import Citation
from tests.builders import answer, source

DOCUMENTS = {
    "mill": ("Brook Mill", "Brook Mill was built by Ada Bright in 1902. It has four floors."),
    "ada": ("Ada Bright", "Ada Bright was born in Karlsruhe and died in Basel."),
    "tea": ("Tea", "Tea is grown in Assam."),
}


def write_set(folder: Path) -> None:
    folder.mkdir()
    rows = [{"_id": key, "title": title, "text": text} for key, (title, text) in DOCUMENTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.jsonl").write_text(
        json.dumps({"_id": "q1", "text": "Where was the builder of Brook Mill born?"})
    )
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tmill\t1\nq1\tada\t1\n")


@pytest.mark.slow
def test_every_way_is_a_line_and_nothing_goes_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_set(tmp_path / "small")
    monkeypatch.setenv("PINCITE_EMBEDDING__PROVIDER", "scripted")
    monkeypatch.setattr("sys.argv", ["agent", "--data", str(tmp_path), "--set", "small"])
    with pytest.raises(SystemExit, match="0"):
        agent.main()
    lines = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [line[0].removeprefix("| ") for line in lines] == [
        "chat", "agent by rules", "agent, the stub calls tools", "agent, the stub in plain text"
    ]  # fmt: skip
    assert [line[4] == "0.0" for line in lines] == [True, False, False, False]


def test_a_citation_that_resolves_to_nothing_is_told() -> None:
    import asyncio
    from dataclasses import replace
    from types import SimpleNamespace
    from typing import Any

    class Library:
        settings = SimpleNamespace(agent=SimpleNamespace(max_iterations=10))

        @property
        def documents(self) -> Any:
            return self

        async def read(self, reading: Any) -> Any:
            return SimpleNamespace(content="Tea is grown in Assam.")

    made = answer("So [Source 1] [Source 9].", (source(1, "d", "Tea is grown"),))
    lost = Citation("[Source 9]", 0, 0, False, None, None, "", None, None, None, None, None, 0.0)
    cited = replace(made.citations[0], quote="Tea is", quote_start_char=0, quote_end_char=6)
    said = asyncio.run(agent.wrongs(Library(), replace(made, citations=(cited, lost))))  # type: ignore[arg-type]
    assert said == ["[Source 9] resolves to nothing"]
    moved = replace(cited, quote_start_char=1)
    assert asyncio.run(agent.wrongs(Library(), replace(made, citations=(moved,)))) == ["[Source 1] is no quotation"]  # type: ignore[arg-type]
