"""Positions of citations in their files."""

import asyncio
from dataclasses import replace
from typing import Any

from pincite.core.documents.pages import Page, PageMark, pack
from pincite.core.documents.positions import PageText
from pincite.core.query.answer import Citation
from pincite.core.query.prompt import Prompt
from pincite.query.citations.positions import citation_positions
from tests.builders import answer, hit

TEXT = "Five days carry over."


def cited(source: int | None) -> Citation:
    return Citation("[1]", 0, 3, source is not None, "number", source, TEXT[:9], 100, 109, 1, 1, 2, 1.0)


def test_only_quotes_from_files_with_pages_are_located(make_run: Any) -> None:
    run = make_run()
    box = (72.0, 30.0, 99.0, 42.0)
    run.kit.index.leaves = [PageText(2, Page(90, marks=pack([PageMark(100, 104, box=box)])), 200)]
    sources = (hit(TEXT, place="page 2"), hit(TEXT, key=2))
    given = replace(answer("Five days [1]."), citations=(cited(1), cited(2), cited(None)))
    found = asyncio.run(citation_positions(run, Prompt("q", (), sources, 0), given))
    assert [one.place for one in found.citations] == ["page 2", None, None]
    assert found.citations[0].rects == (box,)
    assert found.citations[1:] == given.citations[1:]
    assert run.kit.index.calls.count("pages") == 1
