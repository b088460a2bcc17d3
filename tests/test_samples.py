"""Every sample question, with the real embedder: each citation resolves to its file."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from pincite.core.query.answer import Answer
from pincite.engine.app import AsyncPincite
from pincite.ingest.accept.collect import collect

EXAMPLES = Path(__file__).parent.parent / "examples"
QUESTIONS: list[dict[str, Any]] = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("built_in_reader")]


@pytest.fixture(scope="module")
def answers(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Answer, dict[str, str]]]:
    """The answer to each question, and the normalised text of its sources by version."""

    async def ask_all() -> dict[str, tuple[Answer, dict[str, str]]]:
        settings = {"data": tmp_path_factory.mktemp("samples"), "database.url": module_database_url}
        async with AsyncPincite(settings=settings) as pincite:
            result = await pincite.add_all(collect([EXAMPLES / "documents"]))
            assert [one.document.status for one in result.added] == ["completed"] * len(result.added)
            found = {}
            for question in QUESTIONS:
                answer = await pincite.ask(question["question"])
                scope = await pincite.scope()
                texts = {
                    source.version: (
                        await pincite.services.library.text(scope, source.document_id, source.version)
                    ).text
                    for source in answer.sources
                }
                found[question["question"]] = (answer, texts)
            return found

    return asyncio.run(ask_all())


def squeezed(text: str) -> str:
    return re.sub(r"[\s#>*-]+", "", text)


def test_every_citation_resolves(answers: dict[str, tuple[Answer, dict[str, str]]]) -> None:
    for answer, texts in answers.values():
        assert_citations_resolve(answer, texts)


def assert_citations_resolve(answer: Answer, texts: dict[str, str]) -> None:
    assert bool(answer.citations) == answer.has_relevant_sources or answer.metadata.finish_reason == "no_answer"
    for citation in answer.citations:
        assert citation.matched
        source = answer.sources[citation.source - 1]  # type: ignore[operator]
        assert answer.text[citation.start : citation.end] == citation.text
        assert texts[source.version][citation.quote_start_char : citation.quote_end_char] == citation.quote
        file = EXAMPLES / "documents" / source.document_name
        if file.suffix == ".pdf":
            page = pypdfium2.PdfDocument(file)[citation.page - 1]  # type: ignore[operator]
            row = citation.quote.replace("|", " ")  # tables are Markdown in our text
            assert squeezed(row) in squeezed(page.get_textpage().get_text_range())
        else:
            lines = file.read_text(encoding="utf-8").split("\n")[
                citation.quote_start_line - 1 : citation.quote_end_line
            ]  # type: ignore[operator]
            assert citation.quote in "\n".join(line.rstrip() for line in lines)


def test_most_questions_are_answered_correctly_and_unanswerable_ones_refused(
    answers: dict[str, tuple[Answer, dict[str, str]]],
) -> None:
    right, refused = [], []
    for question in QUESTIONS:
        answer, _ = answers[question["question"]]
        told = answer.text + " ".join(citation.quote for citation in answer.citations)
        if question["answerable"]:
            right.append(any(wanted in told for wanted in question["answer_contains"]))
        else:
            refused.append(not answer.citations)
    assert sum(right) / len(right) >= 0.7
    assert sum(refused) / len(refused) >= 0.6


def test_the_demo_question_is_answered_in_full(answers: dict[str, tuple[Answer, dict[str, str]]]) -> None:
    [demo] = [question for question in QUESTIONS if question.get("demo")]
    answer, _ = answers[demo["question"]]
    assert any(wanted in answer.text for wanted in demo["answer_contains"])
    assert answer.confidence.level == "high"
