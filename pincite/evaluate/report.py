"""What came of an evaluation as Markdown and as JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pincite.core.evaluations import Interval
from pincite.errors import Invalid
from pincite.evaluate.compare import Comparison, Trial
from pincite.evaluate.measure.plot import plot

Json = dict[str, Any]


def check_report(path: Path) -> None:
    """Refuse a place where no report can be written before anything is measured."""
    if path.suffix not in (".md", ".json"):
        raise Invalid(f"a report is a .md or a .json file; '{path.name}' is neither")
    if not path.parent.is_dir():
        raise Invalid(f"there is no folder {path.parent} to write the report to")


def write_report(path: Path, comparison: Comparison) -> list[Path]:
    """Write a page with its plot (.md) or the figures (.json); returns what was written."""
    check_report(path)
    picture = path.with_suffix(".svg")
    if path.suffix == ".json":
        files = {path: json.dumps(comparison_json(comparison), indent=2, ensure_ascii=False) + "\n"}
    else:
        files = {path: markdown(comparison, picture.name), picture: plot(comparison)}
    try:
        for place, text in files.items():
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(f"cannot write {error.filename}: {error.strerror}") from None
    return list(files)


def comparison_json(comparison: Comparison) -> Json:
    """A comparison with every figure rounded to what it is worth."""
    return {
        "set": comparison.name,
        "documents": comparison.documents,
        "questions": comparison.questions,
        "trials": [_trial(trial, comparison) for trial in comparison.trials],
    }


def interval_json(interval: Interval) -> Json:
    """A mean and its bounds."""
    return {"value": round(interval.value, 4), "low": round(interval.low, 4), "high": round(interval.high, 4)}


def _trial(trial: Trial, comparison: Comparison) -> Json:
    first = comparison.trials[0]
    told: Json = {
        "name": trial.name,
        "measures": {name: interval_json(trial.mean(name)) for name in comparison.measures},
        "p50_ms": round(trial.p50_ms, 2),
        "p95_ms": round(trial.p95_ms, 2),
        "notes": list(trial.notes),
    }
    if trial is not first:
        told["against"] = {"name": first.name, "measures": _differences(trial, comparison)}
    return told


def _differences(trial: Trial, comparison: Comparison) -> Mapping[str, Json]:
    found = {name: trial.against(comparison.trials[0], name) for name in comparison.measures}
    return {name: interval_json(one) | {"verdict": one.verdict} for name, one in found.items()}


def markdown(comparison: Comparison, picture: str) -> str:
    """The page: a table of means, one of differences from the first, the plot, and what was missing."""
    lines = [
        f"# {comparison.name}",
        "",
        f"{comparison.documents:,} documents, {comparison.questions:,} questions. In brackets: 95 % intervals from "
        "resampled questions.",
        "",
        f"![{comparison.measures[0]} by configuration]({picture})",
        "",
        *_table(("configuration", *comparison.measures, "p50 ms", "p95 ms"), _means(comparison)),
    ]
    if len(comparison.trials) > 1:
        columns = (f"against {comparison.trials[0].name}", *comparison.measures, f"by {comparison.measures[0]}")
        lines += ["", *_table(columns, _changes(comparison))]
    for trial in comparison.trials:
        lines += [f"\n- {trial.name}: {note}" for note in trial.notes]
    return "\n".join(lines) + "\n"


def _means(comparison: Comparison) -> list[list[str]]:
    return [
        [
            trial.name,
            *(_shown(trial.mean(name)) for name in comparison.measures),
            *map(_ms, (trial.p50_ms, trial.p95_ms)),
        ]
        for trial in comparison.trials
    ]


def _changes(comparison: Comparison) -> list[list[str]]:
    first, *others = comparison.trials
    return [
        [
            trial.name,
            *(_shown(trial.against(first, name), sign="+") for name in comparison.measures),
            trial.against(first, comparison.measures[0]).verdict,
        ]
        for trial in others
    ]


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> list[str]:
    cells = [list(columns), ["---"] * len(columns), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]


def _shown(interval: Interval, sign: str = "") -> str:
    return f"{interval.value:{sign}.4f} [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"


def _ms(value: float) -> str:
    return f"{value:.1f}"
