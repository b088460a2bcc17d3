"""The keywords of questions, wrong values, streams, and passages opened in their document."""

import asyncio
import dataclasses
import inspect
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import pincite
from pincite import Answered, AsyncPincite, Filters, Invalid, NotFound, Pincite, Question, Started, Token
from pincite.engine.asking import make_question
from pincite.engine.documents import Documents

LEAVE = "# Leave\n\n## Carrying over\n\nUp to five vacation days carry over into the next year.\n"
QUESTION = "How many vacation days carry over?"


@pytest.fixture(scope="module")
def settings(module_database_url: str) -> dict[str, str]:
    return {"database.url": module_database_url, "embedding.provider": "scripted"}


@pytest.fixture(scope="module")
def library(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pincite]:
    place = tmp_path_factory.mktemp("asking")
    (place / "leave.md").write_text(LEAVE, encoding="utf-8")
    (place / "cats.md").write_text("# Cats\n\nFive cats carry vacation days over the fence.\n", encoding="utf-8")
    with Pincite(place / "data", settings=settings) as library:
        library.add(place / "leave.md", folder="hr", tags=["rules"])
        library.add([place / "cats.md"], folder="pets", tags=["animals"])
        yield library


def test_keywords_restrict_questions_searches_and_streams(library: Pincite) -> None:
    cats = library.documents("pets")[0]
    for keywords in ({"folder": "pets"}, {"tags": ["animals"]}, {"documents": [cats]}, {"documents": [cats.id]}):
        found = library.search(QUESTION, **keywords)  # type: ignore[arg-type]
        assert {hit.chunk.document_id for hit in found.hits} == {cats.id}, keywords
        answer = library.ask(QUESTION, **keywords)  # type: ignore[arg-type]
        assert {source.document_id for source in answer.sources} <= {cats.id}, keywords
    assert len(library.search("five vacation days", top_k=1).hits) == 1
    assert library.search(QUESTION, strategy="lexical_only").strategy == "lexical_only"
    assert library.ask(QUESTION, level="basic").intelligence_level == "basic"
    assert library.search(QUESTION, as_of="2001-01-01").hits == ()
    assert library.search(QUESTION, as_of=datetime.now(UTC)).hits


def test_a_level_changes_a_search(library: Pincite) -> None:
    assert make_question(QUESTION, level="maximum").intelligence_level == "maximum"
    assert library.search(QUESTION, level="basic").hits


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"strategy": "best"}, "there are: auto, hybrid"),
        ({"level": "high"}, "there are: basic, standard"),
        ({"tags": "rules"}, r"write \['rules'\]"),
        ({"documents": "abc"}, r"write \['abc'\]"),
        ({"top_k": 0}, "between 1 and 1000"),
        ({"as_of": "yesterday"}, "2026-05-01"),
    ],
)
def test_wrong_values_are_named_with_the_right_ones(library: Pincite, keywords: dict[str, object], said: str) -> None:
    for method in (library.ask, library.search, lambda *a, **k: list(library.stream(*a, **k))):
        with pytest.raises(Invalid, match=said):
            method(QUESTION, **keywords)  # type: ignore[operator]


def test_an_unknown_folder_document_or_tag_is_an_error(library: Pincite) -> None:
    with pytest.raises(NotFound, match="did you mean 'hr'"):
        library.ask(QUESTION, folder="hrr")
    with pytest.raises(NotFound, match="no document has the tag 'none'"):
        library.search(QUESTION, tags=["none"])
    with pytest.raises(NotFound, match="there is no document 'nosuch'"):
        library.search(QUESTION, documents=["nosuch"])


def test_values_of_a_question_are_checked_when_it_is_made() -> None:
    with pytest.raises(Invalid, match="there is no strategy 'bogus'; there are: auto"):
        Question("x", strategy="bogus")  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="filters must be a value of Filters"):
        Question("x", filters={"folder": "hr"})  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="tags must be a list"):
        Filters(tags="contract")  # type: ignore[arg-type]


def test_a_stream_gives_typed_events_and_ends_with_the_answer(library: Pincite) -> None:
    events = list(library.stream(QUESTION, folder="hr"))
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Answered)
    told = "".join(event.text for event in events if isinstance(event, Token))
    assert told == events[-1].answer.text
    assert told.endswith("Up to five vacation days carry over into the next year. [Source 1]")


