"""Search results in a terminal, and with --explain how each score was computed."""

import re
from collections.abc import Sequence

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.answer import format_heading, format_place, print_corrected, print_degraded
from pincite.cli.view.screen import Screen, join_text, styled
from pincite.core.query.answer import FusionSettings, SearchResult
from pincite.core.query.hits import Adjustment, Cause, Hit, RetrievedChunk, ScoreContribution, summands

CAUSE_NAMES: dict[Cause, str] = {
    "dense": "meaning",
    "lexical": "words",
    "language": "language",
    "named": "named",
    "near": "near",
    "section": "section",
    "document": "document",
    "part": "part",
    "query": "text",
    "graph": "graph",
    "dual": "dual",
    "tree": "tree",
    "late": "late",
}
"""Names of the score contributions in the table."""
CAUSE_NOTES: dict[Cause, str] = {
    "language": "language: a passage in another language has most of the mean share of words of those in the question's",
    "near": "near: raw is the share of the question's words in the passage, times their proximity",
    "section": "section, document: raw is the score of the passage's section or document, from its best passages",
    "graph": "graph: raw is the passage's rank value in the graph (personalised PageRank), the best one has 1",
    "dual": "dual: raw is 1 for the first passage of both levels joined, and falls with the place",
    "tree": "tree: raw is the score of the best summary above the passage",
    "late": "late: raw is the mean similarity of each token of the question to its nearest one in the passage",
    "part": "part: raw is the score of a further passage in it; the shares of the best one are above",
}
UNRANKED_NOTE = (
    "rank –: not retrieved by this engine; it gets the lowest retrieved score, or a score computed afterwards"
)
NAMED_NOTE = "named: raw is the score of the passage of that rank, which names the title; rank –: the question names it"
MAX_SNIPPET_CHARS = 240
"""Maximum characters of a snippet."""
CHARS_BEFORE_MATCH = 80
"""Characters of a snippet before the first matching word."""


def print_hits(screen: Screen, result: SearchResult, query: str) -> None:
    """Print the hits, best first."""
    for rank, hit in enumerate(result.hits, start=1):
        screen.print_line()
        print_hit(screen, rank, hit, query)
    print_end(screen, result)


def print_hit(screen: Screen, rank: int, hit: Hit, query: str) -> int:
    """Print one hit and return its indent."""
    chunk = hit.chunk
    lead = join_text((f"{rank:>3}", "bold cyan"), (f"  {hit.score:.3f}", "dim"))
    indent = lead.cell_len + 2
    screen.print_wrapped(format_heading(chunk.title, chunk.heading_path), indent=indent, lead=lead)
    where = format_place(_document_path(chunk), chunk.page, chunk.start_line, chunk.end_line, chunk.place)
    screen.print_wrapped(styled(where, "dim"), indent=indent)
    if hit.also_in:
        screen.print_wrapped(
            styled(f"also in {', '.join(_document_path(duplicate) for duplicate in hit.also_in)}", "dim"), indent=indent
        )
    excerpt = Text(make_snippet(chunk.text, chunk.heading_path, query))
    excerpt.highlight_words(_query_words(query), "bold", case_sensitive=False)
    screen.print_wrapped(excerpt, indent=indent)
    return indent


def _document_path(chunk: RetrievedChunk) -> str:
    return f"{chunk.folder}/{chunk.document_name}" if chunk.folder else chunk.document_name


def print_end(screen: Screen, result: SearchResult) -> None:
    """Print the corrected query and the stages that were left out, or that nothing was found."""
    if not result.hits:
        screen.print_line("Nothing was found.")
    corrected = result.plan.question.corrected if result.plan else None
    if corrected or result.degraded:
        screen.print_line()
        print_corrected(screen, corrected)
        print_degraded(screen, result.degraded)


def make_snippet(text: str, path: Sequence[str], query: str = "") -> str:
    """A snippet of a passage in one line: the part with most query words, else the beginning.

    Headings at the beginning are left out, since they are printed above.
    """
    above = {part.strip() for part in path}
    lines = text.split("\n")
    while len(lines) > 1 and (not lines[0].strip() or lines[0].lstrip("# ").strip() in above):
        del lines[0]
    line = one_line("\n".join(lines))
    if len(line) <= MAX_SNIPPET_CHARS:
        return line
    room = MAX_SNIPPET_CHARS - 2
    start = _densest_start(line, _query_words(query), room)
    shown = line[start : start + room].strip()
    return ("…" if start else "") + shown + ("…" if start + room < len(line) else "")


def _densest_start(line: str, words: Sequence[str], room: int) -> int:
    """The start of the snippet with most of the words, with some context before the first one."""
    folded = line.lower()
    starts = [0, *(found.start() for word in words for found in re.finditer(re.escape(word), folded))]
    starts = sorted({max(0, min(start - CHARS_BEFORE_MATCH, len(line) - room)) for start in starts})
    best = max(starts, key=lambda start: (sum(word in folded[start : start + room] for word in words), -start))
    return line.find(" ", best) + 1 if best else 0


