"""Evaluations in a terminal: measures with intervals, differences between runs, and missed questions."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.answers import print_answers, print_summary
from pincite.cli.view.screen import Screen, join_text, make_table, shorten, styled
from pincite.cli.view.settings import format_value
from pincite.core.evaluations import Evaluation, EvaluationSet, Interval, SetQuestion
from pincite.evaluate.compare import Comparison, Trial
from pincite.evaluate.measure.answer_shares import summarise
from pincite.evaluate.questions.own_documents import compare_runs
from pincite.text.units import count

MADE_BY_LABELS = {
    "words": "made by rules",
    "model": "made by the model",
    "hand": "made by hand",
    "import": "imported",
}
VERDICT_STYLES = {"better": "green", "worse": "red", "within noise": "dim"}
MIN_NAME_COLUMNS = 8
"""Minimum columns for the name of a configuration."""
MAX_LISTED_QUESTIONS = 20
"""Maximum number of missed questions to list."""
BAR_COLUMNS = 20
"""Columns of the bar of a measure."""


def print_comparison(screen: Screen, comparison: Comparison) -> None:
    """Print the measures of each configuration and its difference from the first."""
    screen.print_line(
        (comparison.name, "bold"),
        (f"  {count(comparison.documents, 'document')}, {count(comparison.questions, 'question')}", "dim"),
    )
    rows = [
        (trial.name, [trial.mean(name).value for name in comparison.measures], (trial.p50_ms, trial.p95_ms))
        for trial in comparison.trials
    ]
    _print_figures(screen, comparison.measures, rows)
    _print_intervals(screen, comparison)
    for trial in comparison.trials:
        for note in trial.notes:
            screen.print_wrapped(styled(f"{trial.name}: {note}", "yellow"))


def _print_figures(
    screen: Screen, measures: Sequence[str], rows: Sequence[tuple[str, Sequence[float], tuple[float, float]]]
) -> None:
    """Print a row per configuration; names are shortened on a narrow screen."""
    heads = [name.replace("recall@", "R@") for name in measures]
    table = make_table("", *(f">{head}" for head in heads), ">p50 ms", ">p95 ms")
    taken = sum(max(6, len(head)) + 2 for head in (*heads, "p50 ms", "p95 ms"))
    for name, figures, times in rows:
        shown_name = shorten(name, max(MIN_NAME_COLUMNS, screen.columns - taken - 2))
        table.add_row(shown_name, *(f"{one:.4f}" for one in figures), *(f"{one:.1f}" for one in times))
    screen.print_table(table)


def _print_intervals(screen: Screen, comparison: Comparison) -> None:
    main, first = comparison.measures[0], comparison.trials[0]
    mean = first.mean(main)
    screen.print_line()
    screen.print_line(
        f"{main} of {first.name}: {_format_interval(mean)}", (", 95 % interval from resampled questions", "dim")
    )
    for trial in comparison.trials[1:]:
        screen.print_line(_format_difference(trial, first, main))


def _format_difference(trial: Trial, first: Trial, main: str) -> Text:
    difference = trial.against(first, main)
    faster = trial.p50_ms - first.p50_ms
    line = join_text(f"{trial.name}: {_format_signed_interval(difference)} {main}, {faster:+.1f} ms  ")
    return line.append_text(_format_verdict(difference))


def print_runs(
    screen: Screen, chosen: EvaluationSet, runs: Sequence[tuple[str, Evaluation]], before: Evaluation | None
) -> None:
    """Print the measures of each run of the user's set, then the changes."""
    screen.print_line(
        (f"your set {chosen.version}", "bold"),
        (f"  {count(chosen.size, 'question')}, {MADE_BY_LABELS[chosen.made_by]}", "dim"),
    )
    done = [(name, one.outcome) for name, one in runs if one.outcome is not None]
    rows = [
        (name, [one.value for one in outcome.measures.values()], (outcome.p50_ms, outcome.p95_ms))
        for name, outcome in done
    ]
    _print_figures(screen, tuple(done[0][1].measures), rows)
    screen.print_line()
    first = runs[0][1]
    if done[0][1].answers:
        print_summary(screen, summarise(list(done[0][1].answers.values())))
        screen.print_line()
    if before is not None:
        _print_change(screen, "this change", before, first)
    for name, one in runs[1:]:
        _print_change(screen, name, first, one)
    for name, outcome in done:
        for note in outcome.notes:
            screen.print_wrapped(styled(f"{name}: {note}", "yellow"))
    missed = (
        "answers that are not right" if chosen.tests == "answers" else "questions not answered by the first passage"
    )
    screen.print_line((f"pincite eval show {runs[-1][1].id} lists the {missed}", "dim"))


