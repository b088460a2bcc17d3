"""Chunkers by gold spans."""

import asyncio
import json
from pathlib import Path

import pytest

from pincite.config.settings import Settings
from pincite.core.evaluations import Place
from pincite.errors import Invalid, NotFound
from pincite.evaluate.measure.span_recall import Tokens, compare_spans, load_spans, overlap
from pincite.evaluate.variants import read_variants
from pincite.text.tokens import Tokenizer

TEXT = "# Boilers   \n\nThe copper boiler was repaired in 1931.  \nIt holds forty litres.\n"
ANSWER = "It holds forty litres."


def write_spans(folder: Path) -> Path:
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "boilers.md").write_text(TEXT, encoding="utf-8")
    (folder / "documents" / "cats.md").write_text("The cat is called Parallax.\n" * 40, encoding="utf-8")
    start = TEXT.index(ANSWER)
    reference = {"content": ANSWER, "start_index": start, "end_index": start + len(ANSWER)}
    row = {"_id": "c0", "text": "How much does the boiler hold?", "document": "boilers.md", "references": [reference]}
    (folder / "qa.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return folder


def test_offsets_move_with_the_white_space_that_normalising_takes(tmp_path: Path) -> None:
    found = load_spans(write_spans(tmp_path / "tiny"))
    [(_, [place])] = found.questions
    assert found.texts[place.document_id][place.start : place.end] == ANSWER


def test_recall_precision_and_iou_count_tokens_and_repeats_against_precision() -> None:
    text = "a b c d e f g h i j"  # a token each
    tokens = {"d": Tokens(text, Tokenizer()), "other": Tokens(text, Tokenizer())}
    wanted = [Place("d", 4, 11)]  # c d e f
    half = overlap(wanted, [Place("d", 0, 7)], tokens)  # a b c d
    assert half == {"token recall": 0.5, "precision": 0.5, "IoU": pytest.approx(2 / 6)}
    twice = overlap(wanted, [Place("d", 0, 7), Place("d", 0, 7)], tokens)
    assert twice == {"token recall": 0.5, "precision": 0.25, "IoU": pytest.approx(2 / 10)}
    assert overlap(wanted, wanted, tokens) == {"token recall": 1.0, "precision": 1.0, "IoU": 1.0}
    assert overlap(wanted, [Place("other", 4, 11)], tokens)["token recall"] == 0.0
    assert overlap(wanted, [], tokens) == {"token recall": 0.0, "precision": 0.0, "IoU": 0.0}


def test_what_is_missing_or_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="documents"):
        load_spans(tmp_path)
    folder = write_spans(tmp_path / "tiny")
    (folder / "qa.jsonl").write_text('{"text": "?", "document": "none.md", "references": []}\n', encoding="utf-8")
    with pytest.raises(Invalid, match=r"none\.md"):
        load_spans(folder)
    (folder / "qa.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(Invalid, match="no questions"):
        load_spans(folder)


@pytest.mark.slow
def test_the_chunker_is_compared_with_two_baselines(tmp_path: Path) -> None:
    spans = load_spans(write_spans(tmp_path / "tiny"))
    base = Settings.model_validate({"embedding": {"provider": "scripted"}, "ingest": {"workers": 1}})
    variants = read_variants([], base, {"chunking.size": 20, "chunking.overlap": 0})
    result = asyncio.run(compare_spans(spans, variants, keep=None, report=lambda _progress: None))
    windows, recursive, ours = result.trials
    assert (windows.name, recursive.name) == ("windows of 400 tokens", "recursive, 400 tokens")
    assert result.measures == ("token recall", "precision", "IoU")
    assert windows.scores["token recall"] == recursive.scores["token recall"] == (1.0,)
    assert ours.scores["token recall"] == (1.0,)
    assert ours.notes == ()
