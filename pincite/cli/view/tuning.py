"""A tuning in a terminal: what was tried, and the proposed change."""

from pincite.cli.view.answers import format_points
from pincite.cli.view.screen import Screen, make_table, shorten, styled
from pincite.cli.view.settings import format_value
from pincite.evaluate.tune import Tuning, TuningProposal

MAX_NAME_COLUMNS = 40
"""Columns of the name of a change."""
VERDICT_STYLES = {"better": "green", "worse": "red", "within noise": "dim"}


def print_tuning(screen: Screen, value: Tuning) -> None:
    """Print what was tried on the first half, the largest difference first, then the proposal."""
    screen.print_line(
        (f"your set {value.set_version}", "bold"),
        (f"  {value.tests}: {value.chosen_on} questions to choose, {value.confirmed_on} to confirm", "dim"),
    )
    screen.print_line(f"now: {100 * value.current.value:.1f} {value.measure}, {value.current_ms:.0f} ms per question")
    screen.print_line()
    table = make_table("change", ">points", "95 % interval", ">ms", "result")
    for one in sorted(value.tried, key=lambda tried: -tried.difference.value):
        points, _, interval = format_points(one.difference).partition(" ")
        verdict = one.difference.verdict
        table.add_row(
            shorten(one.name, MAX_NAME_COLUMNS),
            points,
            interval,
            f"{one.p50_ms:.0f}",
            styled(verdict, VERDICT_STYLES[verdict]),
        )
    screen.print_table(table, drop_first=("95 % interval",))
    for note in value.notes:
        screen.print_wrapped(styled(note, "yellow"))
    screen.print_line()
    if value.proposal is None:
        screen.print_line(f"No change is proposed: {value.reason}.")
    else:
        _print_proposal(screen, value.measure, value.proposal)


def _print_proposal(screen: Screen, measure: str, proposal: TuningProposal) -> None:
    screen.print_line(("Proposed change", "bold"))
    for key, after in proposal.after.items():
        before = format_value(proposal.before[key])
        screen.print_line("  ", key, "  ", (before, "dim"), " → ", (format_value(after), "bold"))
    screen.print_line(f"  first half:  {format_points(proposal.chosen)} points {measure}")
    screen.print_line(f"  second half: {format_points(proposal.confirmed)} points {measure}")
    screen.print_line(f"  time per question: {proposal.before_ms:.0f} → {proposal.after_ms:.0f} ms")
