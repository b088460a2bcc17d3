"""Question sets with expected answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from pincite.core.evaluations import AnswerQuestion
from pincite.errors import Invalid, NotFound
from pincite.evaluate.questions.answer_sets import is_answer_set, load_answer_set, load_questions, parse_questions

ROW: dict[str, Any] = {"id": "a1", "q": " When  is it? ", "gold": [["six", 6]], "sources": ["a.md"], "note": "x"}


def test_a_question_is_read_with_its_defaults() -> None:
    [question] = parse_questions([ROW])
    assert question == AnswerQuestion("a1", "When is it?", gold=(("six", "6"),), sources=("a.md",))
    full = ROW | {
        "kind": "when", "lang": "en", "expect": "conflict", "forbidden": ["ten"], "sources": ["a.md", "b.md"],
        "all_sources": True, "turns": ["Who?"],
    }  # fmt: skip
    [question] = parse_questions([full])
    assert (question.kind, question.language, question.expect, question.turns) == ("when", "en", "conflict", ("Who?",))
    assert question.all_sources
    [refusal] = parse_questions([{"q": "What colour?", "expect": "refuse"}])
    assert (refusal.id, refusal.gold) == ("1", ())


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"golds": []}, "no field 'golds'.*did you mean 'gold'"),
        ({"q": " "}, "'q' is empty"),
        ({"q": None}, "'q' must be a text"),
        ({"q": "x" * 3000}, "too long"),
        ({"q": "\0"}, "cannot be stored"),
        ({"expect": "guess"}, "'expect' must be one of answer, refuse, conflict"),
        ({"gold": []}, "'gold' is missing"),
        ({"gold": [[]]}, "a group of 'gold' is empty"),
        ({"gold": "six"}, "'gold' must be a list of groups"),
        ({"gold": ["six"]}, "'gold' must be a list"),
        ({"sources": "a.md"}, "'sources' must be a list"),
        ({"expect": "conflict"}, "two 'sources'"),
    ],
)
def test_a_wrong_question_is_refused_by_its_number(row: dict[str, Any], told: str) -> None:
    with pytest.raises(Invalid, match=told) as raised:
        parse_questions([ROW | {"id": "first"}, ROW | row])
    assert "question 2" in str(raised.value)


def test_ids_are_unique_and_a_set_is_not_empty() -> None:
    with pytest.raises(Invalid, match="two questions have the id 'a1'"):
        parse_questions([ROW, ROW])
    with pytest.raises(Invalid, match="no questions"):
        parse_questions([])


def test_a_folder_has_questions_and_documents(tmp_path: Path) -> None:
    assert not is_answer_set(tmp_path)
    (tmp_path / "questions.jsonl").write_text(json.dumps(ROW) + "\n\n", encoding="utf-8")
    assert not is_answer_set(tmp_path)
    with pytest.raises(NotFound, match="no folder docs or documents"):
        load_answer_set(tmp_path)
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    with pytest.raises(Invalid, match="no file"):
        load_answer_set(tmp_path)
    (tmp_path / "docs" / "sub" / "a.md").write_text("At six.", encoding="utf-8")
    assert is_answer_set(tmp_path)
    found = load_answer_set(tmp_path)
    assert (list(found.files), len(found.questions)) == (["sub/a.md"], 1)
    with pytest.raises(NotFound, match="no file"):
        load_questions(tmp_path / "none.jsonl")
    (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(Invalid, match=r"line 1 of .* is not JSON"):
        load_questions(tmp_path / "bad.jsonl")
