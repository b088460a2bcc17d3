"""The embedder that `pincite embed-server` offers to other processes."""

from pincite import plugins
from pincite.config.settings import Settings
from pincite.core.protocols import Embedder
from pincite.errors import SettingsError


def local_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder with `embedding.threads`; refuse one that runs elsewhere."""
    chosen = settings.embedding
    made = plugins.load(Embedder, plugins.PROVIDERS, chosen.provider, chosen.model_dump())
    if not made.local:
        raise SettingsError(f"'{chosen.provider}' runs elsewhere itself; use embedding.provider=pincite_embed")
    return made
