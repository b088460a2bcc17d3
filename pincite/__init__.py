"""pincite: answers from your own documents, each sentence cited to its exact passage."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pincite.blocking import Pincite
    from pincite.core.answers import Answer, Filters, Question
    from pincite.core.documents import Document
    from pincite.engine import AsyncPincite
    from pincite.errors import PinciteError
    from pincite.settings import Settings

__version__ = "0.1.0"
__all__ = ["Answer", "AsyncPincite", "Document", "Filters", "Pincite", "PinciteError", "Question", "Settings"]

_HOMES = {
    "Pincite": "pincite.blocking",
    "AsyncPincite": "pincite.engine",
    "Question": "pincite.core.answers",
    "Filters": "pincite.core.answers",
    "Answer": "pincite.core.answers",
    "Document": "pincite.core.documents",
    "Settings": "pincite.settings",
    "PinciteError": "pincite.errors",
}


def __getattr__(name: str) -> Any:
    """Public names are loaded when first used, so that `import pincite` is instant."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pincite' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
