from benchmarks.second_look import LINES
from benchmarks.switches import EVIDENCE
from pincite.config.sources import load_settings, with_values
from pincite.evaluate.variants import UNCHANGED


def test_the_lines_differ_from_the_default_in_what_they_name() -> None:
    default = load_settings(env={})
    assert LINES[UNCHANGED] == ()
    for name, changes in LINES.items():
        assert (with_values(default, dict(changes)) == default) == (name == UNCHANGED)
    assert EVIDENCE["rag.second_look"] is True
