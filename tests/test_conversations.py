"""Conversations of ten turns with pronouns, in German and English, with a restart in the middle."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.question import Exchange, Question
from pincite.errors import NotFound
from pincite.stub import StubLLM

pytestmark = pytest.mark.usefixtures("built_in_reader")

ENGLISH_TEXT = """# Cable car

The cable car runs from 08:10 in winter. In summer the cable car runs from 07:40. A cabin of the cable car carries
twelve people. The cable car is inspected every Wednesday. The cable car is run by Nadja Pfistri. Nadja Pfistri started
in 2011. A ticket for the cable car costs 12 francs.

# Spectrograph

The spectrograph stands below the dome. The spectrograph is cooled with nitrogen. The spectrograph is calibrated twice a
night. Engineers may open the spectrograph.
"""
GERMAN_TEXT = """# Besucherabend

Der Besucherabend findet im Sommer am Donnerstag statt. Im Winter findet der Besucherabend nicht statt. Der
Besucherabend kostet 28 Franken. Für Kinder kostet der Besucherabend 14 Franken. Der Besucherabend fällt bei Sturm aus.
Anmelden kann man sich für den Besucherabend im Büro.

# Schneefräse

Die Schneefräse läuft ab 15 Uhr. Die Schneefräse steht in der Garage. Jonas Brückl bedient die Schneefräse. Die
Schneefräse braucht Diesel.
"""

ENGLISH = [
    ("When does the cable car run in winter?", None, "08:10"),
    ("And in summer?", "When does the cable car run in summer?", "07:40"),
    ("How many people does it carry?", "How many people does the cable car carry?", "twelve"),
    ("When is it inspected?", "When is the cable car inspected?", "Wednesday"),
    ("Who runs it?", "Who runs the cable car?", "Nadja Pfistri"),
    ("When did she start?", "When did Nadja Pfistri start?", "2011"),
    ("How is the spectrograph cooled?", None, "nitrogen"),
    ("How often is it calibrated?", "How often is the spectrograph calibrated?", "twice"),
    ("Who may open it?", "Who may open the spectrograph?", "Engineers"),
    ("What about the cable car?", "Who may open the cable car?", ""),
]
GERMAN = [
    ("Wann findet der Besucherabend im Sommer statt?", None, "Donnerstag"),
    ("Und im Winter?", "Wann findet der Besucherabend im Winter statt?", "nicht statt"),
    ("Was kostet er?", "Was kostet der Besucherabend?", "28 Franken"),
    ("Und für Kinder?", "Was kostet der Besucherabend für Kinder?", "14 Franken"),
    ("Wann fällt er aus?", "Wann fällt der Besucherabend aus?", "Sturm"),
    ("Wo kann ich mich dafür anmelden?", "Wo kann ich mich für den Besucherabend anmelden?", "Büro"),
    ("Wann läuft die Schneefräse?", None, "15 Uhr"),
    ("Wo steht sie?", "Wo steht die Schneefräse?", "Garage"),
    ("Was braucht sie?", "Was braucht die Schneefräse?", "Diesel"),
    ("Wer bedient sie?", "Wer bedient die Schneefräse?", "Jonas Brückl"),
]
TALKS = {"english": (ENGLISH_TEXT, ENGLISH), "german": (GERMAN_TEXT, GERMAN)}


async def talk(open_pincite: Any, tmp_path: Path, text: str, script: list[Any], **settings: Any) -> list[Answer]:
    """Ask all questions in one session; the second half in another engine."""
    (tmp_path / "facts.md").write_text(text, encoding="utf-8")
    answers: list[Answer] = []
    async with open_pincite(**settings) as first:
        await first.add(tmp_path / "facts.md")
        session = (await first.questions.sessions.create(await first.scope())).id
        for asked, _, _ in script[:5]:
            answers.append(await first.ask(Question(asked, session_id=session)))
    async with open_pincite(**settings) as second:
        for asked, _, _ in script[5:]:
            answers.append(await second.ask(Question(asked, session_id=session)))
        kept = await second.questions.sessions.get(await second.scope(), session)
    assert [turn.question for turn in kept.turns] == [asked for asked, _, _ in script]
    assert [turn.answer for turn in kept.turns] == answers
    assert kept.title == script[0][0]
    return answers


@pytest.mark.parametrize("language", TALKS)
def test_ten_turns_without_a_model(open_pincite: Callable[..., Any], tmp_path: Path, language: str) -> None:
    text, script = TALKS[language]
    answers = asyncio.run(talk(open_pincite, tmp_path, text, script))
    assert [answer.metadata.rewritten_query for answer in answers] == [whole for _, whole, _ in script]
    for answer, (asked, _, fact) in zip(answers, script, strict=True):
        assert fact in answer.text, asked


def telling(script: list[Any]) -> list[dict[str, str]]:
    """Rewrites questions as scripted, and answers each with its fact."""
    lines = []
    for asked, whole, fact in script:
        lines.append({"match": rf"Last question: {re.escape(asked)}\n", "say": whole or "must not be asked"})
        lines.append({"match": rf"\A{re.escape(whole or asked)}\Z", "say": f"It is {fact}. [Source 1]"})
    return lines


@pytest.mark.parametrize("language", TALKS)
def test_ten_turns_with_a_model(open_pincite: Callable[..., Any], tmp_path: Path, language: str) -> None:
    text, script = TALKS[language]
    with StubLLM(answers=telling(script)) as stub:
        answers = asyncio.run(
            talk(
                open_pincite,
                tmp_path,
                text,
                script,
                llm__base_url=stub.url,
                llm__model="some-model:12b",
                grounding__replace_unsupported=False,
            )
        )
        bodies = [call.body for call in stub.calls if "messages" in call.body]
    assert [answer.metadata.rewritten_query for answer in answers] == [whole for _, whole, _ in script]
    rewrites = [body for body in bodies if "Last question: " in body["messages"][-1]["content"]]
    assert len(rewrites) == sum(whole is not None for _, whole, _ in script)
    last = [body for body in bodies if body not in rewrites][-1]["messages"]
    assert last[-1]["content"] == script[-1][1]
    told = [message["content"] for message in last if message["role"] == "user"][:-1]
    assert told == [asked for asked, _, _ in script[:9]]  # ten turns are remembered by a model of this size
    said = [message["content"] for message in last if message["role"] == "assistant"]
    assert said == [f"It is {fact}." for _, _, fact in script[:9]]


TOURS_TEXT = """# Führungen

