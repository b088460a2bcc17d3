"""A replay in a terminal: the settings that differ, where each passage went, and the answer's words, old and new."""

from collections.abc import Mapping

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.answer import print_degraded
from pincite.cli.view.screen import Screen, grid, joined, shorten, styled
from pincite.cli.view.settings import shown
from pincite.cli.view.traces import took
from pincite.core.traces import TraceOutcome
from pincite.tracing.replay import Change, RankChange, Replay

STYLES = {"same": "dim", "moved": "", "entered": "green", "left": "red"}


def print_replay(screen: Screen, replay: Replay, titles: Mapping[str, str]) -> None:
    """Print what changed; `titles` by document."""
    before, after = replay.before, replay.after
    screen.flowing(joined(("replay of ", "dim"), (before.id, "bold")))
    screen.flowing(joined((f"is trace {after.id}", "dim")))
    _print_settings(screen, replay)
    screen.say()
    _print_passages(screen, replay, titles)
    if replay.answer is not None:
        _print_answer(screen, replay)
    _print_figures(screen, replay)
    print_degraded(screen, after.degraded)


def _print_settings(screen: Screen, replay: Replay) -> None:
    if not replay.settings:
        screen.say("No setting differs: what changed, changed in the library or by chance.")
    for key, (was, now) in replay.settings.items():
        screen.flowing(joined(f"{key}  ", (shown(was), "red"), " → ", (shown(now), "green")))


def _print_passages(screen: Screen, replay: Replay, titles: Mapping[str, str]) -> None:
    if not replay.passages:
        screen.say("No passages were found, then or now.")
        return
    table = grid(">was", ">now", "", ">score was", ">now", "passage")
    room = max(8, screen.columns - 4 - 4 - 8 - 9 - 8 - 5 * 2)
    for one in replay.passages:
        name = titles.get(one.document_id, "a document that is gone")
        place = f"{shorten(one_line(name), max(4, room - 7))} #{one.chunk_id.rsplit('.', 1)[-1]}"
        cells = [
            _rank(one.before),
            _rank(one.after),
            _way(one),
            _score(one.score_before),
            _score(one.score_after),
            place,
        ]
        table.add_row(*(Text(cell, style=STYLES[one.change]) for cell in cells))
    screen.table(table)


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _score(score: float | None) -> str:
    return "–" if score is None else f"{score:.4f}"


def _way(moved: RankChange) -> str:
    if moved.before is None or moved.after is None or moved.before == moved.after:
        return {"same": "="}.get(moved.change, moved.change)
    return f"↑ {moved.before - moved.after}" if moved.after < moved.before else f"↓ {moved.after - moved.before}"


def _print_answer(screen: Screen, replay: Replay) -> None:
    screen.say()
    assert replay.answer is not None
    if all(change == "same" for change, _ in replay.answer):
        screen.say("The answer is the same, word for word.")
        return
    screen.say("The answer, with what went in [-…-] and what came in {+…+}:")
    screen.flowing(joined(*(_marked(change, text) for change, text in replay.answer)), indent=2)


def _marked(change: Change, text: str) -> tuple[str, str]:
    """Words with what became of them; the space before them stays outside of the mark."""
    form, style = {"same": ("{}", ""), "removed": ("[-{}-]", "red"), "added": ("{{+{}+}}", "green")}[change]
    words = text.lstrip()
    return text[: len(text) - len(words)] + form.format(words), style


def _print_figures(screen: Screen, replay: Replay) -> None:
    screen.say()
    was, now = replay.before.outcome, replay.after.outcome
    table = grid("", ">was", ">now")
    if was and now:
        table.add_row("confidence", _confidence(was), _confidence(now))
        table.add_row("groundedness", f"{was.groundedness:.2f}", f"{now.groundedness:.2f}")
        table.add_row("passages cited", str(len(was.cited)), str(len(now.cited)))
        if was.model != now.model:
            table.add_row("model", styled(str(was.model)), styled(str(now.model)))
    table.add_row("took", took(replay.before.duration_ms), took(replay.after.duration_ms))
    screen.table(table)


def _confidence(outcome: TraceOutcome) -> str:
    return f"{outcome.confidence:.2f} {outcome.level}"
