"""Search results, and how each score came about, so that it can be worked out again by hand."""

import re
from collections.abc import Sequence

from rich.text import Text

from pincite.cli.safe import one_line
from pincite.cli.view.answer import heading, place, print_degraded
from pincite.cli.view.screen import Screen, joined, styled
from pincite.core.answers import Hit, Placing, SearchResult, Via
from pincite.settings import Rag

NAMES: dict[Via, str] = {"dense": "meaning", "lexical": "words"}
SNIPPET = 240
"""Characters of a passage that are shown."""
LEAD = 80
"""Characters shown before the first word that was looked for."""


def print_hits(screen: Screen, result: SearchResult, query: str) -> None:
    """Print what was found, best first."""
    for rank, hit in enumerate(result.hits, start=1):
        screen.say()
        print_hit(screen, rank, hit, query)
    print_end(screen, result)


def print_hit(screen: Screen, rank: int, hit: Hit, query: str) -> int:
    """Print one hit; returns how far it is indented."""
    chunk = hit.chunk
    lead = joined((f"{rank:>3}", "bold cyan"), (f"  {hit.score:.3f}", "dim"))
    indent = lead.cell_len + 2
    screen.flowing(heading(chunk.title, chunk.heading_path), indent=indent, lead=lead)
    name = f"{chunk.folder}/{chunk.document_name}" if chunk.folder else chunk.document_name
    screen.flowing(styled(place(name, chunk.page, chunk.start_line, chunk.end_line), "dim"), indent=indent)
    excerpt = Text(snippet(chunk.text, chunk.heading_path, query))
    excerpt.highlight_words(_words(query), "bold", case_sensitive=False)
    screen.flowing(excerpt, indent=indent)
    return indent


def print_end(screen: Screen, result: SearchResult) -> None:
    """Say that nothing was found, and what was missing."""
    if not result.hits:
        screen.say("Nothing was found.")
    if result.degraded:
        screen.say()
        print_degraded(screen, result.degraded)


def snippet(text: str, path: Sequence[str], query: str = "") -> str:
    """A passage in one short line: where it holds most of the query's words, else how it begins.

    A heading it begins with is left out, for it stands above already.
    """
    first, _, rest = text.partition("\n")
    if path and first.lstrip("# ").strip() == path[-1].strip():
        text = rest
    line = one_line(text)
    if len(line) <= SNIPPET:
        return line
    room = SNIPPET - 2
    start = _densest(line, _words(query), room)
    shown = line[start : start + room].strip()
    return ("…" if start else "") + shown + ("…" if start + room < len(line) else "")


def _densest(line: str, words: Sequence[str], room: int) -> int:
    """Where to begin so that most of the words are seen, the first of them not at the very edge."""
    folded = line.lower()
    starts = [0, *(found.start() for word in words for found in re.finditer(re.escape(word), folded))]
    starts = sorted({max(0, min(start - LEAD, len(line) - room)) for start in starts})
    best = max(starts, key=lambda start: (sum(word in folded[start : start + room] for word in words), -start))
    return line.find(" ", best) + 1 if best else 0


def _words(query: str) -> list[str]:
    return [word.lower() for word in re.findall(r"\w{4,}", query)]


# --- how the scores came about ------------------------------------------------------------------------------


def print_explained(screen: Screen, result: SearchResult, query: str, rag: Rag) -> None:
    """Print what was found with every engine's rank, raw score and share, and how they add up."""
    weights = _weights(result, rag)
    for line in _formula(result.hits, weights, rag):
        screen.flowing(styled(line, "dim"))
    for rank, hit in enumerate(result.hits, start=1):
        screen.say()
        indent = print_hit(screen, rank, hit, query)
        _print_sum(screen, hit, indent)
    print_end(screen, result)


def _weights(result: SearchResult, rag: Rag) -> dict[Via, float]:
    """What each engine's best passage gets: alpha and the rest where both were searched, else all."""
    if result.strategy == "hybrid" and not any(note.stage == "embedding" for note in result.degraded):
        return {"dense": rag.alpha, "lexical": 1 - rag.alpha}
    return {"dense": 1.0, "lexical": 1.0}


def _formula(hits: Sequence[Hit], weights: dict[Via, float], rag: Rag) -> list[str]:
    used = [via for via in NAMES if any(placing.via == via for hit in hits for placing in hit.placings)]
    if not used:
        return []
    if rag.fusion == "rrf":
        return [f"share = 1 / ({rag.rrf_k} + rank); the score is the sum of the shares"]
    found = ["share = weight × (raw − lowest) / (highest − lowest); the score is the sum of the shares"]
    for via in used:
        placings = [placing for hit in hits for placing in hit.placings if placing.via == via]
        found.append(f"  {NAMES[via]}: weight {weights[via]:g}, {_span(placings, weights[via])}")
    return found


def _span(placings: Sequence[Placing], weight: float) -> str:
    """The lowest and highest raw score among all candidates, from how raw scores and shares go together."""
    best = max(placings, key=lambda placing: placing.raw)
    last = min(placings, key=lambda placing: placing.raw)
    if best.share == last.share:
        known = f"highest {best.raw:.4f}, " if best.share == weight else ""
        return f"{known}lowest not to be told from so few passages"
    slope = (best.share - last.share) / (best.raw - last.raw)
    lowest = best.raw - best.share / slope
    return f"lowest {lowest:.4f}, highest {lowest + weight / slope:.4f}"


def _print_sum(screen: Screen, hit: Hit, indent: int) -> None:
    margin = " " * indent
    screen.say((f"{margin}engine    rank        raw     share", "dim"))
    for placing in hit.placings:
        screen.say(f"{margin}{NAMES[placing.via]:<8}{placing.rank:>6}{placing.raw:>11.4f}{placing.share:>10.4f}")
    shares = " + ".join(f"{placing.share:.4f}" for placing in hit.placings)
    fused = f"{shares} = {hit.hybrid_score:.4f}" if len(hit.placings) > 1 else shares
    if hit.score != hit.hybrid_score:
        fused += f"; then the reranker's score counts: {hit.score:.4f}"
    screen.flowing(joined("score ", (fused, "bold")), indent=indent)
    screen.flowing(styled(f"similarity {hit.similarity:.4f}, relevance {hit.relevance:.4f}"), indent=indent)
