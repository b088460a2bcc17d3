"""Comparisons keep both sides, with the real embedder: in the evidence of a model, and in what is cited without one."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite
from pincite.ingest.accept.collect import collect
from tests.builders import answering

SAMPLES = Path(__file__).parents[2] / "examples" / "documents"
COMPARISONS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("comparisons.json").read_text(encoding="utf-8"))
LEAVE = (
    "# Leave\n\n## Vacation\n\nUp to five vacation days carry over into the next year. They expire on 31 March.\n\n"
    "## Sick leave\n\nA doctor's note is due on the third day of sick leave.\n\n## Parental leave\n\nParental leave ends "
    "when the child is three years old.\n\n## Unpaid leave\n\nUnpaid leave is approved by the head of department.\n"
)
FILES = {
    "leave": LEAVE,
    "leave_copy": LEAVE,
    "travel": "# Travel\n\n## Flights\n\nFlights are booked by the office.\n\n## Trains\n\nTrains are booked in second "
    "class.\n\n## Hotels\n\nA hotel may cost up to 120 euros a night, breakfast included.\n",
    "helios": "# Helios\n\nHelios is led by Ada Brandt. Its budget is 2.4 million euros. It began in 2019.\n",
    "nordwind": "# Nordwind\n\nNordwind is led by Karl Lindner. Its budget is 1.1 million euros. It began in 2021.\n",
    "urlaub": "# Urlaub\n\n## Elternzeit\n\nDie Elternzeit dauert bis zu drei Jahre und wird sieben Wochen vorher "
    "angemeldet.\n\n## Sonderurlaub\n\nFür eine Hochzeit gibt es zwei Tage Sonderurlaub.\n",
}
LEAST = 18
"""Comparisons of twenty with both sides."""

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("built_in_reader")]


class Writer:
    """A model that writes the same whatever it is shown."""

    name, window = "writer", 8192

    async def write(self, _prompt: Prompt) -> AsyncIterator[StreamPart]:
        yield StreamPart("Yes. [Source 1]", finish_reason="stop", model="writer")


def both_sides(comparison: dict[str, Any], texts: list[str]) -> bool:
    return all(any(re.search(side, text) for text in texts) for side in comparison["sides"])


def cited(answer: Answer) -> list[str]:
    places = {source.number: f"{source.document_name} > {' > '.join(source.heading_path)}" for source in answer.sources}
    return [f"{places[one.source]}\n{one.quote}" for one in answer.citations if one.source]


async def shown(pincite: AsyncPincite, answer: Answer) -> list[str]:
    scope, found = await pincite.scope(), list[str]()
    for one in answer.sources:
        text = (await pincite.services.library.text(scope, one.document_id, one.version)).text
        place = f"{one.document_name} > {' > '.join(one.heading_path)}"
        found.append(f"{place}\n{text[one.start_char : one.end_char]}")
    return found


@pytest.fixture(scope="module")
def counted(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[list[str], list[str]]]:
    """By profile: the questions whose evidence has both sides, and those whose answer without a model cites both."""

    async def ask_all() -> dict[str, tuple[list[str], list[str]]]:
        files = tmp_path_factory.mktemp("files")
        for stem, text in FILES.items():
            (files / f"{stem}.md").write_text(text, encoding="utf-8")
        settings = {"data": tmp_path_factory.mktemp("comparisons"), "database.url": module_database_url}
        found: dict[str, tuple[list[str], list[str]]] = {}
        async with AsyncPincite(settings=settings) as pincite:
            await pincite.add_all(collect([SAMPLES, files]))
            for profile in ("default", "adaptive", "vexora"):
                in_evidence, in_citations = found.setdefault(profile, ([], []))
                for comparison in COMPARISONS:
                    question = Question(comparison["question"], profile=profile, fresh=True)
                    with answering(pincite, Writer()):
                        texts = await shown(pincite, await pincite.ask(question))
                    if both_sides(comparison, texts):
                        in_evidence.append(question.text)
                    if both_sides(comparison, cited(await pincite.ask(question))):
                        in_citations.append(question.text)
        return found

    return asyncio.run(ask_all())


@pytest.mark.parametrize("profile", ["default", "adaptive", "vexora"])
def test_both_sides_are_in_the_evidence(counted: dict[str, tuple[list[str], list[str]]], profile: str) -> None:
    assert len(COMPARISONS) == 20
    assert len(counted[profile][0]) == len(COMPARISONS)


@pytest.mark.parametrize("profile", ["default", "adaptive", "vexora"])
def test_both_sides_are_cited_without_a_model(counted: dict[str, tuple[list[str], list[str]]], profile: str) -> None:
    assert len(counted[profile][1]) >= LEAST
