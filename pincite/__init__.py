"""pincite: answers from your own documents, each sentence cited to its exact passage."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pincite.config.settings import Settings
    from pincite.core.documents.document import Document
    from pincite.core.query.answer import Answer
    from pincite.core.query.question import Filters, Question
    from pincite.engine.app import AsyncPincite
    from pincite.engine.sync import Pincite
    from pincite.errors import PinciteError

__version__ = "0.1.0"
__all__ = ["Answer", "AsyncPincite", "Document", "Filters", "Pincite", "PinciteError", "Question", "Settings"]

_MODULES = {
    "Pincite": "pincite.engine.sync",
    "AsyncPincite": "pincite.engine.app",
    "Question": "pincite.core.query.question",
    "Filters": "pincite.core.query.question",
    "Answer": "pincite.core.query.answer",
    "Document": "pincite.core.documents.document",
    "Settings": "pincite.config.settings",
    "PinciteError": "pincite.errors",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: this keeps `import pincite` fast."""
    if name not in _MODULES:
        raise AttributeError(f"module 'pincite' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
