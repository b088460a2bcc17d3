"""The findings of doctor in a terminal."""

from pincite.cli.view.doctor import print_findings
from pincite.engine.diagnose import Finding

from .makers import seen

WELL = Finding("Python", "ok", "3.11")
NOTE = Finding("data folder", "note", "little space", "free some")
ILL = Finding("database", "broken", "it is down", "start it")


def test_each_finding_has_its_state_and_what_to_do() -> None:
    assert (
        seen(lambda screen: print_findings(screen, [WELL, NOTE, ILL]))
        == """\
ok      Python       3.11
note    data folder  little space
                     free some
BROKEN  database     it is down
                     start it

1 thing to fix.
"""
    )


def test_the_summary_distinguishes_notes_from_problems() -> None:
    assert seen(lambda screen: print_findings(screen, [WELL])).endswith("\nNo problems found.\n")
    assert seen(lambda screen: print_findings(screen, [WELL, NOTE])).endswith("\nNothing is broken; 1 note above.\n")
