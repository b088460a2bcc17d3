"""Search results, and how each score came about, so that it can be worked out again by hand."""

from collections.abc import Sequence

from rich.text import Text

from pincite.cli.safe import one_line
from pincite.cli.view.answer import heading, place, print_degraded
from pincite.cli.view.screen import Screen, grid, joined, styled
from pincite.core.answers import Hit, Placing, SearchResult, Via
from pincite.settings import Rag

NAMES: dict[Via, str] = {"dense": "meaning", "lexical": "words"}
SNIPPET = 240
"""Characters of a passage that are shown."""


def print_hits(screen: Screen, result: SearchResult) -> None:
    """Print what was found, best first."""
    for rank, hit in enumerate(result.hits, start=1):
        screen.line()
        print_hit(screen, rank, hit)
    print_end(screen, result)


def print_hit(screen: Screen, rank: int, hit: Hit) -> int:
    """Print one hit; returns how far it is indented."""
    chunk = hit.chunk
    lead = joined((f"{rank:>3}", "bold cyan"), (f"  {hit.score:.3f}", "dim"))
    indent = lead.cell_len + 2
    screen.flowing(heading(chunk.title, chunk.heading_path), indent=indent, lead=lead)
    name = f"{chunk.folder}/{chunk.document_name}" if chunk.folder else chunk.document_name
    screen.flowing(styled(place(name, chunk.page, chunk.start_line, chunk.end_line), "dim"), indent=indent)
    screen.flowing(Text(_snippet(chunk.text)), indent=indent)
    return indent


def print_end(screen: Screen, result: SearchResult) -> None:
    """Say that nothing was found, and what was missing."""
    if not result.hits:
        screen.line("Nothing was found.")
    if result.degraded:
        screen.line()
        print_degraded(screen, result.degraded)


def _snippet(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= SNIPPET else line[: SNIPPET - 1].rstrip() + "…"


# --- how the scores came about ------------------------------------------------------------------------------


def print_explained(screen: Screen, result: SearchResult, rag: Rag) -> None:
    """Print what was found with every engine's rank, raw score and share, and how they add up."""
    weights = _weights(result, rag)
    for line in _formula(result.hits, weights, rag):
        screen.flowing(styled(line, "dim"))
    for rank, hit in enumerate(result.hits, start=1):
        screen.line()
        indent = print_hit(screen, rank, hit)
        _print_sum(screen, hit, indent)
    print_end(screen, result)


def _weights(result: SearchResult, rag: Rag) -> dict[Via, float]:
    """What each engine's best passage gets: alpha and the rest where both were searched, else all."""
    if result.strategy == "hybrid" and not any(note.stage == "embedding" for note in result.degraded):
        return {"dense": rag.alpha, "lexical": 1 - rag.alpha}
    return {"dense": 1.0, "lexical": 1.0}


def _formula(hits: Sequence[Hit], weights: dict[Via, float], rag: Rag) -> list[str]:
    used = [via for via in NAMES if any(place.via == via for hit in hits for place in hit.placings)]
    if not used:
        return []
    if rag.fusion == "rrf":
        return [f"share = 1 / ({rag.rrf_k} + rank); the score is the sum of the shares"]
    found = ["share = weight × (raw − lowest) / (highest − lowest); the score is the sum of the shares"]
    for via in used:
        low, high = _bounds([place for hit in hits for place in hit.placings if place.via == via], weights[via])
        span = f"lowest {low:.4f}, highest {high:.4f}" if high > low else f"all candidates {high:.4f}, share = weight"
        found.append(f"  {NAMES[via]}: weight {weights[via]:g}, {span}")
    return found


def _bounds(placings: Sequence[Placing], weight: float) -> tuple[float, float]:
    """The lowest and highest raw score among all candidates, from how raw scores and shares go together."""
    best = max(placings, key=lambda place: place.raw)
    other = min(placings, key=lambda place: place.raw)
    if best.raw == other.raw or weight == 0:
        return best.raw, best.raw
    slope = (best.share - other.share) / (best.raw - other.raw)
    low = best.raw - best.share / slope
    return low, low + weight / slope


def _print_sum(screen: Screen, hit: Hit, indent: int) -> None:
    table = grid("engine", ">rank", ">raw", ">share")
    for place in hit.placings:
        table.add_row(NAMES[place.via], str(place.rank), f"{place.raw:.4f}", f"{place.share:.4f}")
    from rich.padding import Padding

    screen.print(Padding(table, (0, 0, 0, indent)))
    shares = " + ".join(f"{place.share:.4f}" for place in hit.placings)
    fused = f"{shares} = {hit.hybrid_score:.4f}"
    if hit.score != hit.hybrid_score:
        fused += f"; then the reranker's score counts: {hit.score:.4f}"
    screen.flowing(joined("score ", (fused, "bold")), indent=indent)
    screen.flowing(styled(f"similarity {hit.similarity:.4f}, relevance {hit.relevance:.4f}"), indent=indent)
