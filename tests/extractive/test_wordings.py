"""Questions in other wordings than the reports, through the whole product without a language model."""

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite

pytestmark = pytest.mark.usefixtures("built_in_reader")

FILES = Path(__file__).parent / "wordings"
MIN_RIGHT = 0.9
"""Share of the answerable questions that must be answered rightly."""


def cases() -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads((FILES / "questions.toml").read_text())["case"]
    return found


SEARCHES = {
    "14.06.2022": "brightwater.md",
    "350 Mio. €": "brightwater.md",
    "5.4 million": "marlow.md",
    "1,250": "nordlicht.md",
    "8. März 2021": "",
}
"""Searches by words alone, each with the report that has these words in another spelling."""


@pytest.fixture(scope="module")
def asked(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Answer], dict[str, str]]:
    """The answers and the first document of each search, in one library with all reports and the default settings."""
    folder = tmp_path_factory.mktemp("wordings")
    for name, text in tomllib.loads((FILES / "reports.toml").read_text()).items():
        (folder / name).write_text(text)

    async def main() -> tuple[dict[str, Answer], dict[str, str]]:
        settings: dict[str, Any] = {"data": folder / "data", "database.url": module_database_url}
        async with AsyncPincite(settings=settings) as pincite:
            for path in sorted(folder.glob("*.md")):
                await pincite.add(path)
            answered = {case["question"]: await pincite.ask(case["question"]) for case in cases()}
            found = {text: await pincite.search(Question(text, strategy="lexical_only")) for text in SEARCHES}
            return answered, {text: result.hits[0].chunk.document_name for text, result in found.items() if result.hits}

    return asyncio.run(main())


@pytest.fixture(scope="module")
def answers(asked: tuple[dict[str, Answer], dict[str, str]]) -> dict[str, Answer]:
    return asked[0]


def is_right(answer: Answer, expected: str) -> bool:
    """Whether an answer says what is expected and quotes it."""
    return expected in answer.text and any(expected in " ".join(one.quote.split()) for one in answer.citations)


def test_equivalent_wordings_are_answered_with_a_citation(answers: dict[str, Answer]) -> None:
    answerable = [case for case in cases() if "answer" in case]
    wrong = {
        case["question"]: answers[case["question"]].text
        for case in answerable
        if not is_right(answers[case["question"]], case["answer"])
    }
    assert len(wrong) <= (1 - MIN_RIGHT) * len(answerable), wrong


@pytest.mark.parametrize("question", [case["question"] for case in cases() if "answer" not in case])
def test_another_period_date_or_currency_is_not_answered(answers: dict[str, Answer], question: str) -> None:
    assert not answers[question].citations, answers[question].text


def test_a_search_by_words_finds_other_spellings(asked: tuple[dict[str, Answer], dict[str, str]]) -> None:
    assert asked[1] == {text: name for text, name in SEARCHES.items() if name}
