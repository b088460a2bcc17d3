import random

from pincite.core.documents.document import VersionText
from pincite.engine.reader.diff import Difference, difference


def version(text: str, number: int = 1, **about: object) -> VersionText:
    return VersionText("d", str(number), "T", "text/plain", text, (), about=about)


def compared(before: str, after: str, context: int = 3) -> Difference:
    return difference(version(before, 1), version(after, 2), context=context)


def applied(before: str, found: Difference) -> list[str]:
    """Apply the hunks to the earlier lines, by their line numbers alone."""
    lines, made, at = before.removesuffix("\n").split("\n") if before else [], [], 0
    for hunk in found.hunks:
        start = hunk.before[0] - (hunk.before[1] > 0)
        made += lines[at:start] + [line.text for line in hunk.lines if line.kind != "removed"]
        assert [line.text for line in hunk.lines if line.kind != "added"] == lines[start : start + hunk.before[1]]
        at = start + hunk.before[1]
    return made + lines[at:]


def test_a_changed_line_is_shown_with_its_number_on_either_side() -> None:
    found = compared("a\nb\nc\n", "a\nB\nc\nd\n", context=1)
    assert (found.added, found.removed) == (2, 1)
    [hunk] = found.hunks
    assert hunk.header == "@@ -1,3 +1,4 @@"
    assert [(line.kind, line.before, line.after, line.text) for line in hunk.lines] == [
        ("same", 1, 1, "a"),
        ("removed", 2, None, "b"),
        ("added", None, 2, "B"),
        ("same", 3, 3, "c"),
        ("added", None, 4, "d"),
    ]


def test_equal_texts_have_no_hunks() -> None:
    found = compared("a\nb\n", "a\nb\n")
    assert (found.hunks, found.added, found.removed, dict(found.about)) == ((), 0, 0, {})


def test_distant_changes_are_separate_hunks() -> None:
    before = [f"line {n}" for n in range(40)]
    after = [*before]
    after[3], after[30] = "x", "y"
    assert [hunk.header for hunk in compared("\n".join(before), "\n".join(after)).hunks] == [
        "@@ -1,7 +1,7 @@",
        "@@ -28,7 +28,7 @@",
    ]


def test_the_hunks_turn_any_text_into_any_other() -> None:
    chosen = random.Random(5)
    for _ in range(200):
        before = [chosen.choice("abcdefgh ") for _ in range(chosen.randint(0, 25))]
        after = [chosen.choice([line, "x", "y"]) for line in before if chosen.random() > 0.2]
        texts = "\n".join(before), "\n".join(after)
        for context in (0, 2):
            found = compared(*texts, context=context)
            assert applied(texts[0], found) == (texts[1].removesuffix("\n").split("\n") if texts[1] else [])


def test_metadata_is_compared() -> None:
    found = difference(version("x", 1, title="Old", tags=["a"]), version("x", 2, title="New", tags=["a"]))
    assert found.about == {"title": ("Old", "New")}


def test_large_texts_without_anchors_are_shown_as_replaced() -> None:
    """Every line is repeated, so there are no anchors: comparing all pairs would take minutes."""
    chosen = random.Random(1)
    before, after = ("\n".join(chosen.choices("abc", k=20_000)) for _ in range(2))
    found = compared(before, after)
    assert applied(before, found) == after.split("\n")
    assert found.added > 19_000
