import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pincite.core.documents.document import ReadRequest, Status, Upload
from pincite.core.query.question import Filters, Question
from pincite.core.run import Answered, Event
from pincite.core.traces import Content, TraceFilter
from pincite.errors import (
    Invalid,
    NotFound,
    ProviderBusy,
    ProviderError,
    SettingsError,
    StoreDown,
    Unreadable,
    Unsupported,
)
from pincite.ingest.accept.collect import collect
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedLLM
from tests.builders import answering

CATS = "# Cats\n\nCats purr when they are content. They sleep for sixteen hours a day.\n"
DOGS = "# Hunde\n\nHunde bellen, wenn jemand an der Tür ist. Sie brauchen täglich Auslauf.\n"


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def test_from_files_to_a_cited_answer(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            result = await pincite.add_all(collect([write(tmp_path / "docs", cats=CATS, dogs=DOGS)]))
            assert [(one.document.name, one.document.status, one.outcome) for one in result.added] == [
                ("cats.md", Status.COMPLETED, "new"),
                ("dogs.md", Status.COMPLETED, "new"),
            ]
            answer = await pincite.ask("Why do cats purr?")
            [citation] = answer.citations
            text = await pincite.services.library.text(await pincite.scope(), answer.sources[0].document_id)
            assert text.text[citation.quote_start_char : citation.quote_end_char] == citation.quote
            assert citation.quote in CATS.splitlines()[citation.quote_start_line - 1]
            assert "bellen" in (await pincite.ask("Wann bellen Hunde?")).text

    asyncio.run(go())


def test_adding_again_changes_nothing_and_one_change_is_one_version(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    async def go() -> None:
        folder = write(tmp_path / "docs", cats=CATS, dogs=DOGS)
        async with open_pincite() as pincite:
            await pincite.add_all(collect([folder]))
            assert {one.outcome for one in (await pincite.add_all(collect([folder]))).added} == {"unchanged"}
            write(folder, cats=CATS.replace("sixteen", "fifteen"))
            again = await pincite.add_all(collect([folder]))
            assert sorted(one.outcome for one in again.added) == ["new_version", "unchanged"]
            hits = (await pincite.search("how many hours do cats sleep")).hits
            assert ["fifteen" in hit.chunk.text for hit in hits if hit.chunk.document_name == "cats.md"] == [True]

    asyncio.run(go())


def test_adding_again_finishes_what_was_interrupted(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.documents.upload(Upload("cats.md", CATS.encode()))
        write(tmp_path, cats=CATS)
        async with open_pincite() as pincite:
            assert (await pincite.add(tmp_path / "cats.md")).status == Status.COMPLETED

    asyncio.run(go())


def test_a_changed_document_reuses_embeddings_of_unchanged_chunks(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    embedded: list[str] = []

    class Counting(ScriptedEmbedder):
        async def embed(self, texts: Any, *, as_query: bool) -> list[list[float]]:
            embedded.extend(texts)
            return await super().embed(texts, as_query=as_query)

    async def go() -> None:
        path = tmp_path / "long.md"
        parts = [f"# Part {n}\n\nThis part is about number {n}.\n" for n in range(10)]
        path.write_text("\n".join(parts), encoding="utf-8")
        async with open_pincite() as pincite:
            pincite.services.workers._current_kit().bulk_embedder._embedder = Counting(Options())
            await pincite.add(path)
            assert len(embedded) == 10
            path.write_text("\n".join([*parts[:9], "# Part 9\n\nChanged.\n"]), encoding="utf-8")
            await pincite.add(path)
            assert len(embedded) == 11

    asyncio.run(go())


def test_a_removed_document_is_not_found(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            cats = await pincite.add(write(tmp_path, cats=CATS) / "cats.md")
            receipt = await pincite.remove(cats.id)
            assert receipt.verified
            assert (await pincite.search("cats purr")).hits == ()
            assert (await pincite.ask("Why do cats purr?")).sources == ()
            with pytest.raises(NotFound):
                await pincite.documents.read(ReadRequest(document_id=cats.id))

    asyncio.run(go())


def test_reading_by_source_and_by_section(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            upload = Upload("cats.md", CATS.encode(), source_uri="https://example.org/cats")
            added = await pincite.documents.upload(upload)
            pincite.services.workers.start()
            await pincite.documents.wait([added.document.id])
            read = await pincite.documents.read(ReadRequest(source_uri="https://example.org/cats", section="Cats"))
            assert read.content.startswith("# Cats")
            with pytest.raises(NotFound, match="source"):
                await pincite.documents.read(ReadRequest(source_uri="https://example.org/dogs"))

    asyncio.run(go())


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.md", b"", Invalid),
        ("a.exe", b"MZ", Unsupported),
        ("a.md", b"\x00\x01\x02", Unsupported),
        ("../a.md", b"x", Invalid),
        ("a" * 4000 + ".md", b"x", Invalid),
        ("a\0.md", b"x", Invalid),
    ],
)
def test_a_refused_upload_leaves_nothing(open_pincite: Callable[..., Any], name: str, data: bytes, kind: type) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            with pytest.raises(kind):
                await pincite.documents.upload(Upload(name, data))
            assert await pincite.documents.all() == []
            assert list((pincite.settings.data / "files").glob("*/*/*")) == []

    asyncio.run(go())


def test_many_uploads_are_accepted_together_and_a_refused_one_stops_no_other(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            uploads = [Upload(f"{n}.md", f"The heron number {n}.".encode()) for n in range(70)]
            added = await pincite.documents.upload_all(uploads)
            assert [one.document.name for one in added] == [upload.name for upload in uploads]
            assert {one.outcome for one in added} == {"new"}
            again = await pincite.documents.upload_all(uploads[:3])
            assert {one.outcome for one in again} == {"unchanged"}
            more = [Upload("a.md", b"An otter."), Upload("b.zip", b"PK"), Upload("c.md", b"A fox.")]
            with pytest.raises(Unsupported):
                await pincite.documents.upload_all(more)
            assert {document.name for document in await pincite.documents()} >= {"0.md", "69.md", "a.md", "c.md"}

    asyncio.run(go())


def test_an_unparsable_file_gets_the_status_error_with_the_reason(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    async def go() -> None:
        (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nrubbish")
        (tmp_path / "binary.md").write_bytes("Grüße\0".encode("utf-16"))
        async with open_pincite() as pincite:
            for name, code in (("broken.pdf", "broken"), ("binary.md", "not_text")):
                with pytest.raises(Unreadable) as raised:
                    await pincite.add(tmp_path / name)
                assert raised.value.code == code
            assert [document.status for document in await pincite.documents.all()] == [Status.ERROR, Status.ERROR]
            assert (await pincite.search("Grüße rubbish")).hits == ()

    asyncio.run(go())


def test_a_document_fails_after_its_retries_if_the_embedder_is_down(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    async def go() -> None:
        async with open_pincite(ingest__attempts=1) as pincite:
            pincite.services.workers._current_kit().bulk_embedder._embedder = ScriptedEmbedder(
                Options(fail="no embedder today")
            )
            with pytest.raises(ProviderError, match="no embedder today"):
                await pincite.add(write(tmp_path, cats=CATS) / "cats.md")
            pincite.services.workers._current_kit().bulk_embedder._embedder = ScriptedEmbedder(Options())
            assert (await pincite.add(tmp_path / "cats.md")).status == Status.COMPLETED

    asyncio.run(go())


def test_a_search_embeds_its_question_once_and_only_if_it_passes_the_guardrails(
    open_pincite: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    real = ScriptedEmbedder.embed

    async def embed(self: ScriptedEmbedder, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        embedded.extend(texts if as_query else ())
        return await real(self, texts, as_query=as_query)

    monkeypatch.setattr(ScriptedEmbedder, "embed", embed)

    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.add(write(tmp_path, cats=CATS) / "cats.md")
            monkeypatch.setattr(pincite.services.embedder, "local", True, raising=False)  # as one of this process is
            assert (await pincite.search("Why do cats purr?")).hits
            assert embedded == ["Why do cats purr?"]
            with pytest.raises(Invalid, match="characters"):
                await pincite.search("cat " * 10_000)
            assert embedded == ["Why do cats purr?"]

    asyncio.run(go())


def test_filters_and_traces(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.add(write(tmp_path, cats=CATS) / "cats.md", folder="pets")
            found = await pincite.search(Question("cats", filters=Filters(folder="pets")))
            assert len(found.hits) == 1
            with pytest.raises(NotFound, match="there is no folder 'wild'; choose one of 'pets'"):
                await pincite.search(Question("cats", filters=Filters(folder="wild")))
            trace = await pincite.services.traces.get(await pincite.scope(), found.trace_id)
            stages = [span.name for span in trace.spans if span.parent is None]
            assert stages == [
                "guardrails",
                "query_embedding",
                "spelling_correction",
                "query_analysis",
                "retrieval",
                "ranking",
            ]
            below = {span.name for span in trace.spans if span.parent is not None}
            searches = {"vector_search", "lexical_search", "title_search"}
            assert below == {"provider_call", "passage_fetch", *searches}
            assert trace.content is None
            with pytest.raises(Invalid):
                await pincite.ask("")
            [failed], _ = await pincite.services.traces.list(await pincite.scope(), TraceFilter(limit=1))
            assert (failed.code, "Invalid" in (failed.error or "")) == ("empty_query", True)

    asyncio.run(go())


def test_a_trace_contains_the_question_only_if_configured(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(traces__content=True) as pincite:
            await pincite.search("canary")
            [trace], _ = await pincite.services.traces.list(await pincite.scope(), TraceFilter(limit=1))
            assert trace.content == Content("canary")

    asyncio.run(go())


def test_streamed_and_plain_answers_are_equal(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.add(write(tmp_path, cats=CATS) / "cats.md")
            events: list[Event] = []
            with answering(pincite, ScriptedLLM(Options(answers=("Cats purr when content. [1]",)))):
                answer = await pincite.ask("Why do cats purr?", listen=events.append)
            assert isinstance(events[-1], Answered)
            assert events[-1].answer == answer

    asyncio.run(go())


def test_several_engines_share_one_library(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        async with open_pincite() as one, open_pincite() as other:
            await one.add(write(tmp_path, cats=CATS) / "cats.md")
            assert len((await other.search("cats purr")).hits) == 1

    asyncio.run(go())


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"embedding__provider": "nope"}, SettingsError, "no embedder called 'nope'"),
        ({"llm__provider": "nope"}, SettingsError, "no llm called 'nope'"),
        ({"rag__reranker": "nope"}, SettingsError, "no reranker called 'nope'"),
        ({"database__url": "postgresql:///x?host=/nonexistent"}, StoreDown, "cannot be reached"),
    ],
)
def test_invalid_settings_fail_at_start_up(
    open_pincite: Callable[..., Any], settings: Any, kind: type, message: str
) -> None:
    async def go() -> None:
        async with open_pincite(**settings):
            pytest.fail("it must not start")

    with pytest.raises(kind, match=message):
        asyncio.run(go())


def test_a_trace_that_cannot_be_written_never_fails_the_answer(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(traces__content=True) as pincite:
            assert (await pincite.search("a\0b")).hits == ()

            async def broken(*_: Any) -> None:
                raise ValueError("it cannot be written")

            pincite.services.traces.keep = broken
            assert (await pincite.search("cats")).hits == ()

    asyncio.run(go())


def test_adding_a_held_file_again_starts_it(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    async def go() -> None:
        write(tmp_path, cats=CATS)
        async with open_pincite() as pincite:
            held = await pincite.documents.upload(Upload("cats.md", CATS.encode()), start=False)
            assert held.document.status == Status.PENDING
            assert (await pincite.add(tmp_path / "cats.md")).status == Status.COMPLETED
            with pytest.raises(Invalid, match="add_all"):
                await pincite.add(write(tmp_path / "two", a="a", b="b"))

    asyncio.run(go())


def test_an_embedder_failure_is_not_reported_as_an_unreadable_file(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    nobody = {"provider": "openai_compatible", "base_url": "http://127.0.0.1:9", "model": "m", "dimensions": 8}
    chosen = {f"embedding__{name}": value for name, value in nobody.items()}

    async def go() -> None:
        async with open_pincite(**chosen, resilience__retries=0, ingest__patience_s=0) as pincite:
            with pytest.raises(ProviderBusy, match=r"cats\.md: .*cannot be reached"):
                await pincite.add(write(tmp_path, cats=CATS) / "cats.md")

    asyncio.run(go())
