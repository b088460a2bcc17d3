"""Which language a passage is written in: a small statistical model, offline, loaded on first use."""

import re
from functools import cache
from typing import Any

LANGUAGES = tuple("en de fr es it nl pt da sv no fi pl cs tr ru uk el ar he hi zh ja ko".split())
"""What is told apart; more of the small ones would only add mistakes on short passages."""

LAST_RESORT = "en"

_LETTERS = re.compile(r"[^\W\d_]")
_SAMPLE = 1000
_ENOUGH_LETTERS = 40
_SURE = 0.85


def language_of(text: str, otherwise: str = LAST_RESORT) -> str:
    """ISO 639-1 code of the language at the beginning of `text`; `otherwise` where it is too short to tell."""
    sample = text[:_SAMPLE]
    if len(_LETTERS.findall(sample)) < _ENOUGH_LETTERS:
        return otherwise
    language, sureness = _identifier().classify(sample)
    return str(language) if sureness >= _SURE else otherwise


def warm() -> None:
    """Load the model now."""
    _identifier()


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # half a second: only for those who ask

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES)
    return identifier