def _print_change(screen: Screen, name: str, before: Evaluation, after: Evaluation) -> None:
    """Print `this change: +2.1 nDCG, −40 ms`, its verdict and the changed settings."""
    difference_of_runs = compare_runs(before, after)
    main, difference = next(iter(difference_of_runs.measures.items()))
    points = f"{100 * difference.value:+.1f} [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}] {main}"
    screen.print_line(
        join_text(f"{name}: {points}, {difference_of_runs.p50_ms:+.0f} ms  ").append_text(_format_verdict(difference))
    )
    keys = sorted({*before.settings, *after.settings})
    for key in keys:
        was, now = (one.settings.get(key) for one in (before, after))
        if was != now:
            screen.print_line("  ", key, "  ", (_format_setting(was), "dim"), " → ", (_format_setting(now), "bold"))


def print_evaluations(screen: Screen, sets: Sequence[EvaluationSet], runs: Sequence[Evaluation]) -> None:
    """Print the sets, then the runs, newest first."""
    if not sets:
        screen.print_line("There is no question set yet; make one with: pincite eval --auto")
        return
    table = make_table("set", ">version", ">questions", "tests", "by", "made")
    for one in sets:
        made_by, made = MADE_BY_LABELS[one.made_by], f"{one.created_at:%Y-%m-%d %H:%M}"
        table.add_row(one.id, str(one.version), f"{one.size:,}", one.tests, made_by, made)
    screen.print_table(table)
    screen.print_line()
    table = make_table("run", ">set", "state", "measure", ">value", ">p50 ms", "began", "settings")
    for run in runs:
        outcome = run.outcome
        name, main = next(iter(outcome.measures.items())) if outcome else ("–", None)
        changed = ", ".join(f"{key}={format_value(value)}" for key, value in run.settings.items())
        table.add_row(
            run.id,
            str(run.set_version or "–"),
            _format_state(run),
            name,
            f"{main.value:.4f}" if main else "–",
            f"{outcome.p50_ms:.1f}" if outcome else "–",
            f"{run.started_at:%Y-%m-%d %H:%M}",
            styled(shorten(changed or "default", 40), "dim"),
        )
    screen.print_table(table)


def print_evaluation(
    screen: Screen, evaluation: Evaluation, questions: EvaluationSet, titles: Mapping[str, str]
) -> None:
    """Print one run: its measures, and the worst-ranked questions."""
    state = _format_state(evaluation)
    screen.print_line((evaluation.id, "bold"), f"  set {evaluation.set_version}  ", state)
    for key, value in evaluation.settings.items():
        screen.print_line("  ", (key, "dim"), f"  {format_value(value)}")
    if evaluation.error:
        screen.print_wrapped(styled(evaluation.error, "red"))
    if evaluation.outcome is None:
        return
    outcome = evaluation.outcome
    for name, interval in outcome.measures.items():
        filled = round(BAR_COLUMNS * interval.value)
        screen.print_line(
            f"{name:<15} ",
            ("━" * filled, "cyan"),
            ("━" * (BAR_COLUMNS - filled), "dim"),
            f"  {_format_interval(interval)}",
        )
    screen.print_line((f"p50 {outcome.p50_ms:.1f} ms, p95 {outcome.p95_ms:.1f} ms", "dim"))
    for note in outcome.notes:
        screen.print_wrapped(styled(note, "yellow"))
    if outcome.answers:
        screen.print_line()
        print_summary(screen, summarise(list(outcome.answers.values())))
        print_answers(screen, questions.asked, outcome.answers)
        return
    missed = [one for one in questions.questions if outcome.ranks.get(one.id, 1) != 1]
    missed.sort(key=lambda one: -(outcome.ranks[one.id] or 10**6))
    _print_missed(screen, missed, outcome.ranks, titles)


def _print_missed(
    screen: Screen, missed: Sequence[SetQuestion], ranks: Mapping[int, int | None], titles: Mapping[str, str]
) -> None:
    screen.print_line()
    if not missed:
        screen.print_line("Every question was answered by the first passage.")
        return
    screen.print_line(f"{count(len(missed), 'question')} not answered by the first passage; the worst:")
    table = make_table(">rank", "kind", "question", "in")
    room = max(20, screen.columns - 4 - 10 - 20 - 6)
    for one in missed[:MAX_LISTED_QUESTIONS]:
        rank = ranks[one.id]
        title = titles.get(one.place.document_id, "a removed document")
        table.add_row(
            str(rank) if rank else "–",
            styled(one.kind, "dim"),
            _truncate(one_line(one.text), room),
            styled(shorten(one_line(title), 20), "dim"),
        )
    screen.print_table(table)


def _truncate(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _format_state(run: Evaluation) -> Text:
    styles = {"done": "green", "running": "cyan", "failed": "red", "interrupted": "yellow"}
    text = f"running {run.progress:.0%}" if run.state == "running" else run.state
    return styled(text, styles[run.state])


def _format_interval(interval: Interval) -> str:
    return f"{interval.value:.4f} [{interval.low:.3f}, {interval.high:.3f}]"


def _format_signed_interval(interval: Interval) -> str:
    return f"{interval.value:+.4f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def _format_verdict(difference: Interval) -> Text:
    return styled(difference.verdict, VERDICT_STYLES[difference.verdict])


def _format_setting(value: object) -> str:
    return "default" if value is None else format_value(value)