def test_leaving_a_stream_cancels_the_answer(library: Pincite) -> None:
    def answering() -> list[str]:
        assert library._loop is not None
        tasks = [task.get_coro().__qualname__ for task in asyncio.all_tasks(library._loop)]
        return [name for name in tasks if name.startswith("events_of")]

    events = library.stream(QUESTION)
    assert isinstance(next(events), Started)
    assert len(answering()) == 1
    events.close()  # type: ignore[attr-defined]
    assert answering() == []


def test_an_error_of_a_streamed_question_is_raised(library: Pincite) -> None:
    with pytest.raises(NotFound, match="session"):
        list(library.stream(QUESTION, session="nosuchsession000"))


def test_citations_sources_and_hits_are_opened_in_their_document(library: Pincite) -> None:
    answer = library.ask(QUESTION, folder="hr")
    opened = library.open_passage(answer.citations[0], context=2)
    assert opened.quote == "Up to five vacation days carry over into the next year."
    assert opened.text == "## Carrying over\n\nUp to five vacation days carry over into the next year."
    assert (opened.place, opened.document_name) == ("leave.md, line 5", "leave.md")
    assert (opened.start_line, opened.end_line) == (3, 5)
    assert opened.quote in library.open_passage(answer.sources[0]).text
    hit = library.search(QUESTION, folder="hr").hits[0]
    assert library.open_passage(hit).quote == hit.chunk.text
    with pytest.raises(Invalid, match="open a Citation, a Source or a Hit"):
        library.open_passage("x")  # type: ignore[arg-type]


def test_a_session_is_started_and_continued(library: Pincite) -> None:
    session = library.new_session()
    assert library.ask(QUESTION, session=session).session_id == session


def test_files_are_added_with_tags_one_or_several(library: Pincite, tmp_path: Path) -> None:
    first, second = tmp_path / "one.txt", tmp_path / "two.txt"
    first.write_text("One is a number.\n")
    second.write_text("Two is a number.\n")
    both = library.add([first, str(second)], folder="numbers", tags=["a", "a", "b"])
    assert [(one.name, one.folder, one.tags) for one in both] == [
        ("one.txt", "numbers", ("a", "b")),
        ("two.txt", "numbers", ("a", "b")),
    ]
    again = library.add(first, folder="numbers", tags=["c"])
    assert (again.id, again.tags) == (both[0].id, ("c",))
    assert library.add(first, folder="numbers").tags == ("c",)
    with pytest.raises(Invalid, match="tags must be a list"):
        library.add(first, tags="a")
    with pytest.raises(Invalid, match="use add_all for folders"):
        library.add([first, tmp_path])
    with pytest.raises(NotFound, match="there is no file"):
        library.add([first, tmp_path / "none.txt"], folder="numbers")


def public_methods(kind: type) -> dict[str, inspect.Signature]:
    found = {name: inspect.signature(method) for name, method in inspect.getmembers(kind, inspect.isfunction)}
    return {name: signature for name, signature in found.items() if not name.startswith("_")}


def test_both_apis_have_exactly_the_same_methods_and_signatures() -> None:
    own = public_methods(Pincite)
    others = public_methods(AsyncPincite) | {"documents": inspect.signature(Documents.__call__)}
    assert set(own) == set(others)
    for name, signature in own.items():
        assert signature.parameters == others[name].parameters, name
        if name != "stream":  # an iterator here, an asynchronous iterator there
            assert signature.return_annotation == others[name].return_annotation, name


def returned_values() -> set[type]:
    """Every class that the methods return, with the classes of its fields."""
    seen: set[type] = set()

    def walk(kind: object) -> None:
        if isinstance(kind, type) and kind.__module__.startswith("pincite.") and kind not in seen:
            seen.add(kind)
            if dataclasses.is_dataclass(kind):
                for hint in typing.get_type_hints(kind).values():
                    walk(hint)
        for part in typing.get_args(kind):
            walk(part)

    for kind in (Pincite, AsyncPincite):
        for name in public_methods(kind):
            walk(typing.get_type_hints(getattr(kind, name))["return"])
    return seen


def test_everything_returned_is_exported_and_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    exported = {getattr(pincite, name): name for name in pincite.__all__ if name != "Event"}
    returned = returned_values()
    assert len(returned) > 30
    assert [kind.__name__ for kind in returned if kind not in exported] == []
    assert [
        exported[kind] for kind in returned if f"`{exported[kind]}`" not in page and "Error" not in kind.__name__
    ] == []
