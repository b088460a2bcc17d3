"""Passages between retrieval and answer: through the engine, the store and a model server."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.question import Question
from pincite.errors import Invalid, ProviderError
from pincite.stub.thread import StubLLM

LEAVE = "# Leave\n\nFive vacation days carry over into the next year.\n"
FILES = {
    "leave.md": LEAVE,
    "copy.md": LEAVE.replace("vacation days carry", "vacation  days carry"),
    "guide.md": "# Guide\n\n## Glossary\n\nVacation days: vacation days that carry over.\n\n## Table of contents\n\n"
    "- [Vacation days carry over](#a)\n- [Next year](#b)\n",
    "zebra.md": "# Zebra\n\nA zebra has stripes. They confuse flies.\n\n## Food\n\nA zebra eats grass all day.\n",
}
ASKED = "How many vacation days carry over?"
NOTHING = {"rag.similarity_threshold": 0.0, "rag.verification_enabled": False}


@pytest.fixture
def asking(open_pincite: Callable[..., Any], tmp_path: Path, run_async: Callable[..., Any]) -> Callable[..., Any]:
    """Add the files and run a coroutine that asks."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def run(ask: Callable[[Any], Any], **settings: Any) -> Any:
        async def main() -> Any:
            async with open_pincite(**settings) as pincite:
                for name in FILES:
                    await pincite.add(tmp_path / name)
                return await ask(pincite)

        return run_async(main())

    return run


def with_changes(**changes: Any) -> Question:
    return Question(ASKED, changes=tuple((key.replace("__", "."), value) for key, value in changes.items()))


def documents(found: Sequence[Any]) -> list[str]:
    return [one.document_name for one in found]


def test_label_penalties_of_the_settings_apply_to_a_search(asking: Callable[..., Any]) -> None:
    async def ask(pincite: Any) -> None:
        hits = {hit.chunk.content_type: hit for hit in (await pincite.search(ASKED)).hits}
        for kind, amount in (("glossary", 0.3), ("contents", 0.5)):
            [step] = hits[kind].adjustments
            assert (step.amount, step.before) == (amount, hits[kind].hybrid_score)
            assert hits[kind].score == pytest.approx((1 - amount) * hits[kind].hybrid_score)
        free = await pincite.search(with_changes(rag__penalties__glossary=0.0, rag__penalties__contents=0.0))
        assert not any(hit.adjustments for hit in free.hits)

    asking(ask)


def test_duplicates_are_removed_and_listed(asking: Callable[..., Any]) -> None:
    async def ask(pincite: Any) -> None:
        once = (await pincite.search(ASKED)).hits
        [(best, twin)] = [(hit.chunk, *hit.also_in) for hit in once if hit.also_in]
        assert {best.document_name, twin.document_name} == {"leave.md", "copy.md"}
        every = await pincite.search(with_changes(rag__drop_duplicates=False))
        assert len(every.hits) == len(once) + 1
        answer = await pincite.ask(ASKED)
        assert len({"leave.md", "copy.md"} & set(documents(answer.sources))) == 1
        named = {one.document_id for one in answer.related_documents}
        assert {best.document_id, twin.document_id} <= named

    asking(ask)


def test_a_request_can_change_only_request_settings(asking: Callable[..., Any]) -> None:
    async def ask(pincite: Any) -> None:
        with pytest.raises(Invalid, match=r"'llm\.base_url' is not a setting that a request can change"):
            await pincite.ask(with_changes(llm__base_url="http://example.org"))
        with pytest.raises(Invalid, match=r"rag\.expansion\.max_documents"):
            await pincite.ask(with_changes(rag__expansion__max_documents=0))

    asking(ask)


def test_documents_are_expanded_where_the_request_says_so(asking: Callable[..., Any]) -> None:
    question = "What confuses flies?"

    async def ask(pincite: Any) -> None:
        def zebra(answer: Answer) -> int:
            return documents(answer.sources).count("zebra.md")

        narrow = {"rag.top_k": 1, **NOTHING}
        plain = await pincite.ask(Question(question, changes=tuple(narrow.items())))
        wide = {**narrow, "rag.expansion.enabled": True, "rag.expansion.threshold": 0.0}
        assert (zebra(plain), zebra(await pincite.ask(Question(question, changes=tuple(wide.items()))))) == (1, 2)

    asking(ask)


def test_a_failed_expansion_is_skipped_and_reported(asking: Callable[..., Any]) -> None:
    async def ask(pincite: Any) -> None:
        async def broken(*_: Any, **__: Any) -> list[Any]:
            raise ProviderError("no such luck")

        index = pincite.services.tools.index

        def fragile(rag: Any) -> Any:
            made = index(rag)
            made.nearest_in_documents = broken
            return made

        pincite.services.tools = _Tools(pincite.services.tools, fragile)
        answer = await pincite.ask(with_changes(rag__expansion__enabled=True))
        assert [(note.stage, note.reason) for note in answer.degraded] == [("document_expansion", "no such luck")]
        assert "Five vacation days" in answer.text

    asking(ask)


class _Tools:
    """Index tools that build another index."""

    def __init__(self, inner: Any, index: Callable[[Any], Any]) -> None:
        self._inner = inner
        self.index = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_the_model_verifies_all_passages_in_one_call(asking: Callable[..., Any]) -> None:
    with StubLLM(answers=[]) as stub:

        async def ask(pincite: Any) -> None:
            found = await pincite.ask(with_changes(**NOTHING))
            count = len(found.sources)
            verdicts = "\n".join(f"{n}: {'yes' if n == 1 else 'no'}" for n in range(1, count + 1))
            stub.play(answers=[verdicts])
            changes = {"rag.similarity_threshold": 0.0, "rag.verification_by": "model"}
            answer = await pincite.ask(with_changes(**changes))
            assert answer.degraded == ()
            assert documents(answer.sources) == documents(found.sources)[:1]
            assert len(stub.calls) == 2  # the verdicts, and the answer
            stub.play(answers=["I would rather not say."])
            doubted = await pincite.ask(replace(with_changes(**changes), fresh=True))
            assert [note.stage for note in doubted.degraded] == ["model_verification"]
            assert len(doubted.sources) >= 1

        asking(ask, llm__base_url=stub.url)


def test_without_a_model_rules_verify_passages_and_that_is_reported(asking: Callable[..., Any]) -> None:
    async def ask(pincite: Any) -> None:
        answer = await pincite.ask(with_changes(rag__verification_by="model"))
        assert [note.stage for note in answer.degraded] == ["model_verification"]
        assert "Five vacation days" in answer.text

    asking(ask)


def test_source_numbers_follow_the_order_of_the_prompt(asking: Callable[..., Any]) -> None:
    with StubLLM(behaviour="echo") as stub:

        async def ask(pincite: Any) -> None:
            plain = await pincite.ask(with_changes(**NOTHING))
            mixed = await pincite.ask(with_changes(**NOTHING, context__order="sandwich"))
            first, second, *_ = [source.chunk_id for source in plain.sources]
            order = [source.chunk_id for source in mixed.sources]
            assert (order[0], order[-1]) == (first, second)
            shown = str(stub.calls[-1].body["messages"])
            places = [shown.index(f"[Source {source.number}] {source.title}") for source in mixed.sources]
            assert places == sorted(places)

        asking(ask, llm__base_url=stub.url)
