"""The language of a passage, by a small offline model that is loaded on first use."""

import re
from functools import cache
from typing import Any

LANGUAGES = tuple("en de fr es it nl pt da sv no fi pl cs tr ru uk el ar he hi zh ja ko".split())
"""Languages that are distinguished; more small ones would add mistakes on short passages."""

DEFAULT_LANGUAGE = "en"

_LETTERS = re.compile(r"[^\W\d_]")
_MAX_SAMPLE_CHARS = 1000
_MIN_LETTERS = 40
_MIN_PROBABILITY = 0.85


def language_of(text: str, otherwise: str = DEFAULT_LANGUAGE) -> str:
    """ISO 639-1 code of the language at the beginning of `text`; `otherwise` where the text is too short."""
    sample = text[:_MAX_SAMPLE_CHARS]
    if len(_LETTERS.findall(sample)) < _MIN_LETTERS:
        return otherwise
    language, probability = _identifier().classify(sample)
    return str(language) if probability >= _MIN_PROBABILITY else otherwise


def warm() -> None:
    """Load the model now."""
    _identifier()


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # importing takes half a second

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES)
    return identifier
