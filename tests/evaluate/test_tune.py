"""Tuning proposes a change that is better by construction, and nothing else."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL
from pincite.core.evaluations import AnswerQuestion, EvaluationSet, Place, SetQuestion
from pincite.core.run import Kit
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid
from pincite.evaluate import tune as tuning
from pincite.evaluate.candidates import make_candidates
from pincite.evaluate.compare import Trial
from pincite.evaluate.questions.answer_sets import parse_questions
from pincite.evaluate.tune import Tuning, apply, split, tune
from pincite.providers.scripted import Options, ScriptedLLM

Files = Mapping[str, str]
Marked = Mapping[str, str]
"""Questions with the file that answers each."""

TREES = (
    "alder birch cedar dogwood elm fir ginkgo hazel ivy juniper karri larch maple neem oak palm quince rowan spruce teak"
).split()
WORDS = "harbour lantern meadow orchard pebble quarry ribbon saddle thimble umbrella velvet wagon yonder zephyr".split()


def silent(_progress: object) -> None:
    """Nobody listens."""


async def add_all(pincite: AsyncPincite, files: Files, folder: Path) -> dict[str, str]:
    """Add the files; their ids by name."""
    ids = {}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        ids[name] = (await pincite.add(folder / name)).id
    return ids


async def marked(pincite: AsyncPincite, ids: Mapping[str, str], rows: Marked) -> EvaluationSet:
    """Store a set whose questions are answered by the whole of a file."""
    scope = await pincite.scope()
    served = {one.document_id: one.version for one in await pincite.questions.evaluations.passages(scope, 0, 1000)}
    questions = [
        SetQuestion(text, "phrase", "en", Place(ids[name], 0, 10_000), served[ids[name]], 0)
        for text, name in rows.items()
    ]
    return await pincite.questions.evaluations.keep_set(scope, "words", 0, questions)


@pytest.fixture
def tuned(open_pincite: Callable[..., Any], tmp_path: Path) -> Callable[..., Tuning]:
    """Tunes the search of a library with these documents on these questions."""

    def run(files: Files, rows: Marked, then: Callable[[AsyncPincite, Tuning], Any] | None = None) -> Tuning:
        async def main() -> Tuning:
            async with open_pincite() as pincite:
                questions = await marked(pincite, await add_all(pincite, files, tmp_path), rows)
                found = await tune(pincite, questions, make_candidates(pincite.settings, "search"), report=silent)
                if then is not None:
                    await then(pincite, found)
                return found

        return asyncio.run(main())

    return run


def codes() -> tuple[dict[str, str], dict[str, str]]:
    """Questions with a code that one document has, while many others have all the other words of the question."""
    filler = " ".join(WORDS)
    files = {f"{tree}.md": f"QX{number}{tree} {filler} {tree}\n" for number, tree in enumerate(TREES)}
    files |= {f"decoy{number}.md": f"pressure valve filter {word}{number}\n" for number, word in enumerate(WORDS * 2)}
    files |= {f"weak{number}.md": f"filter {filler} {word}{number} {filler}\n" for number, word in enumerate(WORDS[:4])}
    return files, {f"QX{number}{tree} pressure valve filter": f"{tree}.md" for number, tree in enumerate(TREES)}


def titles() -> tuple[dict[str, str], dict[str, str]]:
    """The best document for each question mentions the title of another, which is nearly as good."""
    files, rows = {}, {}
    for number, tree in enumerate(TREES):
        other = f"{tree.capitalize()} annex"
        word = f"zq{tree}"
        files[f"{tree}.md"] = (
            f"# {tree.capitalize()} paper {number}\n\nThe {word} {WORDS[0]} {WORDS[1]} {WORDS[2]} rule. See {other}.\n"
        )
        files[f"{tree}-annex.md"] = (
            f"# {other}\n\nThe {word} {WORDS[0]} {WORDS[1]} note of {WORDS[3]} and {WORDS[4]}.\n"
        )
        files[f"{tree}-log.md"] = f"{word} {word} {word} {word} {word}\n"
        rows[f"{word} {WORDS[0]} {WORDS[1]} {WORDS[2]} rule"] = f"{tree}.md"
    return files, rows


def plain() -> tuple[dict[str, str], dict[str, str]]:
    """Every second question is answered by a document, the others by one that shares no word with them."""
    files = {
        f"{tree}.md": f"# {tree}\n\nThe {tree} rule of the {WORDS[n % 14]} is number {n}.\n"
        for n, tree in enumerate(TREES)
    }
    asked = {f"What is the {tree} rule?": f"{tree}.md" for tree in TREES[::2]}
    return files, asked | {f"Who wrote the xylo{n} poem?": f"{tree}.md" for n, tree in enumerate(TREES[1::2])}


@pytest.mark.slow
def test_the_change_that_is_better_by_construction_is_proposed_applied_and_undone(tuned: Callable[..., Tuning]) -> None:
    async def use(pincite: AsyncPincite, found: Tuning) -> None:
        assert found.proposal is not None
        await apply(pincite, found.proposal)
        assert pincite.settings.rag.alpha == 0.0
        await pincite.admin.settings.undo(LOCAL)
        assert pincite.settings.rag.alpha == 0.5

    found = tuned(*codes(), use)
    assert found.proposal is not None, found
    assert (found.proposal.before, found.proposal.after) == ({"rag.alpha": 0.5}, {"rag.alpha": 0.0})
    assert found.proposal.chosen.low > 0
    assert found.proposal.confirmed.low > 0
    assert (found.tests, found.measure, found.chosen_on, found.confirmed_on) == ("search", "nDCG@10", 10, 10)
    assert found.proposal.before_ms > 0 < found.proposal.after_ms


@pytest.mark.slow
def test_another_library_gets_another_proposal(tuned: Callable[..., Tuning]) -> None:
    found = tuned(*titles())
    assert found.proposal is not None, found
    assert found.proposal.after == {"rag.follow_titles": 0.0}


@pytest.mark.slow
def test_nothing_is_proposed_where_nothing_is_better(tuned: Callable[..., Tuning]) -> None:
    found = tuned(*plain())
    assert found.proposal is None
    assert found.reason == "no change is better beyond noise"
    assert 0.3 < found.current.value < 0.7
    assert not any(one.difference.verdict == "better" for one in found.tried)


def test_a_model_that_answers_better_is_proposed(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    rows = [{"q": f"What is the {tree} rule?", "gold": [[f"number {n}"]]} for n, tree in enumerate(TREES)]

    async def main() -> Tuning:
        async with open_pincite(grounding__replace_unsupported=False) as pincite:
            await add_all(pincite, plain()[0], tmp_path)
            questions = await pincite.questions.evaluations.import_set(await pincite.scope(), parse_questions(rows))
            make = pincite.services.kit_factory.kit
            good, bad = make(pincite.settings).extractive, ScriptedLLM(Options(answers=("Nobody said so. [Source 1]",)))

            def kit(settings: Settings) -> Kit:
                return replace(make(settings), llm=good if settings.llm.model == "good" else bad)

            pincite.services.kit_factory.kit = kit  # type: ignore[method-assign]
            candidates = make_candidates(
                pincite.settings, "answers", extra=["llm.model=worse", "llm.model=good"], only_extra=True
            )
            return await tune(pincite, questions, candidates, report=silent)

    found = asyncio.run(main())
    assert found.proposal is not None, found
    assert (found.tests, found.measure, found.proposal.after) == ("answers", "right", {"llm.model": "good"})


def trial(*scores: float, ms: float = 10.0) -> Trial:
    return Trial("t", {"right": scores}, (ms,) * len(scores))


def test_a_change_that_the_second_half_does_not_confirm_is_not_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tuple(AnswerQuestion(str(n), f"Question {n}?", gold=(("x",),)) for n in range(20))
    questions = EvaluationSet("es_1", 1, "import", 0, 20, datetime.now(UTC), (), asked)
    results = iter([trial(*[0.0] * 10), trial(*[1.0] * 10), trial(*[0.0] * 10), trial(*[0.0] * 9, 1.0)])

    async def scripted(*_: object) -> Trial:
        return next(results)

    monkeypatch.setattr(tuning, "_try", scripted)
    candidates = make_candidates(Settings(), "answers", extra=["rag.top_k=3"], only_extra=True)
    library = SimpleNamespace(settings=Settings())
    found = asyncio.run(tune(library, questions, candidates, report=silent))  # type: ignore[arg-type]
    assert found.proposal is None
    assert "rag.top_k=3 is better on the first half only" in found.reason
    assert [one.difference.verdict for one in found.tried] == ["better"]


def test_a_much_faster_change_that_is_as_good_is_preferred() -> None:
    slow, fast, middle = make_candidates(
        Settings(), "answers", extra=["rag.top_k=3", "rag.top_k=4", "rag.top_k=5"], only_extra=True
    )
    first, good = trial(*[0.0] * 10), [1.0] * 10
    tried = [(slow, trial(*good, ms=100)), (fast, trial(*good, ms=20)), (middle, trial(*good, ms=90))]
    assert tuning._best(first, tried, "right") == tried[1]
    assert tuning._best(first, [tried[0], tried[2]], "right") == tried[0]
    assert tuning._best(first, [(slow, first)], "right") is None


def test_halves_are_of_the_same_kinds_and_a_small_set_is_refused() -> None:
    asked = tuple(AnswerQuestion(str(n), f"Question {n}?", "who" if n % 3 else "when") for n in range(30))
    questions = EvaluationSet("es_1", 1, "import", 0, 30, datetime.now(UTC), (), asked)
    one, other = split(questions)
    assert (len(one), len(other)) == (15, 15)
    assert [sum(question.kind == "when" for question in half) for half in (one, other)] == [5, 5]
    assert {question.id for question in one}.isdisjoint(question.id for question in other)
    with pytest.raises(Invalid, match="at least 20 questions"):
        split(replace(questions, asked=asked[:19]))
