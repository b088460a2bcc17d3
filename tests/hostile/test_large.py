"""Large files are read in limited memory and report progress."""

import asyncio
import re

import httpx2
import pytest

from pincite.config.branches.ingestion import Chunking, Ingest
from pincite.ingest.read.reader_pool import Prepared, Reader
from tests.api.live_server import upload
from tests.hostile.conftest import API, Watch, ending
from tests.office_maker import make_xlsx
from tests.pdf_maker import make_pdf

PEAK_MB = 1024
pytestmark = pytest.mark.slow


def read(data: bytes, parser: str) -> tuple[Prepared, list[tuple[str, int, int]], float]:
    """A file read under the default limits, the progress reports, and the peak memory in MB."""
    reports: list[tuple[str, int, int]] = []

    async def report(what: str, done: int, of: int) -> None:
        reports.append((what, done, of))

    async def run() -> Prepared:
        reader = Reader(children=1, memory_mb=Ingest().parse_memory_mb, timeout_s=110)
        try:
            return await reader.read(data, parser, Chunking(), report=report)
        finally:
            await reader.close()

    watch = Watch()
    try:
        return asyncio.run(run()), reports, watch.peak_mb
    finally:
        watch.close()


def book(pages: int) -> bytes:
    sentence = "The lighthouse keeper wrote the number of passing ships into the ledger every evening."
    return make_pdf(
        [[f"Chapter {page}", *(f"{page}.{line} {sentence}" for line in range(40))] for page in range(1, pages + 1)]
    )


def test_a_pdf_of_500_pages() -> None:
    found, reports, peak = read(book(500), "pdf")
    assert len(found.parsed.page_starts) == 500
    assert "500.39 The lighthouse" in found.parsed.text
    assert peak < PEAK_MB
    assert reports
    assert {(what, of) for what, _, of in reports} == {("page", 500)}
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)


def test_a_sheet_of_100_000_rows() -> None:
    strings = ["Number", "Place", "Reading", "Remark", "as expected", *(f"Station {n}" for n in range(97))]
    head = "".join(f'<c r="{column}1" t="s"><v>{n}</v></c>' for n, column in enumerate("ABCD"))
    rows = "".join(
        f'<row r="{n + 1}"><c r="A{n + 1}"><v>{n}</v></c><c r="B{n + 1}" t="s"><v>{5 + n % 97}</v></c>'
        f'<c r="C{n + 1}"><v>{n / 8}</v></c><c r="D{n + 1}" t="s"><v>4</v></c></row>'
        for n in range(1, 100_001)
    )
    data = make_xlsx(
        f'<sheetData><row r="1">{head}</row>{rows}</sheetData>',
        strings="".join(f"<si><t>{text}</t></si>" for text in strings),
    )
    found, reports, peak = read(data, "xlsx")
    [page] = found.parsed.pages
    assert len(page.unpack_marks()) == 100_001
    last = page.unpack_marks()[-1]
    assert (last.ref, found.parsed.text[last.start : last.end].startswith("| 100000 |")) == ("A100001:D100001", True)
    assert peak < PEAK_MB
    assert reports
    assert {what for what, *_ in reports} == {"row"}


def test_the_progress_of_a_long_file_is_visible(client: httpx2.Client) -> None:
    document = upload(client, "long.pdf", book(60)).json()["document"]
    stages: set[str] = set()
    while (found := client.get(f"{API}/documents/{document['id']}").json())["status"] not in ("completed", "error"):
        jobs = client.get(f"{API}/jobs").json()["items"]
        stages |= {one["stage"] or "" for one in (found, *jobs)}
    assert ending(client, document)["status"] == "completed"
    pages = [int(match[1]) for stage in stages if (match := re.fullmatch(r"parsing, page (\d+) of 60", stage))]
    assert pages, stages
    assert all(0 < page <= 60 for page in pages)
