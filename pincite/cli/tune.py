"""The command that finds better settings for the user's own questions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.ask import silence_degradation_log
from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json, print_note
from pincite.errors import Invalid

if TYPE_CHECKING:
    from pincite.core.evaluations import EvaluationSet
    from pincite.engine.app import AsyncPincite
    from pincite.evaluate.runner import Report
    from pincite.evaluate.tune import Tuning


def register(app: typer.Typer) -> None:
    """Register this command."""
    command(app, "tune")(tune)


async def tune(
    context: CommandContext,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SET]",
            help="A .jsonl file with questions and expected answers, or the id of a stored set. Default: your newest "
            "imported set, or else questions made from your documents, which measure search only.",
            show_default=False,
        ),
    ] = None,
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="WHAT",
            help="Also try KEY=VALUE (several separated by commas) or profile=NAME; repeatable.",
        ),
    ] = None,
    only: Annotated[bool, typer.Option("--only", help="Try only the changes of --try.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Apply the proposed change without asking.")] = False,
) -> None:
    """Try settings, levels and models on your questions, and propose the change that is better beyond noise.

    Each change is tried on one half of the questions; the best one must be better on the other half too. Differences are
    paired by question with 95 % intervals, and the time per question is shown. The change is applied after confirmation,
    and pincite settings undo takes it back.
    """
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.tuning import print_tuning
    from pincite.evaluate.candidates import make_candidates
    from pincite.evaluate.tune import tune as tune_settings
    from pincite.serialize.tuning import tuning_json

    if only and not tried:
        raise Invalid("--only requires --try; name the changes to try")
    if context.chosen:
        raise Invalid("--set cannot be combined with tune; change the settings first, or name changes with --try")
    with silence_degradation_log():
        async with context.open() as pincite:
            with progress(quiet=context.json) as report:
                questions, notes = await _find_set(pincite, name, report)
                for note in notes:
                    print_note(note)
                kit = pincite.admin.kit()
                candidates = make_candidates(
                    pincite.settings,
                    questions.tests,
                    extra=tried or (),
                    only_extra=only,
                    has_model=kit.llm is not kit.extractive,
                )
                found = await tune_settings(pincite, questions, candidates, report=report)
            if not context.json:
                print_tuning(Screen(), found)
            applied = await _apply(context, pincite, found, yes=yes)
    if context.json:
        fields = tuning_json(found)
        print_json(fields | {"notes": [*notes, *fields["notes"]], "applied": applied})


async def _find_set(
    pincite: "AsyncPincite", name: str | None, report: "Report"
) -> "tuple[EvaluationSet, tuple[str, ...]]":
    from pincite.evaluate.questions.answer_sets import load_questions
    from pincite.evaluate.tune import find_set

    if name is not None and name.endswith(".jsonl"):
        questions = load_questions(Path(name))
        return await pincite.questions.evaluations.import_set(await pincite.scope(), questions), ()
    return await find_set(pincite, name, report=report)


async def _apply(context: CommandContext, pincite: "AsyncPincite", found: "Tuning", *, yes: bool) -> bool:
    """Apply the proposal if the user agrees; without a terminal, only `--yes` agrees."""
    from pincite.evaluate.tune import apply

    if found.proposal is None:
        return False
    asks = not yes and not context.json and sys.stdin.isatty()
    if not (yes or (asks and typer.confirm("Apply this change?"))):
        if not context.json:
            print_note("not applied; --yes applies the change")
        return False
    await apply(pincite, found.proposal)
    if not context.json:
        print_note("applied; pincite settings undo takes it back")
    return True
