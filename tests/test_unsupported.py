"""Answers of a model that the documents do not support: through the engine, the store and a model server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.question import Question
from pincite.core.run import Event, Token
from pincite.stub.thread import StubLLM

pytestmark = pytest.mark.usefixtures("built_in_reader")

DOME = """# Dome errors

| Code | Meaning | What to do |
|---|---|---|
| E-11 | Shutter jammed | Close and open once; never push by hand |
| E-14 | Battery low | Charge the battery for four hours |
| E-19 | Wind sensor lost | Park the telescope |
"""
NIGHTS = (
    "# Nights\n\n| Month | Usable nights | Visitors |\n|---|---|---|\n| October | 19 | 151 |\n| November | 9 | 140 |\n"
)
ASKED = "What should I do when error E-14 appears?"
WRONG = "Close and open once; never push by hand [Source 1]"

Asking = Callable[..., tuple[Answer, list[dict[str, Any]], str]]


@pytest.fixture
def asking(open_pincite: Callable[..., Any], tmp_path: Path, run_async: Callable[..., Any]) -> Asking:
    """Ask one question of a scripted model; the answer, the calls of the model and the streamed text."""
    (tmp_path / "dome.md").write_text(DOME)
    (tmp_path / "nights.md").write_text(NIGHTS)

    def run(script: dict[str, Any], question: str = ASKED, **settings: Any) -> tuple[Answer, list[dict[str, Any]], str]:
        streamed: list[str] = []

        def listen(event: Event) -> None:
            if isinstance(event, Token):
                streamed.append(event.text)

        async def main(url: str) -> Answer:
            async with open_pincite(
                llm__provider="openai_compatible", llm__base_url=url, llm__model="small-1", **settings
            ) as pincite:
                for name in ("dome.md", "nights.md"):
                    await pincite.add(tmp_path / name)
                answer: Answer = await pincite.ask(Question(question), listen=listen)
                return answer

        with StubLLM(**script) as stub:
            answer = run_async(main(stub.url))
            return (
                answer,
                [dict(call.body) for call in stub.calls if call.path.endswith("completions")],
                "".join(streamed),
            )

    return run


def test_a_row_of_another_code_is_replaced_by_the_right_row(asking: Asking) -> None:
    answer, _, streamed = asking({"answers": [{"say": WRONG}]})
    assert streamed == WRONG
    assert "Charge the battery for four hours" in answer.text
    assert "E-11" not in answer.text
    assert (answer.metadata.model, answer.metadata.replaced_model) == ("extractive", "small-1")
    assert "is about E-11, the question is about E-14" in answer.warnings[0]
    assert answer.citations[0].quote.startswith("| E-14 |")


def test_it_is_shown_with_its_fault_where_the_setting_says_so(asking: Asking) -> None:
    answer, _, _ = asking({"answers": [{"say": WRONG}]}, grounding__replace_unsupported=False)
    assert (answer.text, answer.metadata.replaced_model) == (WRONG, None)
    assert answer.citations[0].reason == "is about E-11, the question is about E-14"
    assert answer.confidence.level == "low"


def test_a_number_with_the_noun_of_its_column_is_supported(asking: Asking) -> None:
    answer, _, _ = asking(
        {"answers": [{"say": "19 nights [Source 1]"}]}, "How many usable nights were there in October?"
    )
    assert (answer.text, answer.metadata.replaced_model) == ("19 nights [Source 1]", None)
    assert answer.citations[0].support >= 0.5
    assert answer.citations[0].quote.startswith("| October |")


@pytest.mark.parametrize("faults", [[], ["noschema"]])
def test_verdicts_are_asked_for_by_a_schema_and_without_where_it_is_rejected(asking: Asking, faults: list[str]) -> None:
    script = {
        "faults": faults,
        "answers": [
            {"match": "bear out claims", "say": '{"1": "yes"}' if not faults else "1: yes"},
            {"say": "Charge the battery for four hours. [Source 1]"},
        ],
    }
    answer, calls, _ = asking(script, grounding__judge="model")
    assert answer.degraded == ()
    assert answer.citations[0].support >= 0.9
    formats = ["response_format" in body for body in calls]
    assert formats == ([False, True] if not faults else [False, True, False])
