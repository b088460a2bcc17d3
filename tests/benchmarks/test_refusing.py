"""Weights of refusal and of sentences are fitted on one half and measured on the other."""

from pathlib import Path

import pytest

from benchmarks._observed import Seen, SeenSentence, read_seen
from benchmarks.refusing import (
    best_limit,
    fit_refusal,
    fit_sentences,
    is_right,
    outcomes,
    probability,
    refusal_features,
    report,
)
from pincite.extractive.score import WEIGHTS


def sentence(own: float, *, gold: bool, read: float = 0.0, relevance: float = 0.5) -> SeenSentence:
    features = {**dict.fromkeys(WEIGHTS, 0.0), "own": own, "language": 1.0}
    names = ("near", "names", "german", "fit")
    refusal = {**dict.fromkeys(names, 0.0), "meaning": own, "read": read, "relevance": relevance}
    return SeenSentence(features, refusal, gold, False)


def case(name: str, half: int, *, answerable: bool, strength: float) -> Seen:
    best = sentence(strength, gold=answerable, read=strength, relevance=strength)
    other = sentence(strength / 2, gold=False, read=-1.0)
    return Seen(name, "When?", "en", "value", answerable, half, (other, best))


@pytest.fixture
def cases() -> list[Seen]:
    return [
        case(name, half, answerable=answerable, strength=(0.9 if answerable else 0.2) + n / 20)
        for name in ("XQuAD en", "records de")
        for half in (0, 1)
        for answerable in (True, False)
        for n in range(4)
    ]


def test_the_best_sentence_gives_the_features_of_a_refusal(cases: list[Seen]) -> None:
    found = refusal_features(cases[0])
    assert is_right(cases[0])
    assert found["fit"] == pytest.approx(WEIGHTS["own"] * 0.9 + WEIGHTS["language"])
    assert (found["read"], found["relevance"]) == (0.9, 0.9)


def test_fitted_weights_tell_answers_from_refusals(cases: list[Seen]) -> None:
    fitted = fit_refusal([one for one in cases if not one.half], ["meaning", "read"])
    assert fitted["meaning"] + fitted["read"] > 0
    other = [one for one in cases if one.half]
    limit = best_limit(other, fitted, cost=1.0)
    assert outcomes(other, fitted, limit) == {"right": 1.0, "wrong": 0.0, "refused": 0.0, "rightly refused": 1.0}
    assert probability(other[0], fitted) > probability(other[-1], fitted)


def test_weights_of_sentences_start_from_those_in_use(cases: list[Seen]) -> None:
    fitted = fit_sentences([one for one in cases if one.answerable])
    assert fitted["own"] > WEIGHTS["own"]
    assert fitted["defines"] == WEIGHTS["defines"]


def test_the_report_has_both_halves_and_the_sets(cases: list[Seen]) -> None:
    lines = report(cases, 1.0)
    assert any(line.startswith("| own |") for line in lines)
    assert any(line.startswith("| records de | 8 | fitted |") for line in lines)


def test_what_was_taken_down_is_read_back(cases: list[Seen], tmp_path: Path) -> None:
    file = tmp_path / "seen.jsonl"
    file.write_text("".join(one.to_json() + "\n" for one in cases), encoding="utf-8")
    assert read_seen(file) == cases
