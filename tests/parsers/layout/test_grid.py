"""Grids of rules."""

from pincite.parsers.layout.grid import grids
from pincite.parsers.layout.words import Rule

ACROSS = [Rule(at, 0, 90) for at in (0, 20, 40)]
DOWN = [Rule(at, 0, 40) for at in (0, 30, 60, 90)]


def test_rules_that_cross_make_a_grid():
    (grid,) = grids(ACROSS, DOWN)
    assert (grid.xs, grid.ys, grid.cells) == ((0, 30, 60, 90), (0, 20, 40), 6)
    assert grid.box == (0, 0, 90, 40)
    assert grid.cell((35, 25, 40, 30)) == (1, 1)
    assert grid.holds((5, 5, 6, 6))
    assert not grid.holds((5, 45, 6, 46))


def test_a_cell_extends_where_a_rule_is_missing():
    short = [Rule(0, 0, 40), Rule(30, 20, 40), Rule(60, 0, 40), Rule(90, 0, 40)]
    (grid,) = grids(ACROSS, short)
    assert grid.cell((40, 5, 50, 10)) == (0, 0)
    assert grid.cell((40, 25, 50, 30)) == (1, 1)


def test_a_table_without_an_outer_frame_ends_where_its_rules_end():
    (grid,) = grids(ACROSS, DOWN[1:3])
    assert grid.xs == (0, 30, 60, 90)


def test_rules_drawn_in_pieces_or_twice_are_one():
    pieces = [Rule(at + 0.5 * part, 45 * part, 45 * part + 45) for at in (0, 20, 40) for part in (0, 1)]
    (grid,) = grids([*pieces, *ACROSS], DOWN)
    assert len(grid.ys) == 3


def test_tables_apart_from_each_other_are_two_and_a_box_is_none():
    below = [Rule(rule.at + 100, rule.start, rule.end) for rule in ACROSS]
    down = [Rule(rule.at, 100, 140) for rule in DOWN]
    box = ([Rule(200, 0, 50), Rule(220, 0, 50)], [Rule(0, 200, 220), Rule(50, 200, 220)])
    found = grids([*ACROSS, *below, *box[0]], [*DOWN, *down, *box[1]])
    assert [grid.ys[0] for grid in found] == [0, 100]
