"""A replay in a terminal: changed settings, rank changes of passages, and a diff of the answer."""

from collections.abc import Mapping

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.answer import print_degraded
from pincite.cli.view.screen import Screen, join_text, make_table, shorten, styled
from pincite.cli.view.settings import format_value
from pincite.cli.view.traces import format_ms
from pincite.core.traces import TraceOutcome
from pincite.tracing.replay import Change, RankChange, Replay

CHANGE_STYLES = {"same": "dim", "moved": "", "entered": "green", "left": "red"}


def print_replay(screen: Screen, replay: Replay, titles: Mapping[str, str]) -> None:
    """Print what changed; `titles` maps document ids to titles."""
    before, after = replay.before, replay.after
    screen.print_wrapped(join_text(("replay of ", "dim"), (before.id, "bold")))
    screen.print_wrapped(join_text((f"is trace {after.id}", "dim")))
    _print_settings(screen, replay)
    screen.print_line()
    _print_passages(screen, replay, titles)
    if replay.answer is not None:
        _print_answer(screen, replay)
    _print_figures(screen, replay)
    print_degraded(screen, after.degraded)


def _print_settings(screen: Screen, replay: Replay) -> None:
    if not replay.settings:
        screen.print_line("No setting differs: changes come from the library or from randomness.")
    for key, (was, now) in replay.settings.items():
        screen.print_wrapped(join_text(f"{key}  ", (format_value(was), "red"), " → ", (format_value(now), "green")))


def _print_passages(screen: Screen, replay: Replay, titles: Mapping[str, str]) -> None:
    if not replay.passages:
        screen.print_line("No passages were found, neither before nor now.")
        return
    table = make_table(">was", ">now", "", ">score was", ">now", "passage")
    room = max(8, screen.columns - 4 - 4 - 8 - 9 - 8 - 5 * 2)
    for one in replay.passages:
        name = titles.get(one.document_id, "a removed document")
        place = f"{shorten(one_line(name), max(4, room - 7))} #{one.chunk_id.rsplit('.', 1)[-1]}"
        cells = [
            _format_rank(one.before),
            _format_rank(one.after),
            _format_move(one),
            _format_score(one.score_before),
            _format_score(one.score_after),
            place,
        ]
        table.add_row(*(Text(cell, style=CHANGE_STYLES[one.change]) for cell in cells))
    screen.print_table(table)


def _format_rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _format_score(score: float | None) -> str:
    return "–" if score is None else f"{score:.4f}"


def _format_move(moved: RankChange) -> str:
    if moved.before is None or moved.after is None or moved.before == moved.after:
        return {"same": "="}.get(moved.change, moved.change)
    return f"↑ {moved.before - moved.after}" if moved.after < moved.before else f"↓ {moved.after - moved.before}"


def _print_answer(screen: Screen, replay: Replay) -> None:
    screen.print_line()
    assert replay.answer is not None
    if all(change == "same" for change, _ in replay.answer):
        screen.print_line("The answer is the same, word for word.")
        return
    screen.print_line("The answer, with [-removed-] and {+added+} text:")
    screen.print_wrapped(join_text(*(_mark_change(change, text) for change, text in replay.answer)), indent=2)


def _mark_change(change: Change, text: str) -> tuple[str, str]:
    """Mark changed text; leading spaces stay outside the mark."""
    form, style = {"same": ("{}", ""), "removed": ("[-{}-]", "red"), "added": ("{{+{}+}}", "green")}[change]
    words = text.lstrip()
    return text[: len(text) - len(words)] + form.format(words), style


def _print_figures(screen: Screen, replay: Replay) -> None:
    screen.print_line()
    was, now = replay.before.outcome, replay.after.outcome
    table = make_table("", ">was", ">now")
    if was and now:
        table.add_row("confidence", _format_confidence(was), _format_confidence(now))
        table.add_row("groundedness", f"{was.groundedness:.2f}", f"{now.groundedness:.2f}")
        table.add_row("passages cited", str(len(was.cited)), str(len(now.cited)))
        if was.model != now.model:
            table.add_row("model", styled(str(was.model)), styled(str(now.model)))
    table.add_row("took", format_ms(replay.before.duration_ms), format_ms(replay.after.duration_ms))
    screen.print_table(table)


def _format_confidence(outcome: TraceOutcome) -> str:
    return f"{outcome.confidence:.2f} {outcome.level}"
