"""The command mcp: the Model Context Protocol over stdin and stdout."""

from typing import TYPE_CHECKING, Any

import typer

from pincite.cli.command import CommandContext, command

if TYPE_CHECKING:
    from pincite.core.query.answer import Answer
    from pincite.core.query.question import Question
    from pincite.engine.app import AsyncPincite
    from pincite.mcp.server import Listen
    from pincite.mcp.tools import ToolBackend


def register(app: typer.Typer) -> None:
    """Register this command with `app`."""
    command(app, "mcp", until_stopped=True)(mcp)


async def mcp(context: CommandContext) -> None:
    """Serve the documents to clients of the Model Context Protocol over stdin and stdout.

    The tools are rag_search, read_document, find_in_document and ask. The documents are resources. A running service
    offers the same at /mcp.
    """
    from mcp.server.stdio import stdio_server

    from pincite.mcp.server import make_server

    async with context.open() as pincite:
        server = make_server(lambda _request, listen: _tool_backend(pincite, listen))
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


def _tool_backend(pincite: "AsyncPincite", listen: "Listen") -> "ToolBackend":
    from pincite.mcp.tools import ToolBackend

    async def ask(question: "Question") -> "Answer":
        return await pincite.ask(question, listen=listen)

    async def search(question: "Question") -> Any:
        return await pincite.search(question)

    return ToolBackend(
        search, pincite.documents.read, ask, pincite.documents.page, pincite.graph.find, pincite.graph.entity
    )
