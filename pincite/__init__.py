"""pincite: answers from your own documents, each sentence cited to its exact passage."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pincite.config.settings import Settings
    from pincite.core.accounts.access import Caller, Scope
    from pincite.core.documents.document import (
        Access,
        Added,
        AddedAll,
        Document,
        Failure,
        Passage,
        Progress,
        ReadRequest,
        Receipt,
        Status,
    )
    from pincite.core.operations import StoredFlow
    from pincite.core.query.answer import (
        Answer,
        AnswerMetadata,
        Citation,
        Confidence,
        Degraded,
        FusionSettings,
        Groundedness,
        GroundedSentence,
        OpenedPassage,
        Related,
        SearchResult,
        Source,
        Statement,
        Sufficiency,
    )
    from pincite.core.query.answer import Conflict as SourceConflict
    from pincite.core.query.hits import Adjustment, Hit, RetrievedChunk, Scale, ScoreContribution
    from pincite.core.query.pictures import Picture
    from pincite.core.query.plan import Entity, Hints, Plan, QuestionAnalysis, Search
    from pincite.core.query.prompt import Usage
    from pincite.core.query.question import Exchange, Filters, Question, Sampling
    from pincite.core.query.tools import Step
    from pincite.core.run import Answered, Event, PassagesFound, Planned, SourcesFound, Started, Stepped, Token
    from pincite.engine.app import AsyncPincite
    from pincite.engine.sync import Pincite
    from pincite.errors import (
        BadRequest,
        Cancelled,
        DataFolderError,
        Invalid,
        NotAllowed,
        NotFound,
        OverBudget,
        Overloaded,
        OverQuota,
        PinciteError,
        ProviderBusy,
        ProviderError,
        ProviderRefused,
        SettingsError,
        Stopping,
        StoreDown,
        TooLarge,
        Unauthorized,
        Unavailable,
        Unreadable,
        Unsupported,
    )

__version__ = "0.1.0"
__all__ = [
    "Access",
    "Added",
    "AddedAll",
    "Adjustment",
    "Answer",
    "AnswerMetadata",
    "Answered",
    "AsyncPincite",
    "BadRequest",
    "Caller",
    "Cancelled",
    "Citation",
    "Confidence",
    "DataFolderError",
    "Degraded",
    "Document",
    "Entity",
    "Event",
    "Exchange",
    "Failure",
    "Filters",
    "FusionSettings",
    "GroundedSentence",
    "Groundedness",
    "Hints",
    "Hit",
    "Invalid",
    "NotAllowed",
    "NotFound",
    "OpenedPassage",
    "OverBudget",
    "OverQuota",
    "Overloaded",
    "Passage",
    "PassagesFound",
    "Picture",
    "Pincite",
    "PinciteError",
    "Plan",
    "Planned",
    "Progress",
    "ProviderBusy",
    "ProviderError",
    "ProviderRefused",
    "Question",
    "QuestionAnalysis",
    "ReadRequest",
    "Receipt",
    "Related",
    "RetrievedChunk",
    "Sampling",
    "Scale",
    "Scope",
    "ScoreContribution",
    "Search",
    "SearchResult",
    "Settings",
    "SettingsError",
    "Source",
    "SourceConflict",
    "SourcesFound",
    "Started",
    "Statement",
    "Status",
    "Step",
    "Stepped",
    "Stopping",
    "StoreDown",
    "StoredFlow",
    "Sufficiency",
    "Token",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "Unreadable",
    "Unsupported",
    "Usage",
]

_MODULES = {
    "pincite.config.settings": ("Settings",),
    "pincite.core.accounts.access": ("Caller", "Scope"),
    "pincite.core.documents.document": (
        "Access",
        "Added",
        "AddedAll",
        "Document",
        "Failure",
        "Passage",
        "Progress",
        "ReadRequest",
        "Receipt",
        "Status",
    ),
    "pincite.core.operations": ("StoredFlow",),
    "pincite.core.query.answer": (
        "Answer",
        "AnswerMetadata",
        "Citation",
        "Confidence",
        "Degraded",
        "FusionSettings",
        "GroundedSentence",
        "Groundedness",
        "OpenedPassage",
        "Related",
        "SearchResult",
        "Source",
        "Statement",
        "Sufficiency",
    ),
    "pincite.core.query.hits": ("Adjustment", "Hit", "RetrievedChunk", "Scale", "ScoreContribution"),
    "pincite.core.query.pictures": ("Picture",),
    "pincite.core.query.plan": ("Entity", "Hints", "Plan", "QuestionAnalysis", "Search"),
    "pincite.core.query.prompt": ("Usage",),
    "pincite.core.query.question": ("Exchange", "Filters", "Question", "Sampling"),
    "pincite.core.query.tools": ("Step",),
    "pincite.core.run": (
        "Answered",
        "Event",
        "PassagesFound",
        "Planned",
        "SourcesFound",
        "Started",
        "Stepped",
        "Token",
    ),
    "pincite.engine.app": ("AsyncPincite",),
    "pincite.engine.sync": ("Pincite",),
    "pincite.errors": (
        "BadRequest",
        "Cancelled",
        "DataFolderError",
        "Invalid",
        "NotAllowed",
        "NotFound",
        "OverBudget",
        "OverQuota",
        "Overloaded",
        "PinciteError",
        "ProviderBusy",
        "ProviderError",
        "ProviderRefused",
        "SettingsError",
        "Stopping",
        "StoreDown",
        "TooLarge",
        "Unauthorized",
        "Unavailable",
        "Unreadable",
        "Unsupported",
    ),
}
_HOMES = {name: (module, name) for module, names in _MODULES.items() for name in names}
_HOMES["SourceConflict"] = ("pincite.core.query.answer", "Conflict")  # an error is called Conflict, too


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: this keeps `import pincite` fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pincite' has no attribute '{name}'")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
