"""Entities, facts and paths of the knowledge graph in a terminal."""

from collections.abc import Sequence

from pincite.cli.output import one_line
from pincite.cli.view.screen import Screen, styled
from pincite.core.graph import EntityCard, GraphNode, GraphPlace, PathStep

MAX_SHOWN = 12
INDENT = 4


def print_entities(screen: Screen, found: Sequence[GraphNode]) -> None:
    """Print entities, one per line."""
    if not found:
        screen.print_line("no entity has this name; build the graph with: pincite reindex --graph")
    for one in found:
        screen.print_line(f"{one.id}  {one_line(one.name)}  ({one.kind}, {one.mentions} passages)")


def print_entity(screen: Screen, card: EntityCard) -> None:
    """Print an entity with its facts, places and neighbours."""
    screen.print_line((one_line(card.node.name), "bold"), f"  {card.node.kind}, {card.node.id}")
    for title, lines in (
        ("facts", [(f"{one.subject} — {one.relation} — {one.object}", one.place) for one in card.facts]),
        ("mentions", [(one.text, one) for one in card.places]),
    ):
        screen.print_line((f"{title}: {len(lines)}", "dim"))
        for words, place in lines[:MAX_SHOWN]:
            screen.print_wrapped(styled(one_line(words)), indent=INDENT)
            screen.print_wrapped(styled(_where(place), "dim"), indent=INDENT)
    near = [one.node.name for one in card.neighbours if one.hops == 1]
    screen.print_wrapped(styled(f"neighbours: {', '.join(map(one_line, near[:MAX_SHOWN])) or 'none'}"))


def print_path(screen: Screen, steps: Sequence[PathStep]) -> None:
    """Print the steps of a path, each with the words that state it."""
    for one in steps:
        relation = f" — {one.relation} — " if one.relation else " — with — "
        screen.print_wrapped(styled(one_line(f"{one.start.name}{relation}{one.end.name}")))
        if one.place:
            screen.print_wrapped(styled(one_line(one.place.text[:300])), indent=INDENT)
            screen.print_wrapped(styled(_where(one.place), "dim"), indent=INDENT)


def _where(place: GraphPlace) -> str:
    return one_line(f"{place.title}, line {place.line}" + (f", page {place.page}" if place.page else ""))
