"""The Model Context Protocol over stdin and stdout, by the official client."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.cli.terminal import Call

COMMAND = ["-c", "import sys; from pincite.cli import main; sys.exit(main())", "mcp"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_official_client_starts_it_and_gets_answers(
    pincite: Call, papers: Path, library_settings: dict[str, str], mode: Any
) -> None:
    pincite("add", papers)
    server = StdioServerParameters(command=sys.executable, args=COMMAND, env={**os.environ, **library_settings})

    async def main() -> tuple[str, list[str], int]:
        async with Client(server, mode=mode) as client:
            told: Any = await client.call_tool("ask", {"question": "What is the cat called?"})
            prompts = [one.name for one in (await client.list_prompts()).prompts]
            return told.content[0].text, prompts, len((await client.list_resources()).resources)

    text, prompts, resources = asyncio.run(main())
    assert "Parallax" in text
    assert prompts == ["answer_with_citations", "summarise_document"]
    assert resources >= len(list(papers.iterdir()))  # other tests share the library