Eine Führung kostet 28 Franken. An einer Führung dürfen höchstens 18 Personen teilnehmen. Diese Regel gilt seit dem
1. Juni 2024.

# Sommerfest 2024

Das Sommerfest 2024 findet am 17. August statt. Der Parkplatz hat 40 Plätze.
"""
TOURS = [
    ("Wann findet das Sommerfest 2024 statt?", None),
    ("Wie viele Plätze hat der Parkplatz?", None),
    ("Und wie viele Personen dürfen an einer Führung teilnehmen?", "Wie viele Plätze hat der Parkplatz? {asked}"),
    ("Seit wann gilt das?", "Wie viele Personen dürfen an einer Führung teilnehmen? {asked}"),
]
GLUED = [
    {"match": "Last question: Und wie viele", "say": f"{TOURS[2][0][:-1]} (Sommerfest 2024)?"},
    {
        "match": "Last question: Seit wann",
        "say": "Seit wann gilt das (Und wie viele Personen dürfen an einer Führung)?",
    },
    {"match": ".", "say": "Höchstens 18 Personen dürfen an einer Führung teilnehmen. [Source 1]"},
]


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("model", ["", "qwen2.5-coder:1.5b", "some-model:12b"])
def test_no_earlier_question_is_added_in_brackets(
    open_pincite: Callable[..., Any], tmp_path: Path, mode: Any, model: str
) -> None:
    async def go(**settings: Any) -> list[str | None]:
        (tmp_path / "tours.md").write_text(TOURS_TEXT, encoding="utf-8")
        async with open_pincite(**settings) as pincite:
            await pincite.add(tmp_path / "tours.md")
            session = (await pincite.questions.sessions.create(await pincite.scope())).id
            asked = [Question(text, session_id=session, mode=mode) for text, _ in TOURS]
            return [(await pincite.ask(one)).metadata.rewritten_query for one in asked]

    with StubLLM(answers=GLUED) as stub:
        rewritten = asyncio.run(go(**({"llm__base_url": stub.url, "llm__model": model} if model else {})))
    by_words = [whole and whole.format(asked=asked) for asked, whole in TOURS]
    assert rewritten == (by_words if model != "some-model:12b" else [None] * 4)  # a doubtful rewriting is not used


def test_a_conversation_sent_by_the_caller_is_used_too(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        (tmp_path / "facts.md").write_text(ENGLISH_TEXT, encoding="utf-8")
        async with open_pincite() as pincite:
            await pincite.add(tmp_path / "facts.md")
            before = tuple(Exchange(asked, asked, "") for asked, _, _ in ENGLISH[:2])
            answer = await pincite.ask(Question("How many people does it carry?", conversation=before))
            assert answer.metadata.rewritten_query == "How many people does the cable car carry?"
            assert answer.session_id is None
            assert (await pincite.services.sessions.list(await pincite.scope()))[0] == []

    asyncio.run(go())


def test_an_unknown_session_is_not_found(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            with pytest.raises(NotFound, match="no session 's_none'"):
                await pincite.ask(Question("x", session_id="s_none"))

    asyncio.run(go())


def test_removing_a_document_removes_its_answers_from_conversations(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    async def go() -> None:
        (tmp_path / "facts.md").write_text(ENGLISH_TEXT, encoding="utf-8")
        async with open_pincite() as pincite:
            document = await pincite.add(tmp_path / "facts.md")
            scope = await pincite.scope()
            session = (await pincite.services.sessions.create(scope)).id
            answer = await pincite.ask(Question("When does the cable car run in winter?", session_id=session))
            assert "08:10" in answer.text
            receipt = await pincite.remove(document.id)
            assert receipt.quotes >= 2
            assert receipt.verified
            [turn] = (await pincite.services.sessions.get(scope, session)).turns
            assert turn.removed
            assert "08:10" not in str(turn)  # the embedded answerer's words are the document's own

    asyncio.run(go())
