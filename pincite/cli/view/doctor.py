"""The findings of doctor in a terminal."""

from collections.abc import Sequence

from pincite.cli.view.screen import Screen, join_text, styled
from pincite.engine.diagnose import Finding
from pincite.text.units import count

STATE_STYLES = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("BROKEN", "bold red")}


def print_findings(screen: Screen, findings: Sequence[Finding]) -> None:
    """Print each check with its result and advice."""
    widest = max(len(finding.name) for finding in findings)
    for finding in findings:
        word, style = STATE_STYLES[finding.state]
        lead = join_text((f"{word:<6}", style), f"  {finding.name:<{widest}}")
        screen.print_wrapped(styled(finding.found), indent=lead.cell_len + 2, lead=lead)
        if finding.advice:
            screen.print_wrapped(styled(finding.advice, STATE_STYLES[finding.state][1]), indent=lead.cell_len + 2)
    screen.print_line()
    screen.print_line(_summary(findings))


def _summary(findings: Sequence[Finding]) -> tuple[str, str]:
    states = [finding.state for finding in findings]
    if broken := states.count("broken"):
        return f"{count(broken, 'thing')} to fix.", "bold red"
    if notes := states.count("note"):
        return f"Nothing is broken; {count(notes, 'note')} above.", "bold green"
    return "No problems found.", "bold green"
