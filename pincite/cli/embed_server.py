"""The command embed-server: embeddings for many processes."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json, print_plain


def register(app: typer.Typer) -> None:
    """Register this command with `app`."""
    command(app, "embed-server", until_stopped=True)(embed_server)


async def embed_server(
    context: CommandContext,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to listen on.")] = 8378,
) -> None:
    """Embed texts for other servers and workers until Ctrl-C, with the built-in embedder on all cores.

    The others set embedding.provider=embed_server and embedding.base_url. Beyond this machine a key is needed:
    PINCITE_EMBEDDING__API_KEY, the same on both sides.
    """
    from pincite.api.embed_server import serve_embeddings
    from pincite.engine.embedding import local_embedder

    settings = context.settings.embedding
    embedder = local_embedder(context.settings)
    address = f"http://{host}:{port}/v1"

    def ready() -> None:
        if context.json:
            print_json({"address": address, "model": embedder.name})
        else:
            print_plain(f"{embedder.name} at {address}; Ctrl-C stops it")

    key = settings.api_key.get_secret_value() if settings.api_key else ""
    await serve_embeddings(embedder, key, host, port, ready)
