"""Evaluations in a terminal: figures with their intervals, what a change is worth, and what was not found."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.screen import Screen, grid, joined, shorten, styled
from pincite.cli.view.settings import shown
from pincite.core.evaluations import Evaluation, EvaluationSet, Interval, SetQuestion
from pincite.evaluate.compare import Comparison, Trial
from pincite.evaluate.questions.own_documents import compare_runs
from pincite.text.counts import count

STYLES = {"better": "green", "worse": "red", "within noise": "dim"}
NARROWEST = 8
"""Columns a configuration's name gets at least."""
WORST = 20
"""Questions that were not answered by the first passage, shown at most."""
BAR = 20


def print_comparison(screen: Screen, comparison: Comparison) -> None:
    """Print what each configuration reached, and what it is worth against the first."""
    screen.say(
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
            screen.flowing(styled(f"{trial.name}: {note}", "yellow"))


def _print_figures(
    screen: Screen, measures: Sequence[str], rows: Sequence[tuple[str, Sequence[float], tuple[float, float]]]
) -> None:
    """A line for each configuration; names give way to figures where it is narrow."""
    heads = [name.replace("recall@", "R@") for name in measures]
    table = grid("", *(f">{head}" for head in heads), ">p50 ms", ">p95 ms")
    taken = sum(max(6, len(head)) + 2 for head in (*heads, "p50 ms", "p95 ms"))
    for name, figures, times in rows:
        shown_name = shorten(name, max(NARROWEST, screen.columns - taken - 2))
        table.add_row(shown_name, *(f"{one:.4f}" for one in figures), *(f"{one:.1f}" for one in times))
    screen.table(table)


def _print_intervals(screen: Screen, comparison: Comparison) -> None:
    main, first = comparison.measures[0], comparison.trials[0]
    mean = first.mean(main)
    screen.say()
    screen.say(f"{main} of {first.name}: {_shown(mean)}", (", 95 % interval from resampled questions", "dim"))
    for trial in comparison.trials[1:]:
        screen.say(_against(trial, first, main))


def _against(trial: Trial, first: Trial, main: str) -> Text:
    difference = trial.against(first, main)
    faster = trial.p50_ms - first.p50_ms
    told = joined(f"{trial.name}: {_signed(difference)} {main}, {faster:+.1f} ms  ")
    return told.append_text(_verdict(difference))


def print_runs(
    screen: Screen, chosen: EvaluationSet, runs: Sequence[tuple[str, Evaluation]], before: Evaluation | None
) -> None:
    """Print what each run of one's own set reached, then what changed."""
    screen.say(
        (f"your set {chosen.version}", "bold"), (f"  {count(chosen.size, 'question')} by {chosen.made_by}", "dim")
    )
    done = [(name, one.outcome) for name, one in runs if one.outcome is not None]
    rows = [
        (name, [one.value for one in outcome.measures.values()], (outcome.p50_ms, outcome.p95_ms))
        for name, outcome in done
    ]
    _print_figures(screen, tuple(done[0][1].measures), rows)
    screen.say()
    first = runs[0][1]
    if before is not None:
        _print_change(screen, "this change", before, first)
    for name, one in runs[1:]:
        _print_change(screen, name, first, one)
    for name, outcome in done:
        for note in outcome.notes:
            screen.flowing(styled(f"{name}: {note}", "yellow"))
    screen.say((f"pincite eval show {runs[-1][1].id} lists what was not found first", "dim"))


def _print_change(screen: Screen, name: str, before: Evaluation, after: Evaluation) -> None:
    """`this change: +2.1 nDCG, −40 ms`, and whether that is more than noise."""
    told = compare_runs(before, after)
    main, difference = next(iter(told.measures.items()))
    points = f"{100 * difference.value:+.1f} [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}] {main}"
    screen.say(joined(f"{name}: {points}, {told.p50_ms:+.0f} ms  ").append_text(_verdict(difference)))
    keys = sorted({*before.settings, *after.settings})
    for key in keys:
        was, now = (one.settings.get(key) for one in (before, after))
        if was != now:
            screen.say("  ", key, "  ", (_value(was), "dim"), " → ", (_value(now), "bold"))


def print_evaluations(screen: Screen, sets: Sequence[EvaluationSet], runs: Sequence[Evaluation]) -> None:
    """Print the sets, then the runs, newest first."""
    if not sets:
        screen.say("There is no question set yet; make one with: pincite eval --auto")
        return
    table = grid("set", ">version", ">questions", "by", "made")
    for one in sets:
        table.add_row(one.id, str(one.version), f"{one.size:,}", one.made_by, f"{one.created_at:%Y-%m-%d %H:%M}")
    screen.table(table)
    screen.say()
    table = grid("run", ">set", "state", ">nDCG@10", ">p50 ms", "began", "settings")
    for run in runs:
        outcome = run.outcome
        main = next(iter(outcome.measures.values())) if outcome else None
        changed = ", ".join(f"{key}={shown(value)}" for key, value in run.settings.items())
        table.add_row(
            run.id, str(run.set_version or '–'), _state(run), f"{main.value:.4f}" if main else "–",
            f"{outcome.p50_ms:.1f}" if outcome else "–", f"{run.started_at:%Y-%m-%d %H:%M}",
            styled(shorten(changed or "default", 40), "dim"),
        )  # fmt: skip
    screen.table(table)


def print_evaluation(
    screen: Screen, evaluation: Evaluation, questions: EvaluationSet, titles: Mapping[str, str]
) -> None:
    """Print one run: its figures, and the questions that went worst."""
    state = _state(evaluation)
    screen.say((evaluation.id, "bold"), f"  set {evaluation.set_version}  ", state)
    for key, value in evaluation.settings.items():
        screen.say("  ", (key, "dim"), f"  {shown(value)}")
    if evaluation.error:
        screen.flowing(styled(evaluation.error, "red"))
    if evaluation.outcome is None:
        return
    outcome = evaluation.outcome
    for name, interval in outcome.measures.items():
        filled = round(BAR * interval.value)
        screen.say(f"{name:<11}", ("━" * filled, "cyan"), ("━" * (BAR - filled), "dim"), f"  {_shown(interval)}")
    screen.say((f"p50 {outcome.p50_ms:.1f} ms, p95 {outcome.p95_ms:.1f} ms", "dim"))
    for note in outcome.notes:
        screen.flowing(styled(note, "yellow"))
    missed = [one for one in questions.questions if outcome.ranks.get(one.id, 1) != 1]
    missed.sort(key=lambda one: -(outcome.ranks[one.id] or 10**6))
    _print_missed(screen, missed, outcome.ranks, titles)


def _print_missed(
    screen: Screen, missed: Sequence[SetQuestion], ranks: Mapping[int, int | None], titles: Mapping[str, str]
) -> None:
    screen.say()
    if not missed:
        screen.say("Every question was answered by the first passage.")
        return
    screen.say(f"{count(len(missed), 'question')} not answered by the first passage; the worst:")
    table = grid(">rank", "kind", "question", "in")
    room = max(20, screen.columns - 4 - 10 - 20 - 6)
    for one in missed[:WORST]:
        rank = ranks[one.id]
        title = titles.get(one.place.document_id, "a document that is gone")
        table.add_row(
            str(rank) if rank else "–",
            styled(one.kind, "dim"),
            _begun(one_line(one.text), room),
            styled(shorten(one_line(title), 20), "dim"),
        )
    screen.table(table)


def _begun(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _state(run: Evaluation) -> Text:
    styles = {"done": "green", "running": "cyan", "failed": "red", "interrupted": "yellow"}
    told = f"running {run.progress:.0%}" if run.state == "running" else run.state
    return styled(told, styles[run.state])


def _shown(interval: Interval) -> str:
    return f"{interval.value:.4f} [{interval.low:.3f}, {interval.high:.3f}]"


def _signed(interval: Interval) -> str:
    return f"{interval.value:+.4f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def _verdict(difference: Interval) -> Text:
    return styled(difference.verdict, STYLES[difference.verdict])


def _value(value: object) -> str:
    return "default" if value is None else shown(value)
