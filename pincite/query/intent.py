"""What kind of answer a question wants, by its words: German and English."""

import re
from collections.abc import Mapping

from pincite.core.answers import Intent

_WORDS: Mapping[Intent, str] = {
    "SUMMARY": r"\b(summar(y|i[sz]e\w*)|overview|sum up|in short|tl;?dr|main points|key points|gist|what is .{3,60} about\?*$|"
    r"fass\w*\b.{0,200}\bzusammen|zusammenfass\w*|überblick|übersicht|kurzfassung|kernaussagen?|worum geht)",
    "COMPARISON": r"\b(compar\w+|differen(ce|ces|t from)|differ|versus|vs\.?|pros and cons|advantages? (of|over)|better than|"
    r"vergleich\w*|unterschied\w*|unterscheide\w*|gegenüber(stell\w*)?|vor- und nachteile|im gegensatz)(?!\w)|"
    r"\b(which|welche\w?)\b.{1,80}\b(or|oder)\b",
    "LIST": r"^\W*(list|name|enumerate|give me (all|a list)|what (are|were) (all|the \w+s\b)|which \w+s (are|were|do|have|can)|"
    r"nenne\w*|liste\w*|zähle?\b.*\bauf|welche \w+(n|e|er|s) )|\b(all (of )?the|every|alle[rns]?|sämtliche\w?) \w+.*\?|"
    r"\b(aufzählung|auflistung|list of)\b",
    "ANALYTICAL": r"\b(why|how come|explain|analy[sz]e\w*|evaluate|assess|discuss|reasons? (for|why)|cause[sd]?|implications?|"
    r"consequences?|impact|warum|wieso|weshalb|weswegen|erklär\w*|erläuter\w*|analysier\w*|bewerte\w*|begründ\w*|"
    r"auswirkung\w*|folgen|ursache\w*|wie kommt es)\b",
}  # fmt: skip
"""In the order they are tried: what names its form outright comes first."""
_PATTERNS = {intent: re.compile(pattern, re.IGNORECASE) for intent, pattern in _WORDS.items()}


def intent_of(text: str) -> Intent:
    """The first kind whose words the question holds; a plain fact where none does."""
    return next((intent for intent, pattern in _PATTERNS.items() if pattern.search(text)), "FACTUAL")
