"""Answers in a terminal: the text with its citations, the cited passages, and the confidence."""

import re
from collections.abc import Sequence

from rich.text import Text

from pincite.cli.view.numbers import renumber
from pincite.cli.view.screen import Screen, join_text, styled
from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.answer import Answer, Citation, Degraded, Source
from pincite.core.query.tools import Step
from pincite.text.sentences import fold
from pincite.text.units import count

CONFIDENCE_STYLES = {"high": "green", "medium": "yellow", "low": "red"}
MAX_QUOTE_LINES = 12
"""Maximum lines of a printed quote."""
MAX_NEAREST_PASSAGES = 3
"""Passages printed where the question was not answered."""
MARGIN_COLUMNS = 2
"""Left margin of an answer."""

_NEVER_CONTINUED = re.compile(r"\s*$|\s*(\||#{1,6}\s)|\s{4}")
"""A line that the next line never continues: blank, a table row, a heading, indented code."""
_NEVER_CONTINUES = re.compile(_NEVER_CONTINUED.pattern + r"|\s*(>|[-*+•]\s|\d{1,9}[.)]\s)")
"""A line that never continues the previous one."""


def print_answer(screen: Screen, answer: Answer) -> None:
    """Print an answer, its sources with quotes, and its confidence; its sources are numbered without gaps."""
    answer = renumber(answer)
    screen.print_line()
    for paragraph in format_answer_text(answer).split("\n", allow_blank=True):
        screen.print_wrapped(paragraph, indent=MARGIN_COLUMNS)
    print_evidence(screen, answer)


def print_evidence(screen: Screen, answer: Answer) -> None:
    """Print the cited sources of an answer, its steps and its confidence."""
    cited = [source for source in answer.sources if source.cited]
    if cited:
        screen.print_line()
        screen.print_line(("Sources" if len(cited) > 1 else "Source", "bold"))
    for source in cited:
        screen.print_line()
        _print_source(screen, source, [c for c in answer.citations if c.source == source.number])
    if not cited and answer.sources:
        _print_nearest(screen, answer.sources[:MAX_NEAREST_PASSAGES])
    screen.print_line()
    print_steps(screen, answer.metadata.steps)
    _print_confidence(screen, answer)


def print_steps(screen: Screen, steps: Sequence[Step]) -> None:
    """Print the steps of an answer in agent mode."""
    for step in steps:
        arguments = "; ".join(
            ", ".join(map(str, value)) if isinstance(value, list) else str(value) for value in step.arguments.values()
        )
        style = "yellow" if step.failed else "dim"
        _print_note(
            screen,
            f"Step {step.number}",
            join_text(step.tool, f" {arguments}" if arguments else "", (f": {step.result}", style)),
        )


def format_answer_text(answer: Answer) -> Text:
    """The answer's text with coloured `[1]` for `[Source 1]`; a citation without a source is struck out.

    A source that supports a claim without a citation follows the claim, dimmed.
    """
    made, end = Text(), 0
    for citation in sorted(answer.citations, key=lambda citation: citation.start):
        made.append_text(styled(answer.text[end : citation.start]))
        if citation.source is None:
            made.append_text(styled(citation.text, "red strike"))
        elif citation.text:
            made.append_text(styled(f"[{citation.source}]", "bold cyan"))
        else:
            made.append_text(styled(f" [{citation.source}]", "dim cyan"))
        end = citation.end
    return made.append_text(styled(answer.text[end:]))


def format_heading(title: str, path: Sequence[str]) -> Text:
    """Format `Title › Section › Subsection`, without a first heading that repeats the title."""
    below = (
        path[1:]
        if path
        and _fold_to_alphanumerics(path[0]) in (_fold_to_alphanumerics(title), _fold_to_alphanumerics(NO_HEADINGS))
        else path
    )
    return join_text((title, "bold"), *((f" › {part}", "") for part in below))


def _fold_to_alphanumerics(text: str) -> str:
    return "".join(char for char in fold(text) if char.isalnum())


def format_place(name: str, page: int | None, start: int | None, end: int | None, known: str | None = None) -> str:
    """Format a place: `prices.xlsx, sheet Prices, B7`, `report.pdf, page 3` or `handbook.md, lines 12–14`."""
    if known is not None:
        return f"{name}, {known}"
    if page is not None:  # answers stored before places existed
        return f"{name}, page {page}"
    if start is None or end is None:
        return name
    return f"{name}, line {start}" if start == end else f"{name}, lines {start}–{end}"


def source_path(source: Source) -> str:
    """The folder and file name of a source."""
    return f"{source.folder}/{source.document_name}" if source.folder else source.document_name


