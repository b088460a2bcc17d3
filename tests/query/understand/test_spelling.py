"""Spelling correction of questions."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import hypothesis
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.core.accounts.access import Caller, Scope
from pincite.core.query.question import Filters, Question
from pincite.core.run import Run
from pincite.errors import StoreDown
from pincite.query.pipeline import search
from pincite.query.understand.spelling import MAX_UNKNOWN_WORDS, spelling_correction
from pincite.text.terms import words

TEXT = "Employees carry five vacation days over into the new year; the Kubernetes cluster rests meanwhile."


class MemoryVocabulary:
    """The words of one text, without permissions; `calls` records the lookups."""

    def __init__(self, text: str = TEXT, error: Exception | None = None) -> None:
        self.words, self.error = frozenset(words(text)), error
        self.calls: list[str] = []

    async def known_words(self, words: Collection[str], *, scope: Scope) -> frozenset[str]:
        return self._of(words, "held")

    async def words_in_scope(self, words: Collection[str], *, scope: Scope, filters: Filters) -> frozenset[str]:
        return self._of(words, "among")

    def _of(self, words: Collection[str], call: str) -> frozenset[str]:
        self.calls.append(call)
        if self.error:
            raise self.error
        return self.words.intersection(words)


@pytest.fixture
def corrected(make_run: Callable[..., Run]) -> Callable[..., str | None]:
    def ask(question: str | Question, vocabulary: MemoryVocabulary | None = None, **settings: Any) -> str | None:
        run = make_run(**settings)
        run.kit = replace(run.kit, vocabulary=vocabulary or MemoryVocabulary())
        asked = Question(question) if isinstance(question, str) else question
        return asyncio.run(spelling_correction(run, asked)).corrected

    return ask


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("How many vacaton days are there?", "How many vacation days are there?"),
        ("Does the kubernets cluster rest?", "Does the kubernetes cluster rest?"),
        ("Does the Kubernets cluster rest?", "Does the Kubernetes cluster rest?"),
        ("Vacaton days wtih pay?", "Vacation days with pay?"),
        ("Wie viele Urlaubstage habne Angestellte?", "Wie viele Urlaubstage haben Angestellte?"),
    ],
)
def test_a_misspelt_word_is_corrected(corrected: Callable[..., str | None], asked: str, meant: str) -> None:
    assert corrected(asked) == meant


@pytest.mark.parametrize(
    "asked",
    [
        "How many vacation days are there?",  # nothing is wrong
        "Is there a boring staple?",  # words of the language that no document holds
        "Wer bekam den Ehrenpreis der Stadtwerke?",
        "What does error EMPLOYES_42 mean on vacaton.example.com?",
        'Who said "vacaton days"?',
        "vacaton dayz",  # more than half of it
        "Quelle est la durée du congé payé annuel pour un salarié à temps partiel?",
    ],
)
def test_what_is_no_slip_stays(corrected: Callable[..., str | None], asked: str) -> None:
    assert corrected(asked) is None


def test_a_name_that_is_near_to_two_words_of_the_documents_stays(corrected: Callable[..., str | None]) -> None:
    assert (
        corrected("Who is Quendelbch in the firm?", MemoryVocabulary("Quendelbach"))
        == "Who is Quendelbach in the firm?"
    )
    assert corrected("Who is Quendelbch in the firm?", MemoryVocabulary("Quendelbach, Quendelbuch")) is None


def test_beside_a_corrected_name_what_was_asked_is_searched_too(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit = replace(run.kit, vocabulary=MemoryVocabulary())
    for asked, meant in (
        ("the Kubernets cluster", "the Kubernetes cluster"),
        ("five vacaton days", "five vacation days"),
    ):
        plan, _ = asyncio.run(search(run, Question(asked)))
        assert plan.searched == ((meant, asked) if "Kube" in asked else (meant,))
    whole = Question("And that?", standalone="Does the Kubernets cluster rest?")
    assert asyncio.run(spelling_correction(run, whole)).guessed is False


def test_a_german_word_in_a_question_that_seems_english_stays(corrected: Callable[..., str | None]) -> None:
    assert corrected("Worauf basiert Victorias Verfassung?", MemoryVocabulary("woraus basiert victorias")) is None


def test_where_every_word_is_known_one_question_is_enough(corrected: Callable[..., str | None]) -> None:
    vocabulary = MemoryVocabulary()
    assert corrected("Do employees carry vacation days over?", vocabulary) is None
    assert vocabulary.calls == ["held"]


def test_it_can_be_switched_off(corrected: Callable[..., str | None]) -> None:
    vocabulary = MemoryVocabulary()
    assert corrected("How many vacaton days are there?", vocabulary, spelling__enabled=False) is None
    assert vocabulary.calls == []


def test_what_a_follow_up_means_is_corrected_and_several_texts_are_not(corrected: Callable[..., str | None]) -> None:
    assert corrected(Question("And those?", standalone="How many vacaton days are there?")) == (
        "How many vacation days are there?"
    )
    assert corrected(Question("How many vacaton days are there?", many=True)) is None
    assert corrected(Question("How many vacaton days are there?", also=("days",))) is None


def test_a_question_of_unknown_words_is_not_misspelt(corrected: Callable[..., str | None]) -> None:
    vocabulary = MemoryVocabulary()
    alien = " ".join(f"zq{letter}xvk" for letter in "abcdefghi"[: MAX_UNKNOWN_WORDS + 1])
    assert corrected(f"{alien} vacaton days are there in all of this long question for us", vocabulary) is None
    assert vocabulary.calls == ["held"]


def test_words_of_the_documents_never_change(make_run: Callable[..., Run]) -> None:
    run, word = make_run(), st.text("aeinrst", min_size=1, max_size=7)

    @hypothesis.settings(max_examples=50)
    @given(st.sets(word, min_size=1, max_size=6), st.lists(word, max_size=3), st.randoms(use_true_random=False))
    def holds(known: set[str], others: list[str], order: Random) -> None:
        run.kit = replace(run.kit, vocabulary=MemoryVocabulary(" ".join(known)))
        asked = [*known, *others]
        order.shuffle(asked)
        after = asyncio.run(spelling_correction(run, Question(" ".join(asked)))).search_text.split()
        assert [new for old, new in zip(asked, after, strict=True) if old in known] == [o for o in asked if o in known]

    holds()


def test_a_vocabulary_that_is_down_leaves_the_question_and_a_note(make_run: Callable[..., Run]) -> None:
    run = make_run({1: TEXT}, {1: 0.9}, {1: 0.9})
    run.kit = replace(run.kit, vocabulary=MemoryVocabulary(error=StoreDown("the database is away")))
    plan, hits = asyncio.run(search(run, Question("vacaton days over")))
    assert (plan.text, len(hits)) == ("vacaton days over", 1)
    assert [note.stage for note in run.degraded] == ["spelling_correction"]


def test_the_trace_tells_how_many_words_and_none_of_them(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit = replace(run.kit, vocabulary=MemoryVocabulary())
    asyncio.run(search(run, Question("How many vacaton days are there?")))
    [span] = [one for one in run.spans if one.name == "spelling_correction"]
    assert span.attributes == {"words": 3, "unknown": 2, "corrected": 1}


# --- on a real database ---------------------------------------------------------------------------------------


def test_searches_and_answers_stand_on_the_corrected_question(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "handbook.md").write_text(f"# Handbook\n\n{TEXT}\n", encoding="utf-8")
        async with open_pincite() as pincite:
            await pincite.add(tmp_path / "handbook.md")
            asked = "How many vacaton days do employees carrry over?"
            result = await pincite.search(asked)
            assert result.plan.text == "How many vacation days do employees carry over?"
            answer = await pincite.ask(asked)
            assert answer.metadata.corrected_query == "How many vacation days do employees carry over?"
            assert answer.metadata.rewritten_query is None
            await pincite.remove(result.hits[0].chunk.document_id)
            assert (await pincite.search("Does the kubernets cluster rest?")).plan.question.corrected is None

    asyncio.run(main())


@pytest.mark.parametrize("word", ["wifi", "json", "macos", "uber", "repo", "gmail", "async", "ebike", "matcha"])
def test_a_short_word_that_no_list_has_is_a_word_of_its_own(corrected: Callable[[str], str | None], word: str) -> None:
    assert corrected(f"Who pays for {word} here?") is None


def test_no_word_of_somebody_elses_document_is_ever_suggested(
    open_pincite: Callable[..., Any], database_url: str, tmp_path: Path
) -> None:
    async def main() -> None:
        (tmp_path / "secret.md").write_text("The merger with Quendelbach is planned for autumn.\n", encoding="utf-8")
        (tmp_path / "open.md").write_text("The merger is planned.\n", encoding="utf-8")
        async with open_pincite() as pincite:
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as admin:
                await admin.execute("insert into pincite.person (id, name, role) values ('other', 'Other', 'editor')")
                await admin.execute("insert into pincite.realm (owner) values ('other')")
            other = Caller("other", "editor")
            await pincite.add(tmp_path / "secret.md")
            await pincite.add(tmp_path / "open.md", caller=other)
            asked = "What is planned about the merger with quendelbch in autumm?"
            mine, theirs = await pincite.search(asked), await pincite.search(asked, caller=other)
            assert mine.plan.text == "What is planned about the merger with quendelbach in autumn?"
            assert theirs.plan.text == "What is planned about the merger with quendelbch in autumn?"  # a plain word

    asyncio.run(main())


def test_contractions_without_their_apostrophe_are_no_misspellings(corrected: Callable[..., str | None]) -> None:
    assert corrected("whos in the cluster if we dont rest") == "who's in the cluster if we don't rest"
    assert corrected("Whats the Kubernetes cluster?") == "What's the Kubernetes cluster?"
    assert corrected("im Cluster ruht der Knoten nicht, cant") is None