def _query_words(query: str) -> list[str]:
    return [word.lower() for word in re.findall(r"\w{4,}", query)]


# --- explained scores ------------------------------------------------------------------------------


def print_explained(screen: Screen, result: SearchResult, query: str) -> None:
    """Print the hits with the contributions to each score and their sum."""
    for line in _formula_lines(result.hits, result.fusion):
        screen.print_wrapped(styled(line, "dim"))
    texts = result.plan.searched if result.plan else ()
    for number, text in enumerate(texts if len(texts) > 1 else (), start=1):
        screen.print_wrapped(styled(f"  text {number}: {one_line(text)}", "dim"))
    for rank, hit in enumerate(result.hits, start=1):
        screen.print_line()
        indent = print_hit(screen, rank, hit, query)
        _print_score_sum(screen, hit, indent)
    print_end(screen, result)


def _formula_lines(hits: Sequence[Hit], fusion: FusionSettings) -> list[str]:
    """Lines that explain how raw scores become shares."""
    placings = [placing for hit in hits for placing in hit.placings]
    if not placings:
        return []
    light = {one.query: one.weight for one in placings if one.scale is None and one.weight != 1}
    top = "weight" if light else "1"
    found = [f"share = {top} / ({fusion.rrf_k} + rank)"] if fusion.fusion == "rrf" else []
    found += ["share = weight × (raw − low) / span"] if any(placing.scale for placing in placings) else []
    several = any(one.via == "query" for one in placings)
    joined_by = f"share of a text = {top} / ({fusion.multi_query_rrf_k} + rank by the sum of meaning and words for it)"
    adding = "the score is the sum of the shares" + (" of the texts, and of what is named" if several else "")
    lines = ["; ".join([*found, *([joined_by] if several else []), adding])]
    scales = dict.fromkeys((_cause_name(one), one.query, one.scale) for one in placings if one.scale is not None)
    lines += [f"  text {query + 1}: weight {weight:g}" for query, weight in sorted(light.items())]
    for name, query, scale in sorted(scales, key=lambda one: one[:2]):
        of = f" of text {query + 1}" if any(other for _, other, _ in scales) else ""
        lines.append(f"  {name}{of}: weight {scale.weight:g}, low {scale.low:.4f}, span {scale.span:.4f}")
    lines += (
        [f"  {UNRANKED_NOTE}"] if any(one.rank is None and one.via in ("dense", "lexical") for one in placings) else []
    )
    lines += [f"  {words}" for via, words in CAUSE_NOTES.items() if any(one.via == via for one in placings)]
    lines += [f"  {NAMED_NOTE}"] if any(one.via == "named" for one in placings) else []
    return lines


def _cause_name(placing: ScoreContribution) -> str:
    """The name of a contribution; parts are numbered, since each further one has a lower weight."""
    return f"{CAUSE_NAMES[placing.via]} {placing.rank}" if placing.via == "part" else CAUSE_NAMES[placing.via]


def _format_adjustment(one: Adjustment, kind: str) -> str:
    """Format an adjustment of a score with its numbers."""
    if one.scale is None:
        return f"less {one.amount:g} of its size for {kind.replace('_', ' ')}: {one.score:.4f}"
    scale = one.scale
    share = f"{scale.weight:g} × ({one.before:.4f} − {scale.low:.4f}) / {scale.span:.4f}"
    return f"spread: {share} − {1 - scale.weight:g} × {one.amount:.4f} alike = {one.score:.4f}"


def _print_score_sum(screen: Screen, hit: Hit, indent: int) -> None:
    margin, several = " " * indent, any(placing.query for placing in hit.placings)
    screen.print_line((f"{margin}engine{'  ' if several else ''}    rank        raw     share", "dim"))
    for placing in hit.placings:
        rank = "–" if placing.rank is None else placing.rank
        name = f"{CAUSE_NAMES[placing.via]:<8}" + (f"{placing.query + 1:<2}" if several else "")
        screen.print_line(f"{margin}{name}{rank:>6}{placing.raw:>11.4f}{placing.share:>10.4f}")
    shares = " + ".join(f"{placing.share:.4f}" for placing in summands(hit.placings))
    fused = f"{shares} = {hit.hybrid_score:.4f}" if len(summands(hit.placings)) > 1 else shares
    ranked = hit.adjustments[0].before if hit.adjustments else hit.score
    if hit.rerank_score is not None:
        fused += f"; replaced by the reranker's score: {hit.rerank_score:.4f}"
    elif ranked != hit.hybrid_score:
        fused += f"; not reranked, therefore below the reranked ones: {ranked:.4f}"
    fused += "".join(f"; {_format_adjustment(one, hit.chunk.content_type)}" for one in hit.adjustments)
    screen.print_wrapped(join_text("score ", (fused, "bold")), indent=indent)
    screen.print_wrapped(styled(f"similarity {hit.similarity:.4f}, relevance {hit.relevance:.4f}"), indent=indent)
