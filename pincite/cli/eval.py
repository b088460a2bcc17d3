"""Commands for evaluation: measure search and answers on a question set or on the user's own documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pincite.cli.ask import silence_degradation_log
from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.documents import match_id
from pincite.cli.output import print_json, print_note
from pincite.errors import Invalid, NotFound

if TYPE_CHECKING:
    from pincite.core.evaluations import AnswerQuestion, Evaluation, EvaluationSet
    from pincite.engine.app import AsyncPincite
    from pincite.evaluate.compare import Comparison
    from pincite.evaluate.questions.own_documents import EvalRequest
    from pincite.evaluate.runner import Report
    from pincite.evaluate.variants import Variant

MAX_SEARCHED_RUNS = 1000
"""Recent runs searched for an id prefix."""


class _DefaultToRun(TyperGroup):
    """A command group with the default command `run`: `pincite eval SET`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Prepend `run`, unless the first argument is a command or --help."""
        own = not args or args[0] in self.commands or args[0] == "--help"
        return super().parse_args(ctx, args if own else ["run", *args])


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(
        help="Measure answers (pincite eval FILE) or search (pincite eval SET, pincite eval --auto).",
        rich_markup_mode=None,
        cls=_DefaultToRun,
    )
    command(group, "run")(run)
    command(group, "list")(list_evaluations)
    command(group, "show", ids=True)(show)
    app.add_typer(group, name="eval")


async def run(
    context: CommandContext,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SET]",
            help="Questions with expected answers: a .jsonl file, or a folder with questions.jsonl and docs/. Or a "
            "folder with corpus.jsonl, queries.jsonl and qrels.tsv, plain or .gz. Or the id of a stored set.",
        ),
    ] = None,
    auto: Annotated[
        bool,
        typer.Option(
            "--auto", help="Use questions made from headings and sentences of your documents; measures search only."
        ),
    ] = False,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            metavar="WHAT",
            help="Compare profile=NAME or KEY=VALUE (several separated by commas); repeatable.",
        ),
    ] = None,
    split: Annotated[str, typer.Option("--split", metavar="S", help="Use queries.S.jsonl and qrels.S.tsv.")] = "",
    spans: Annotated[
        bool, typer.Option("--spans", help="Judge passages by gold spans (SET has documents/ and qa.jsonl).")
    ] = False,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep the index of the set there and reuse it.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a report with a plot (.md) or the measures (.json)."),
    ] = None,
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", min=1, max=1000, help="With --auto: number of questions to make.")
    ] = 200,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="With --auto: seed of the question selection.")
    ] = 0,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="WHO",
            help="With --auto: make questions by words or model; default: model if one is configured.",
        ),
    ] = None,
    renew: Annotated[bool, typer.Option("--renew", help="With --auto: make a new set even if there is one.")] = False,
) -> None:
    """Measure answers or search with 95 % intervals, and the latency of a question.

    pincite eval FILE.jsonl asks questions with expected answers and gives the shares of right, partly right, wrong and
    wrongly refused answers; a folder with questions.jsonl and docs/ does so in a temporary library. A folder in BEIR
    layout measures search: nDCG@10, recall and MRR. pincite eval --auto measures search with questions made from your
    documents. Repeated runs show the change since the last one. --compare rag.alpha=.3 rag.alpha=.7 compares settings;
    differences are paired by question.
    """
    sets = [word for word in words or () if "=" not in word]
    wanted = [*(compare or ()), *(word for word in words or () if "=" in word)]
    if len(sets) + auto != 1:
        raise Invalid("give one question set, or --auto (see pincite eval run --help)")
    if wanted and not compare:
        raise Invalid(f"'{wanted[0]}' is not a question set; give settings with --compare or --set")
    name = sets[0] if sets else ""
    if auto or name.startswith("es_") or Path(name).suffix == ".jsonl":
        for given, option in ((split, "--split"), (spans, "--spans"), (keep, "--keep"), (report, "--report")):
            if given:
                raise Invalid(f"{option} requires a folder with a question set")
        await _LibraryEvaluation(context, wanted, _make_request(questions, seed, by), renew, name).run()
    else:
        await _run_set(context, Path(name), _SetOptions(wanted, split, spans, keep, report))


@dataclass(frozen=True, slots=True)
class _SetOptions:
    compare: Sequence[str]
    split: str
    spans: bool
    keep: Path | None
    report: Path | None


async def _run_set(context: CommandContext, folder: Path, options: _SetOptions) -> None:
    from pincite.cli.view.evaluation import print_comparison
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.evaluate.compare import compare
    from pincite.evaluate.measure.span_recall import compare_spans, load_spans
    from pincite.evaluate.questions.answer_sets import is_answer_set
    from pincite.evaluate.questions.datasets import load_set
    from pincite.evaluate.report import check_report, comparison_json, write_report

    if options.report is not None:
        check_report(options.report)
    variants = _read_variants(context, options.compare)
    if is_answer_set(folder) and not options.spans:
        result = await _answer_set(context, folder, variants, options.keep)
        for path in write_report(options.report, result) if options.report else ():
            print_note(f"written: {path}")
        return
    with silence_degradation_log(), progress(quiet=context.json) as report:
        if options.spans:
            result = await compare_spans(load_spans(folder), variants, keep=options.keep, report=report)
        else:
            result = await compare(load_set(folder, options.split), variants, keep=options.keep, report=report)
    if context.json:
        print_json(comparison_json(result))
    else:
        print_comparison(Screen(), result)
    for path in write_report(options.report, result) if options.report else ():
        print_note(f"written: {path}")


async def _answer_set(
    context: CommandContext, folder: Path, variants: "list[Variant]", keep: Path | None
) -> "Comparison":
    """Ask the questions of a folder in a temporary library, and print the shares."""
    from pincite.cli.view.answers import print_answer_comparison
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.evaluate.answers import compare_answers
    from pincite.evaluate.questions.answer_sets import load_answer_set
    from pincite.serialize.evaluations import answer_comparison_json

    questions = load_answer_set(folder)
    with silence_degradation_log(), progress(quiet=context.json) as report:
        result = await compare_answers(questions, variants, keep=keep, report=report)
    if context.json:
        print_json(answer_comparison_json(result))
    else:
        print_answer_comparison(Screen(), result)
    return result.comparison


def _read_variants(context: CommandContext, compare: Sequence[str]) -> "list[Variant]":
    from pincite.evaluate.variants import read_variants

    return read_variants(compare, context.settings, context.chosen)


def _make_request(questions: int, seed: int, by: str | None) -> "EvalRequest":
    from pincite.core.evaluations import MadeBy
    from pincite.evaluate.questions.own_documents import EvalRequest

    return EvalRequest(questions, seed, check_choice(MadeBy, by, "way to make questions"))


@dataclass(frozen=True, slots=True)
class _LibraryEvaluation:
    """One call of `pincite eval` on the user's own library; `name` is a file to import or a set's id, empty for --auto."""

    context: CommandContext
    compare: Sequence[str]
    request: "EvalRequest"
    renew: bool
    name: str

    async def run(self) -> None:
        """Find, import or make the set, run it with each variant, and print the changes."""
        from pincite.cli.view.progress import progress
        from pincite.evaluate.questions.answer_sets import load_questions
        from pincite.tracing.replay import check_changes

        check_changes(self.context.chosen, "an evaluation of your own library")
        imported = load_questions(Path(self.name)) if self.name.endswith(".jsonl") else ()
        with silence_degradation_log():
            async with self.context.open() as pincite:
                with progress(quiet=self.context.json) as report:
                    chosen, notes = await self._set(pincite, imported, report)
                    runs = await self._runs(pincite, chosen, report)
                before = await pincite.questions.evaluations.previous_run(await pincite.scope(), runs[0][1])
        self._print(chosen, runs, before, notes)

    async def _set(
        self, pincite: "AsyncPincite", imported: "Sequence[AnswerQuestion]", report: "Report"
    ) -> "tuple[EvaluationSet, tuple[str, ...]]":
        from pincite.evaluate.questions.own_documents import SEARCH_ONLY, make_set

        stored, scope = pincite.questions.evaluations, await pincite.scope()
        if imported:
            return await stored.import_set(scope, imported), ()
        if self.name:
            return await stored.get_set(scope, self.name), ()
        if not self.renew:
            try:
                return await stored.get_set(scope), (SEARCH_ONLY,)
            except NotFound:
                print_note("making questions from your documents; they are stored for later runs")
        made, notes = await make_set(pincite, self.request, report=report)
        return made, (SEARCH_ONLY, *notes)

    async def _runs(
        self, pincite: "AsyncPincite", chosen: "EvaluationSet", report: "Report"
    ) -> "list[tuple[str, Evaluation]]":
        from pincite.evaluate.questions.own_documents import run_set
        from pincite.evaluate.variants import read_variants

        variants = read_variants(self.compare, pincite.settings, self.context.chosen)
        if any(variant.index != variants[0].index for variant in variants):
            raise Invalid("settings that affect indexing cannot be compared on your own library; use a question set")
        return [(one.name, await run_set(pincite, chosen, one.settings, report=report)) for one in variants]

    def _print(
        self,
        chosen: "EvaluationSet",
        runs: "list[tuple[str, Evaluation]]",
        before: "Evaluation | None",
        notes: tuple[str, ...],
    ) -> None:
        from pincite.cli.view.evaluation import print_runs
        from pincite.cli.view.screen import Screen
        from pincite.serialize.evaluations import runs_json

        if self.context.json:
            print_json(runs_json(chosen, runs, before, notes))
        else:
            print_runs(Screen(), chosen, runs, before)
            for note in notes:
                print_note(note)


async def list_evaluations(
    context: CommandContext,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", metavar="N", min=1, max=MAX_SEARCHED_RUNS, help="Maximum number of runs, newest first."
        ),
    ] = 20,
) -> None:
    """List your question sets and their runs."""
    from pincite.cli.view.evaluation import print_evaluations
    from pincite.cli.view.screen import Screen
    from pincite.serialize.evaluations import (
        evaluation_json,
        evaluation_set_json,
    )
    from pincite.serialize.primitives import page_json

    async with context.open() as pincite:
        scope = await pincite.scope()
        sets = await pincite.questions.evaluations.list_sets(scope)
        runs, following = await pincite.questions.evaluations.list(scope, limit)
    if context.json:
        evaluations = page_json([evaluation_json(one, ranks=False) for one in runs], following)
        print_json({"sets": [evaluation_set_json(one) for one in sets], "evaluations": evaluations})
    else:
        print_evaluations(Screen(), sets, runs)


async def show(
    context: CommandContext,
    evaluation_id: Annotated[
        str, typer.Argument(metavar="ID", help="A run's id, or its first characters (at least 4).")
    ],
) -> None:
    """Show one run: its measures, and the questions with the worst ranks or answers."""
    from pincite.cli.view.evaluation import print_evaluation
    from pincite.cli.view.screen import Screen
    from pincite.serialize.evaluations import asked_questions_json, evaluation_json

    async with context.open() as pincite:
        scope = await pincite.scope()
        runs, _ = await pincite.questions.evaluations.list(scope, MAX_SEARCHED_RUNS)
        found = match_id(evaluation_id, {one.id: one.state for one in runs}, "evaluation", "eval list")
        evaluation = await pincite.questions.evaluations.get(scope, found)
        if evaluation.set_id is None:
            raise NotFound(f"the run '{found}' has no questions yet; see: pincite eval list")
        questions = await pincite.questions.evaluations.get_set(scope, evaluation.set_id)
        documents = await pincite.documents.several([one.place.document_id for one in questions.questions])
    titles = {document.id: document.title for document in documents}
    if context.json:
        print_json(evaluation_json(evaluation, ranks=True) | {"questions": asked_questions_json(evaluation, questions)})
    else:
        print_evaluation(Screen(), evaluation, questions, titles)
