"""Question sets in BEIR layout."""

from pathlib import Path

import pytest

from pincite.errors import Invalid, NotFound
from pincite.evaluate.questions.datasets import load_set
from tests.evaluate.makers import CORPUS, QRELS, QUERIES, write_set


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("split", ["", "train"])
def test_a_set_is_read_plain_and_packed_whole_and_by_split(tmp_path: Path, packed: bool, split: str) -> None:
    found = load_set(write_set(tmp_path / "tiny", packed=packed, split=split), split)
    assert found.name == ("tiny.train" if split else "tiny")
    assert (found.corpus, found.queries, found.qrels) == (CORPUS, QUERIES, QRELS)


def test_beirs_own_folder_of_judgements_is_read(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")
    assert load_set(folder).qrels == QRELS


def test_judgements_need_no_line_that_names_the_columns(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    path = folder / "qrels.tsv"
    path.write_text("\n".join(path.read_text().splitlines()[1:]), encoding="utf-8")
    assert load_set(folder).qrels == QRELS


def test_questions_without_anything_relevant_are_not_asked(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    (folder / "qrels.tsv").write_text("q1\tcat\t0\nq3\ttank\t1\n", encoding="utf-8")
    assert list(load_set(folder).queries) == ["q3"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("corpus.jsonl", "{nonsense", "line 1 of .*corpus.jsonl is not JSON"),
        ("corpus.jsonl", "[1]\n", "not a JSON object"),
        ("corpus.jsonl", '{"_id": "a"}\n', "no text in 'text'"),
        ("queries.jsonl", "", "0 judged questions"),
        ("qrels.tsv", "q1\tcat\t1\nq1 cat 1\n", "line 2 of .*qrels.tsv"),
        ("qrels.tsv", "q1\tcat\t1\nq1\tcat\thigh\n", "an integer"),
    ],
)
def test_a_broken_set_is_told_with_its_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    folder = write_set(tmp_path / "tiny")
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(Invalid, match=told):
        load_set(folder)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder"):
        load_set(tmp_path / "none")
    with pytest.raises(NotFound, match=r"no qrels\.tsv"):
        load_set(tmp_path)
    with pytest.raises(NotFound, match=r"no qrels\.dev\.tsv"):
        load_set(write_set(tmp_path / "tiny"), "dev")


def test_another_corpus_has_another_fingerprint(tmp_path: Path) -> None:
    one = load_set(write_set(tmp_path / "one"))
    packed = load_set(write_set(tmp_path / "two", packed=True))
    assert one.fingerprint() == packed.fingerprint()
    (tmp_path / "one" / "corpus.jsonl").write_text('{"_id": "cat", "text": "Another."}\n', encoding="utf-8")
    assert load_set(tmp_path / "one").fingerprint() != packed.fingerprint()
