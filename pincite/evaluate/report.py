"""Write the results of an evaluation as Markdown or JSON."""

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
    """Check that the report can be written, before the evaluation starts."""
    if path.suffix not in (".md", ".json"):
        raise Invalid(f"the report must be a .md or .json file (was '{path.name}')")
    if not path.parent.is_dir():
        raise Invalid(f"there is no folder {path.parent} for the report; create it first")


def write_report(path: Path, comparison: Comparison) -> list[Path]:
    """Write a page with its plot (.md) or the values (.json); returns the written files."""
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
    """Convert a comparison to JSON, with rounded values."""
    return {
        "set": comparison.name,
        "documents": comparison.documents,
        "questions": comparison.questions,
        "trials": [_trial(trial, comparison) for trial in comparison.trials],
    }


def interval_json(interval: Interval) -> Json:
    """Convert an interval to JSON."""
    return {"value": round(interval.value, 4), "low": round(interval.low, 4), "high": round(interval.high, 4)}


def _trial(trial: Trial, comparison: Comparison) -> Json:
    first = comparison.trials[0]
    result: Json = {
        "name": trial.name,
        "measures": {name: interval_json(trial.mean(name)) for name in comparison.measures},
        "p50_ms": round(trial.p50_ms, 2),
        "p95_ms": round(trial.p95_ms, 2),
        "notes": list(trial.notes),
    }
    if trial is not first:
        result["against"] = {"name": first.name, "measures": _differences(trial, comparison)}
    return result


def _differences(trial: Trial, comparison: Comparison) -> Mapping[str, Json]:
    found = {name: trial.against(comparison.trials[0], name) for name in comparison.measures}
    return {name: interval_json(one) | {"verdict": one.verdict} for name, one in found.items()}


def markdown(comparison: Comparison, picture: str) -> str:
    """Return the report page: the plot, a table of means, a table of differences to the first, and notes."""
    lines = [
        f"# {comparison.name}",
        "",
        f"{comparison.documents:,} documents, {comparison.questions:,} questions. In brackets: 95 % intervals from "
        "resampled questions.",
        "",
        f"![{comparison.measures[0]} by configuration]({picture})",
        "",
        *_table(("configuration", *comparison.measures, "p50 ms", "p95 ms"), _mean_rows(comparison)),
    ]
    if len(comparison.trials) > 1:
        columns = (f"against {comparison.trials[0].name}", *comparison.measures, f"by {comparison.measures[0]}")
        lines += ["", *_table(columns, _difference_rows(comparison))]
    for trial in comparison.trials:
        lines += [f"\n- {trial.name}: {note}" for note in trial.notes]
    return "\n".join(lines) + "\n"


def _mean_rows(comparison: Comparison) -> list[list[str]]:
    return [
        [
            trial.name,
            *(_format_interval(trial.mean(name)) for name in comparison.measures),
            *map(_format_ms, (trial.p50_ms, trial.p95_ms)),
        ]
        for trial in comparison.trials
    ]


def _difference_rows(comparison: Comparison) -> list[list[str]]:
    first, *others = comparison.trials
    return [
        [
            trial.name,
            *(_format_interval(trial.against(first, name), sign="+") for name in comparison.measures),
            trial.against(first, comparison.measures[0]).verdict,
        ]
        for trial in others
    ]


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> list[str]:
    cells = [list(columns), ["---"] * len(columns), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]


def _format_interval(interval: Interval, sign: str = "") -> str:
    return f"{interval.value:{sign}.4f} [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"


def _format_ms(value: float) -> str:
    return f"{value:.1f}"
