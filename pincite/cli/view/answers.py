"""Judged answers in a terminal: shares by kind and language, lengths, confidence, and the answers that are not right."""

from collections.abc import Mapping, Sequence

from pincite.cli.output import one_line
from pincite.cli.view.screen import Screen, make_table, shorten, styled
from pincite.core.evaluations import AnswerQuestion, AnswerResult, Interval
from pincite.evaluate.answers import AnswerComparison
from pincite.evaluate.measure.answer_shares import VERDICTS, AnswerGroup, AnswerSummary
from pincite.text.units import count

MAX_LISTED_ANSWERS = 20
"""Answers listed that are not right."""
MAX_NAME_COLUMNS = 24
"""Columns of the name of a kind."""
VERDICT_ORDER = {"wrong": 0, "wrongly refused": 1, "partly": 2, "right": 3}
"""The worst verdict first."""
GROUP_LABELS = {"all": "all questions", "kind": "no kind", "language": "no language"}


def print_answer_comparison(screen: Screen, value: AnswerComparison) -> None:
    """Print the shares of each configuration, and the difference of the others from the first."""
    comparison = value.comparison
    screen.print_line(
        (comparison.name, "bold"),
        (f"  {count(comparison.documents, 'document')}, {count(comparison.questions, 'question')}", "dim"),
    )
    first = comparison.trials[0]
    for trial, summary, answers in zip(comparison.trials, value.summaries, value.answers, strict=True):
        screen.print_line()
        screen.print_line((trial.name, "bold"), (f"  p50 {trial.p50_ms:.0f} ms, p95 {trial.p95_ms:.0f} ms", "dim"))
        if trial is not first:
            change = trial.against(first, "right")
            screen.print_line(f"right: {format_points(change)} points  ", (change.verdict, "bold"))
        print_summary(screen, summary)
        for note in trial.notes:
            screen.print_wrapped(styled(note, "yellow"))
        if len(comparison.trials) == 1:
            print_answers(
                screen,
                [one.question for one in answers],
                {one.question.id: one.result for one in answers},
            )


def print_summary(screen: Screen, summary: AnswerSummary) -> None:
    """Print a row for all questions and for each kind and language, then lengths and confidence."""
    table = make_table("", ">questions", ">right", "95 % interval", *(f">{verdict}" for verdict in VERDICTS[1:]))
    before = "all"
    for group in summary.groups:
        if group.by != before:
            table.add_row()
        before = group.by
        table.add_row(*_row(group))
    screen.print_table(table, drop_first=("95 % interval",))
    screen.print_line((f"answers: {summary.median_words} words (median), 90 % have at most {summary.p90_words}", "dim"))
    for one in summary.confidence:
        screen.print_line(
            (f"confidence {one.level}: {count(one.questions, 'answer')}, {format_share(one.right)} right", "dim")
        )


def print_answers(screen: Screen, questions: Sequence[AnswerQuestion], results: Mapping[str, AnswerResult]) -> None:
    """Print the questions whose answers are not right, the worst first."""
    missed = [one for one in questions if one.id in results and results[one.id].verdict != "right"]
    missed.sort(key=lambda one: VERDICT_ORDER[results[one.id].verdict])
    screen.print_line()
    if not missed:
        screen.print_line("Every answer is right.")
        return
    screen.print_line(f"{count(len(missed), 'answer')} not right; the worst:")
    table = make_table("verdict", "reason", "question")
    room = max(20, screen.columns - 15 - 2 - 46)
    for one in missed[:MAX_LISTED_ANSWERS]:
        result = results[one.id]
        text = one_line(one.text)
        table.add_row(
            result.verdict, styled(result.reason, "dim"), text if len(text) <= room else f"{text[: room - 1]}…"
        )
    screen.print_table(table, drop_first=("reason",))


def format_share(share: Interval) -> str:
    """A share in percent with its interval: `62.5 % [50, 74]`."""
    return f"{100 * share.value:.1f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]"


def format_points(difference: Interval) -> str:
    """A difference of shares in percentage points, with its interval."""
    return f"{100 * difference.value:+.1f} [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"


def _row(group: AnswerGroup) -> list[str]:
    right = group.shares["right"]
    return [
        shorten(group.name or GROUP_LABELS[group.by], MAX_NAME_COLUMNS),
        f"{group.questions:,}",
        f"{100 * right.value:.1f} %",
        f"[{100 * right.low:.0f}, {100 * right.high:.0f}]",
        *(f"{100 * group.shares[verdict].value:.1f} %" for verdict in VERDICTS[1:]),
    ]
