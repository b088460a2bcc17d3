"""Both sides of a comparison among the passages of an answer."""

from dataclasses import replace

from pincite.query.evidence.sides import missing_sides, named_in, said_in, sides_of, with_sides
from pincite.query.understand.intent import analyse_question
from tests.builders import hit, plan

LEAVE = hit("A note is due on day three.", key=1, title="Leave", heading_path=("Leave", "Sick leave"))
TRAVEL = hit("A hotel may cost 120 euros.", key=2, title="Travel", heading_path=("Travel", "Hotels"))
WALK = hit("Nobody leaves the house alone after a hotel.", key=3, title="Walks", heading_path=("Walks",))


def sides(question: str) -> tuple[str, ...]:
    return sides_of(replace(plan(question), analysis=analyse_question(question)))


def test_the_sides_are_named_without_the_words_that_both_have() -> None:
    assert sides("Compare the leave rules with the travel rules.") == ("leave", "travel")
    assert sides("What is the difference between starting a night and ending a night?") == ("starting", "ending")
    assert sides("Vergleiche die Elternzeit mit dem Sonderurlaub.") == ("elternzeit", "sonderurlaub")
    assert sides("How many vacation days carry over?") == ()


def test_a_side_is_missing_where_no_title_and_no_heading_names_it() -> None:
    assert missing_sides(("leave", "travel"), [LEAVE, TRAVEL]) == []
    assert missing_sides(("leave", "travel"), [WALK, TRAVEL]) == ["leave"]
    assert named_in("sick leave", [WALK, TRAVEL, LEAVE]) == [LEAVE]
    assert said_in("hotel", [LEAVE, WALK]) == [WALK]
    assert named_in("zebras", [LEAVE, TRAVEL, WALK]) == said_in("zebras", [LEAVE, TRAVEL, WALK]) == []


def test_what_was_found_about_a_side_stands_behind_the_best_hit() -> None:
    assert with_sides([LEAVE, WALK], [[TRAVEL], [LEAVE]]) == [LEAVE, TRAVEL, WALK]