def _print_source(screen: Screen, source: Source, citations: Sequence[Citation]) -> None:
    name = source_path(source)
    number = join_text(" " * MARGIN_COLUMNS, (f"[{source.number}]", "bold cyan"))
    indent = number.cell_len + 1
    screen.print_wrapped(format_heading(source.title, source.heading_path), indent=indent, lead=number)
    quotes = {c.quote_start_char: c for c in citations if c.quote}
    if not quotes:
        where = format_place(name, source.page, source.start_line, source.end_line, source.place)
        screen.print_wrapped(styled(where, "dim"), indent=indent)
    last = ""
    for citation in sorted(quotes.values(), key=lambda c: c.quote_start_char or 0):
        lines = citation.quote_start_line, citation.quote_end_line
        where = format_place(name, citation.page, *lines, citation.place)
        if where != last:
            screen.print_wrapped(styled(where, "dim"), indent=indent)
        last = where
        _print_quote(screen, citation.quote, indent, source.document_id)


def _print_nearest(screen: Screen, sources: Sequence[Source]) -> None:
    """Print the passages nearest to a question that was not answered, with the beginning of their text."""
    screen.print_line()
    screen.print_line(("Nearest passages", "bold"))
    for source in sources:
        screen.print_line()
        _print_source(screen, source, ())
        screen.print_wrapped(
            styled(" ".join(source.snippet.split()), "italic"), indent=MARGIN_COLUMNS + len(f"[{source.number}]") + 1
        )


def _print_quote(screen: Screen, quote: str, indent: int, document_id: str) -> None:
    lines = join_paragraph_lines(quote.expandtabs(4))
    for line in lines[:MAX_QUOTE_LINES]:
        screen.print_wrapped(styled(line, "italic"), indent=indent, bar="│ ")
    if len(lines) > MAX_QUOTE_LINES:
        more = count(len(lines) - MAX_QUOTE_LINES, "more line")
        screen.print_wrapped(styled(f"… {more}: pincite read {document_id}", "dim"), indent=indent, bar="│ ")


def join_paragraph_lines(text: str) -> list[str]:
    """The lines of a text, with those of a paragraph joined, so that the screen can wrap them anew."""
    lines: list[str] = []
    fenced, open_paragraph = False, False
    for line in text.split("\n"):
        fence = line.lstrip().startswith(("```", "~~~"))
        if open_paragraph and not fence and not _NEVER_CONTINUES.match(line):
            lines[-1] = f"{lines[-1]} {line.lstrip()}"
            continue
        lines.append(line)
        fenced = fenced != fence
        open_paragraph = not (fenced or fence or _NEVER_CONTINUED.match(line))
    return lines


def _print_confidence(screen: Screen, answer: Answer) -> None:
    confidence = answer.confidence
    verdict = join_text(
        (confidence.level, CONFIDENCE_STYLES[confidence.level]), f" ({confidence.score:.2f}): {confidence.reason}"
    )
    _print_note(screen, "Confidence", verdict)
    print_corrected(screen, answer.metadata.corrected_query)
    for warning in answer.warnings:
        _print_note(screen, "Warning", styled(warning, "yellow"))
    paths = {source.number: source_path(source) for source in answer.sources}
    for conflict in answer.context_sufficiency.conflicts:
        _print_note(screen, "Conflict", styled(conflict.subject, "yellow"))
        for statement in conflict.statements:
            quote = " ".join(statement.quote.split())
            _print_note(
                screen,
                "",
                styled(
                    f"[{statement.source}] {paths.get(statement.source, statement.title)}, {statement.date}: “{quote}”"
                ),
            )
    print_degraded(screen, answer.degraded)
    if answer.metadata.cached:
        _print_note(screen, "Cached", styled(f"{answer.metadata.plan[-1]}; --no-cache gives a new answer"))
    model = answer.metadata.model or "no model"
    _print_note(screen, "Written by", styled(f"{model}; trace {answer.metadata.trace_id}", "dim"))


def print_corrected(screen: Screen, corrected: str | None) -> None:
    """Print the corrected query of a misspelt question."""
    if corrected is not None:
        _print_note(screen, "Corrected", styled(corrected))


def print_degraded(screen: Screen, degraded: Sequence[Degraded]) -> None:
    """Print the stages that were left out, and why."""
    for note in degraded:
        _print_note(screen, "Left out", styled(f"{note.stage}: {note.reason}", "yellow"))


def _print_note(screen: Screen, name: str, body: Text) -> None:
    screen.print_wrapped(body, indent=12, lead=styled(name, "dim"))
