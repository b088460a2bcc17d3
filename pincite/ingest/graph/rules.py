"""The graph of one document by rules: names, types, short forms, abbreviations, facts and co-mentions."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from pincite.core.engines import BuildPassage, BuildSource
from pincite.core.graph import EntityType, Extracted, GraphEdge, GraphFact, Mention
from pincite.ingest.graph.facts import RuleFact, facts_in, table_facts
from pincite.ingest.graph.kinds import kinds_of
from pincite.ingest.graph.name_parts import places
from pincite.ingest.graph.names import Found, certain_names
from pincite.text.wording.abbreviations import abbreviations_in
from pincite.text.wording.entity_names import name_hash, name_key

RULES_VERSION = "3"
"""Version of the rules; raise it when they find something else, so that the graph counts as stale."""
MAX_TITLE_WORDS = 8
MAX_NAMES_PER_SENTENCE = 8
"""Names of a sentence that are joined with each other; in a longer list, nothing joins them but the list."""
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")
_HEADER = re.compile(r"^\**(From|To|Cc|Von|An|Kopie):\**\s*(.+)$", re.MULTILINE)
_ADDRESS = re.compile(r"\"?([^\"<>,;@]+?)\"?\s*(?:<[^<>]*>|\[[^\]]*\]\([^)]*\))")
_LINK = re.compile(r"(?<!!)\[([^\]\n]{3,80})\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def extract(source: BuildSource) -> Extracted:
    """The entities and facts that the passages of a document state."""
    texts = [(one.text, one.language) for one in source.passages]
    title = _BRACKETS.sub("", source.title).strip()
    names = certain_names(texts, title)
    short = _short_forms(names, title)
    longs = {
        key: long
        for text, _ in texts
        for key, folded in abbreviations_in(text).items()
        if any(map(str.isupper, long := _as_written(folded, text)))
    }
    resolved = _Resolver(short, {name_key(key): long for key, long in longs.items()})
    kinds = resolved.kinds(kinds_of(texts, names))
    mentions, facts, edges = list[Mention](), list[GraphFact](), Counter[tuple[int, int]]()
    about = resolved.name(title) if _is_name(title) else None
    for passage, found in zip(source.passages, names, strict=True):
        placed = _mentions(passage, found, resolved, kinds)
        if about is not None and about not in placed:
            placed[about] = Mention(passage.chunk, about, kinds.get(about, "other"), title, ())
        stated = list(_facts(passage, found, resolved, title, source.mime))
        for fact in stated:
            for name, words in ((fact.subject_name, fact.subject), (fact.object_name, fact.object)):
                if name is not None and name not in placed:
                    placed[name] = Mention(
                        passage.chunk, name, kinds.get(name, "other"), words, ((fact.start, fact.end),)
                    )
        mentions += placed.values()
        facts += stated
        edges.update(_pairs(found, resolved))
    return Extracted(
        tuple(mentions),
        tuple(dict.fromkeys(facts)),
        tuple(GraphEdge(one, other, count) for (one, other), count in sorted(edges.items())),
        tuple(sorted({(name_hash(key), name_hash(long)) for key, long in longs.items()})),
    )


class _Resolver:
    """Names of one document: a short form stands for the long one that the document has."""

    def __init__(self, short: Mapping[str, str], long: Mapping[str, str]) -> None:
        self._short = short
        self._long = long

    def full(self, text: str) -> str:
        """The name in full, as the document writes it elsewhere."""
        text = " ".join(text.split())
        text = self._short.get(text, text)
        return self._long.get(name_key(text), text)

    def name(self, text: str) -> int:
        """The number of the name in full."""
        return name_hash(self.full(text))

    def kinds(self, kinds: Mapping[int, EntityType]) -> dict[int, EntityType]:
        """The types with those of short forms given to the long ones that have none."""
        found = dict(kinds)
        for short, full in (*self._short.items(), *self._long.items()):
            kind = found.get(name_hash(short), "other")
            if found.get(name_hash(full), "other") == "other" and kind != "other":
                found[name_hash(full)] = kind
        return found


def _as_written(phrase: str, text: str) -> str:
    """A phrase in lower case as the text writes it."""
    found = re.search(r"\s+".join(map(re.escape, phrase.split())), text, re.IGNORECASE)
    return " ".join(found.group().split()) if found else phrase


def _is_name(title: str) -> bool:
    """Whether a title may be a name: some words with a capital, no file name."""
    if "_" in title or "." in title[-5:] or not title[:1].isalnum():
        return False
    return 0 < len(title.split()) <= MAX_TITLE_WORDS and any(map(str.isupper, title))


def _short_forms(names: Sequence[Sequence[Found]], title: str) -> dict[str, str]:
    """Single words → the only name of the document that ends with them: `Obama` → `Barack Obama`.

    The full name comes first in the document; a word that stands alone before it, or is a place, is another name.
    """
    full: dict[str, set[str]] = {}
    alone: set[str] = set()
    for text in (title, *(" ".join(one.text.split()) for found in names for one in found)):
        words = text.split()
        if len(words) == 1 and text not in full:
            alone.add(text)
        if 1 < len(words) < 4 and "," not in text and all(word[:1].isupper() for word in words):
            full.setdefault(words[-1], set()).add(text)
    return {
        short: next(iter(texts))
        for short, texts in full.items()
        if len(texts) == 1 and short not in alone and short not in places()
    }


def _mentions(
    passage: BuildPassage, found: Sequence[Found], resolved: _Resolver, kinds: Mapping[int, EntityType]
) -> dict[int, Mention]:
    spans: dict[int, list[Found]] = {}
    for one in found:
        spans.setdefault(resolved.name(one.text), []).append(one)
    return {
        name: Mention(
            passage.chunk,
            name,
            kinds.get(name, "other"),
            max((resolved.full(one.text) for one in some), key=len),
            tuple((passage.start + one.start, passage.start + one.end) for one in some),
        )
        for name, some in spans.items()
    }


def _facts(
    passage: BuildPassage, found: Sequence[Found], resolved: _Resolver, title: str, mime: str
) -> Iterator[GraphFact]:
    """The facts of sentences, tables, the headers of an email, and links to other documents."""
    text = passage.text
    for fact in (
        *facts_in(text, passage.language, found, title if _is_name(title) else ""),
        *table_facts(text),
        *_letters(text, mime),
        *_links(text, title),
    ):
        subject, target = _words(fact.subject, resolved), _words(fact.object, resolved)
        entity = isinstance(fact.object, Found) or fact.relation in _BETWEEN_ENTITIES or fact.object[:1].isupper()
        subject_name, object_name = name_hash(subject), name_hash(target) if entity else None
        if name_key(subject) and subject_name != object_name:
            start, end = (passage.start + offset for offset in fact.sentence)
            yield GraphFact(passage.chunk, subject, subject_name, fact.relation, target, object_name, start, end)


_BETWEEN_ENTITIES = ("wrote to", "sent a copy to", "links to")


def _words(side: Found | str, resolved: _Resolver) -> str:
    return resolved.full(side.text if isinstance(side, Found) else side)


def _letters(text: str, mime: str) -> Iterator[RuleFact]:
    """Who wrote to whom, of the headers of an email."""
    if mime != "message/rfc822":
        return
    lines = {match[1]: match for match in _HEADER.finditer(text)}
    sender = next((lines[key] for key in ("From", "Von") if key in lines), None)
    if sender is None or not (names := _people(sender[2])):
        return
    for key, relation in (
        ("To", "wrote to"),
        ("An", "wrote to"),
        ("Cc", "sent a copy to"),
        ("Kopie", "sent a copy to"),
    ):
        for person in _people(lines[key][2]) if key in lines else ():
            yield RuleFact(names[0], relation, person, (sender.start(), lines[key].end()))


def _people(line: str) -> list[str]:
    return [name.strip() for name in _ADDRESS.findall(line + ",") if any(map(str.isalpha, name))]


def _links(text: str, title: str) -> Iterator[RuleFact]:
    """The documents that a document links to, by the words of the link."""
    for match in _LINK.finditer(text):
        if _is_name(title) and match[1][:1].isupper():
            yield RuleFact(title, "links to", match[1], match.span())


def _pairs(found: Sequence[Found], resolved: _Resolver) -> Iterator[tuple[int, int]]:
    """The pairs of different entities that each sentence names."""
    by_sentence: dict[tuple[int, int], set[int]] = {}
    for one in found:
        by_sentence.setdefault(one.sentence, set()).add(resolved.name(one.text))
    for names in by_sentence.values():
        if len(names) <= MAX_NAMES_PER_SENTENCE:
            yield from combinations(sorted(names), 2)
