"""Questions that a passage answers, made from its heading or a definition in it; German and English."""

import re

from pincite.core.documents.document import NO_HEADINGS
from pincite.text.terms import terms, words

LONGEST_HEADING = 100

_DEFINITION = {
    "en": re.compile(
        r"(?P<what>(?:(?:The|A|An) )?[\w'’-]+(?: [\w'’-]+){0,3})"
        r" (?P<verb>is|are|was|were) (?:a|an|the|one of|any|called|defined as)\b"
    ),
    "de": re.compile(
        r"(?P<what>(?:(?:Der|Die|Das|Ein|Eine) )?[A-ZÄÖÜ][\w-]*(?: [\w-]+){0,3})"
        r" (?P<verb>ist|sind|war|waren) (?:ein|eine|einer|eines|der|die|das)\b"
    ),
}
_ARTICLE = re.compile(r"(?:The|An?|Der|Die|Das|Eine?)\b ?")
_POINTS = re.compile(
    r"(?:da|hier)r?(?:an|auf|aus|bei|durch|für|gegen|her|hin|in|mit|nach|neben|über|um|unter|von|vor|zu)$|"
    r"(?:heute|jetzt|dies|solche[rs]?|beides?|alles|nichts|everything|nothing|today|everyone|another|many|most)$",
    re.IGNORECASE,
)
"""First words that mean something only together with what stands before."""
_ASK = {"en": "What {verb} {what}?", "de": "Was {verb} {what}?"}
_ABOUT = {"en": "What is said about {what}?", "de": "Was steht zu {what}?"}
_WITHIN = {"en": "What is said about {what} in {where}?", "de": "Was steht zu {what} unter {where}?"}
_NUMBERED = re.compile(r"^(?:\d++[.)]?)++\s+|^[A-Z][.)]\s+")
_ASKED = re.compile(
    r"(?:what|who|whom|whose|which|when|where|why|how|was|wer|wen|wem|wann|wo|wohin|woher|warum|wie|welche[rsnm]?)\b",
    re.IGNORECASE,
)
"""Headings that are questions already."""


def about(heading_path: tuple[str, ...], title: str, language: str) -> str | None:
    """A question about what stands under a heading, with the one above it where it says little alone."""
    path = tuple(part for part in heading_path if part != NO_HEADINGS)
    if not path or language not in _ABOUT:
        return None
    what, where = _bare(path[-1]), _bare(path[-2] if len(path) > 1 else title)
    content = terms(what, language)
    if not content or len(what) > LONGEST_HEADING:
        return None
    if _ASKED.match(what):
        return f"{what}?" if len(content) > 1 else f"{where}: {what}?"
    form = _ABOUT if len(content) > 1 else _WITHIN
    return form[language].format(what=what, where=where)


def _bare(heading: str) -> str:
    """A heading without its number, mark-up and final stop."""
    return _NUMBERED.sub("", heading.strip(" :.?!#*`"))


def defined(sentence: str, language: str) -> tuple[str, list[str]] | None:
    """`X is a …` → `What is X?`, and the terms of X; None where nothing is defined that can be asked for alone."""
    pattern = _DEFINITION.get(language)
    found = pattern.match(sentence) if pattern else None
    if found is None:
        return None
    named = _ARTICLE.sub("", found["what"], count=1)
    content = terms(named, language)
    if not content or _POINTS.match(named.split()[0]) or len(content) < len(words(named)):
        return None
    article = found["what"].removesuffix(named).lower()
    return _ASK[language].format(verb=found["verb"], what=article + named), content
