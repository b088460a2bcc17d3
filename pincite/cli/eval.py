"""Evaluation: is search any good, on a question set or on one's own documents?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pincite.cli.ask import notes_in_the_result
from pincite.cli.command import CommandContext, command, one_of
from pincite.cli.documents import pick
from pincite.cli.output import print_json, remark
from pincite.errors import Invalid, NotFound

if TYPE_CHECKING:
    from pincite.core.evaluations import Evaluation, EvaluationSet
    from pincite.engine.app import AsyncPincite
    from pincite.evaluate.questions.own_documents import EvalRequest
    from pincite.evaluate.runner import Report
    from pincite.evaluate.variants import Variant

RECENT = 1000
"""Runs looked through for the first characters of an id."""


class _RunUnlessNamed(TyperGroup):
    """A group whose first word may also be what `run` takes: `pincite eval SET`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` in front, unless a command or help is asked for."""
        own = not args or args[0] in self.commands or args[0] == "--help"
        return super().parse_args(ctx, args if own else ["run", *args])


def register(app: typer.Typer) -> None:
    """Make these a group of commands of `app`."""
    group = typer.Typer(
        help="Measure search on a question set (pincite eval SET) or on your own documents (pincite eval --auto).",
        rich_markup_mode=None,
        cls=_RunUnlessNamed,
    )
    command(group, "run")(run)
    command(group, "list")(list_evaluations)
    command(group, "show", ids=True)(show)
    app.add_typer(group, name="eval")


async def run(
    door: CommandContext,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SET]", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv, plain or .gz."),
    ] = None,
    auto: Annotated[
        bool, typer.Option("--auto", help="Questions made from your own documents, kept for the next time.")
    ] = False,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare", metavar="WHAT", help="profile=NAME or KEY=VALUE (commas between several); repeatable."
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", metavar="S", help="Ask queries.S.jsonl, judged by qrels.S.tsv.")
    ] = "",
    spans: Annotated[
        bool, typer.Option("--spans", help="Judge passages by gold spans (SET has documents/ and qa.jsonl).")
    ] = False,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep the set's index there and use it again.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a page with a plot (.md) or the figures (.json)."),
    ] = None,
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", min=1, max=1000, help="With --auto: how many to make.")
    ] = 200,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="With --auto: another seed, other questions.")
    ] = 0,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="WHO", help="With --auto: words or model; the model where one is configured."),
    ] = None,
    renew: Annotated[bool, typer.Option("--renew", help="With --auto: make a new set, though there is one.")] = False,
) -> None:
    """Measure search: nDCG@10, recall, MRR with 95 % intervals, and the time a question takes.

    pincite eval SET asks the questions of a folder in BEIR layout, in a library made for the occasion;
    pincite eval --auto asks ones made from your own documents, and says what changed since the last time.
    --compare rag.alpha=.3 rag.alpha=.7 tries several settings; differences are taken question by question.
    """
    folders = [word for word in words or () if "=" not in word]
    wanted = [*(compare or ()), *(word for word in words or () if "=" in word)]
    if len(folders) + auto != 1:
        raise Invalid("name one folder with a question set, or ask for --auto (see pincite eval run --help)")
    if wanted and not compare:
        raise Invalid(f"'{wanted[0]}' is no folder; settings to try go after --compare or --set")
    if auto:
        task = _Auto(door, wanted, _wish(questions, seed, by), renew)
        for given, name in ((split, "--split"), (spans, "--spans"), (keep, "--keep"), (report, "--report")):
            if given:
                raise Invalid(f"{name} goes with a question set, not with --auto")
        await task.run()
    else:
        await _run_set(door, Path(folders[0]), _SetOptions(wanted, split, spans, keep, report))


@dataclass(frozen=True, slots=True)
class _SetOptions:
    compare: Sequence[str]
    split: str
    spans: bool
    keep: Path | None
    report: Path | None


async def _run_set(door: CommandContext, folder: Path, options: _SetOptions) -> None:
    from pincite.cli.view.evaluation import print_comparison
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.evaluate.compare import compare
    from pincite.evaluate.measure.span_recall import compare_spans, load_spans
    from pincite.evaluate.questions.datasets import load_set
    from pincite.evaluate.report import check_report, comparison_json, write_report

    if options.report is not None:
        check_report(options.report)
    variants = _variants(door, options.compare)
    with notes_in_the_result(), progress(quiet=door.json) as report:
        if options.spans:
            result = await compare_spans(load_spans(folder), variants, keep=options.keep, report=report)
        else:
            result = await compare(load_set(folder, options.split), variants, keep=options.keep, report=report)
    if door.json:
        print_json(comparison_json(result))
    else:
        print_comparison(Screen(), result)
    for path in write_report(options.report, result) if options.report else ():
        remark(f"written: {path}")


def _variants(door: CommandContext, compare: Sequence[str]) -> "list[Variant]":
    from pincite.evaluate.variants import read_variants

    return read_variants(compare, door.settings, door.chosen)


def _wish(questions: int, seed: int, by: str | None) -> "EvalRequest":
    from pincite.core.evaluations import MadeBy
    from pincite.evaluate.questions.own_documents import EvalRequest

    return EvalRequest(questions, seed, one_of(MadeBy, by, "way to make questions"))


@dataclass(frozen=True, slots=True)
class _Auto:
    """One call of `pincite eval --auto`."""

    door: CommandContext
    compare: Sequence[str]
    wish: "EvalRequest"
    renew: bool

    async def run(self) -> None:
        """Find or make the set, run it with each thing to compare, and tell what changed."""
        from pincite.cli.view.progress import progress
        from pincite.tracing.replay import check_changes

        check_changes(self.door.chosen, "an evaluation of your own library")
        with notes_in_the_result():
            async with self.door.open() as pincite:
                with progress(quiet=self.door.json) as report:
                    chosen, notes = await self._set(pincite, report)
                    runs = await self._runs(pincite, chosen, report)
                before = await pincite.questions.evaluations.previous_run(await pincite.scope(), runs[0][1])
        self._tell(chosen, runs, before, notes)

    async def _set(self, pincite: "AsyncPincite", report: "Report") -> "tuple[EvaluationSet, tuple[str, ...]]":
        from pincite.evaluate.questions.own_documents import make_set

        if not self.renew:
            try:
                return await pincite.questions.evaluations.get_set(await pincite.scope()), ()
            except NotFound:
                remark("making questions from your documents; they are kept for the next time")
        return await make_set(pincite, self.wish, report=report)

    async def _runs(
        self, pincite: "AsyncPincite", chosen: "EvaluationSet", report: "Report"
    ) -> "list[tuple[str, Evaluation]]":
        from pincite.evaluate.questions.own_documents import run_set
        from pincite.evaluate.variants import read_variants

        variants = read_variants(self.compare, pincite.settings, self.door.chosen)
        if any(variant.index != variants[0].index for variant in variants):
            raise Invalid("what acts on indexing cannot be tried on your own library; try it on a question set")
        return [(one.name, await run_set(pincite, chosen, one.settings, report=report)) for one in variants]

    def _tell(
        self,
        chosen: "EvaluationSet",
        runs: "list[tuple[str, Evaluation]]",
        before: "Evaluation | None",
        notes: tuple[str, ...],
    ) -> None:
        from pincite.cli.view.evaluation import print_runs
        from pincite.cli.view.screen import Screen
        from pincite.serialize import evaluations as shapes

        if self.door.json:
            print_json(shapes.runs(chosen, runs, before, notes))
        else:
            print_runs(Screen(), chosen, runs, before)
            for note in notes:
                remark(note)


async def list_evaluations(
    door: CommandContext,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=RECENT, help="How many, newest first.")] = 20,
) -> None:
    """List the question sets made from your documents, and the runs of them."""
    from pincite.cli.view.evaluation import print_evaluations
    from pincite.cli.view.screen import Screen
    from pincite.serialize import evaluations as shapes

    async with door.open() as pincite:
        scope = await pincite.scope()
        sets = await pincite.questions.evaluations.list_sets(scope)
        runs, following = await pincite.questions.evaluations.list(scope, limit)
    if door.json:
        evaluations = shapes.page([shapes.evaluation(one, ranks=False) for one in runs], following)
        print_json({"sets": [shapes.evaluation_set(one) for one in sets], "evaluations": evaluations})
    else:
        print_evaluations(Screen(), sets, runs)


async def show(
    door: CommandContext,
    evaluation_id: Annotated[
        str, typer.Argument(metavar="ID", help="A run's id, or its first characters (at least 4).")
    ],
) -> None:
    """Show one run: its figures, and the questions whose passage did not come first, the worst on top."""
    from pincite.cli.view.evaluation import print_evaluation
    from pincite.cli.view.screen import Screen
    from pincite.serialize import evaluations as shapes

    async with door.open() as pincite:
        scope = await pincite.scope()
        runs, _ = await pincite.questions.evaluations.list(scope, RECENT)
        found = pick(evaluation_id, {one.id: one.state for one in runs}, "evaluation", "eval list")
        evaluation = await pincite.questions.evaluations.get(scope, found)
        if evaluation.set_id is None:
            raise NotFound(f"the questions of '{found}' are still being made, or never were; see: pincite eval list")
        questions = await pincite.questions.evaluations.get_set(scope, evaluation.set_id)
        documents = await pincite.documents.several([one.place.document_id for one in questions.questions])
    titles = {document.id: document.title for document in documents}
    if door.json:
        print_json(shapes.evaluation(evaluation, ranks=True) | {"questions": shapes.asked(evaluation, questions)})
    else:
        print_evaluation(Screen(), evaluation, questions, titles)
