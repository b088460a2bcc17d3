"""Names of entities in their normalised form, by which they are stored, compared and looked up."""

import hashlib
import re

from pincite.text import lang
from pincite.text.sentences import fold

_FORM = re.compile(r",? (?:inc|ltd|llc|corp|corporation|plc|gmbh|ag|kg|se|co|ev)\.?$")
_NOT_WORDS = re.compile(r"[^\w&+]+")


def name_key(name: str) -> str:
    """The normalised form of a name: without case, accents, article, possessive, legal form and punctuation."""
    folded = re.sub(r"['’]s?(?=\s|$)", "", fold(name))
    words = folded.split()
    if len(words) > 1 and words[0] in lang.all_words("names.articles"):
        words = words[1:]
    folded = _FORM.sub("", " ".join(words))
    return " ".join(_NOT_WORDS.sub(" ", folded).split())


def name_hash(name: str) -> int:
    """The number by which a name is stored and looked up: 63 bits of the hash of its normalised form."""
    return int.from_bytes(hashlib.sha256(name_key(name).encode()).digest()[:8], "big") >> 1
