"""Reports as Markdown and JSON."""

import json
from pathlib import Path

import pytest

from pincite.errors import Invalid
from pincite.evaluate.report import check_report, comparison_json, write_report

from .makers import comparison


def test_a_page_has_means_differences_verdicts_and_its_plot(tmp_path: Path) -> None:
    page, picture = write_report(tmp_path / "r.md", comparison())
    text = page.read_text(encoding="utf-8")
    assert picture.name in text
    assert "3 documents, 100 questions" in text
    lines = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| ")}
    assert lines["rag.alpha=.3"].endswith("better |")  # the later table: against the first
    assert lines["profile=vexora"].endswith("within noise |")
    assert "+0.0500 [+0.050, +0.050]" in lines["rag.alpha=.3"]
    assert "rag.alpha=.3: a <note> & more" in text


def test_figures_are_the_same_as_json(tmp_path: Path) -> None:
    [path] = write_report(tmp_path / "r.json", comparison())
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told == comparison_json(comparison())
    first, better, chance = told["trials"]
    assert "against" not in first
    assert first["measures"]["nDCG@10"]["low"] < first["measures"]["nDCG@10"]["value"]
    assert better["against"]["name"] == "as it is"
    assert better["against"]["measures"]["nDCG@10"] == {"value": 0.05, "low": 0.05, "high": 0.05, "verdict": "better"}
    assert chance["against"]["measures"]["recall@10"]["verdict"] == "within noise"
    assert (first["p50_ms"], first["p95_ms"]) == (13.0, 16.0)


def test_a_place_that_takes_no_report_is_refused_beforehand(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"\.md or \.json"):
        check_report(tmp_path / "r.txt")
    with pytest.raises(Invalid, match="no folder"):
        check_report(tmp_path / "none" / "r.md")
    (tmp_path / "r.md").mkdir()
    with pytest.raises(Invalid, match="cannot write"):
        write_report(tmp_path / "r.md", comparison())
