"""A word lexicon from parallel sentences, and texts with some of their English words replaced by German ones.

IBM model 1 in both directions over the shards of `prepare.py`. A translation is kept where both directions agree.
Everything is lower case, since the tokenizer is.
"""

from __future__ import annotations

import collections
import lzma
import os
import random
import re

import numpy as np

WORD = re.compile(r"\w+(?:['’]\w+)?")
# Sources and how many of their pairs are read.
SOURCES = {"tatoeba": 10**6, "tatoeba-pivot": 10**6, "ntrex": 10**6, "omosqa": 10**6, "msdocs": 30_000}
FIXED = {
    "one": [("ein", 1.0), ("eine", 1.0)],
    "did": [],
    "by": [("von", 1.0), ("durch", 0.7)],
    "up": [],
    "no": [("kein", 1.0), ("keine", 1.0)],
}
PHRASES = {
    "how many": "wie viele",
    "how much": "wie viel",
    "how long": "wie lange",
    "how often": "wie oft",
    "what kind of": "welche art von",
    "what type of": "welche art von",
    "is not": "ist nicht",
    "are not": "sind nicht",
    "was not": "war nicht",
    "were not": "waren nicht",
    "does not": "nicht",
    "did not": "nicht",
    "do not": "nicht",
    "is a": "ist ein",
    "was a": "war ein",
    "has been": "wurde",
    "have been": "wurden",
    "was born": "wurde geboren",
    "in the": "in der",
    "of the": "der",
    "to the": "zu der",
    "at the": "an der",
    "on the": "auf der",
    "there is": "es gibt",
    "there are": "es gibt",
    "according to": "laut",
    "such as": "wie",
    "as well as": "sowie",
    "at least": "mindestens",
    "more than": "mehr als",
    "less than": "weniger als",
    "fewer than": "weniger als",
}


def read_pairs(path: str) -> list[tuple[str, str] | None]:
    """Sentence pairs in page order, None between pages."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = (line.rstrip("\n").partition("\t") for line in file)
        return [(left, right) if left else None for left, _, right in lines]


def model_one(pairs: list[tuple[list[int], list[int]]], size: int, rounds: int = 5):
    """(from, to, t(to | from)); word 0 of the first side is the empty word."""
    left, right, group, number = [], [], [], 0
    for one, two in pairs:
        one = [0, *one]
        left.append(np.tile(np.array(one, np.int64), len(two)))
        right.append(np.repeat(np.array(two, np.int64), len(one)))
        group.append(np.repeat(np.arange(number, number + len(two)), len(one)))
        number += len(two)
    group = np.concatenate(group)
    keys, place = np.unique(np.concatenate(left) * size + np.concatenate(right), return_inverse=True)
    source = keys // size
    chance = np.ones(len(keys))
    for _ in range(rounds):
        share = chance[place]
        share /= np.bincount(group, share, number)[group]
        counts = np.bincount(place, share, len(keys))
        chance = counts / np.bincount(source, counts)[source]
    return source, keys % size, chance


def lexicon(shards: str) -> dict[str, list[tuple[str, float]]]:
    """English word -> German words with their weights."""
    texts = []
    for name, limit in SOURCES.items():
        rows = [row for row in read_pairs(os.path.join(shards, f"pairs-{name}.txt.xz")) if row][:limit]
        texts += [tuple([w.lower() for w in WORD.findall(side)] for side in row) for row in rows]
    texts = [(one, two) for one, two in texts if 0 < len(one) <= 22 and 0 < len(two) <= 22]
    words, index = [], []
    for side in (0, 1):
        counts = collections.Counter(word for row in texts for word in row[side])
        words.append(["", *(word for word, count in counts.items() if count > 2)])
        index.append({word: at for at, word in enumerate(words[-1])})
    coded = [tuple([index[side][w] for w in row[side] if w in index[side]] for side in (0, 1)) for row in texts]
    coded = [row for row in coded if row[0] and row[1]]
    size = max(len(words[0]), len(words[1]))
    source, target, forth = model_one(coded, size)
    back = {}
    for s, t, chance in zip(*model_one([(two, one) for one, two in coded], size), strict=True):
        if chance > 0.02:
            back[t * size + s] = chance
    found = collections.defaultdict(list)
    for s, t, chance in zip(source, target, forth, strict=True):
        if s and chance > 0.03:
            score = float(np.sqrt(chance * back.get(s * size + t, 0.0)))
            if score > 0.12:
                found[words[0][s]].append((words[1][t], score))
    return {word: sorted(options, key=lambda o: -o[1])[:4] for word, options in found.items()} | FIXED


def switch(text: str, words: dict, share: float, span: tuple[int, int] | None = None):
    """The text with about `share` of its translatable words in German, and the span in it."""
    out, at, start, end, matches, number = [], 0, None, None, list(WORD.finditer(text)), 0
    length = 0

    def put(piece: str) -> None:
        nonlocal length
        out.append(piece)
        length += len(piece)

    while number < len(matches):
        match = matches[number]
        put(text[at : match.start()])
        at = match.end()
        word, new, used = match.group(), None, 1
        if random.random() < share:
            for count in (3, 2):
                group = matches[number : number + count]
                phrase = PHRASES.get(text[match.start() : group[-1].end()].lower())
                inside = span and any(group[0].start() < edge < group[-1].end() for edge in span)
                if phrase and len(group) == count and not inside:
                    new, used, at = phrase, count, group[-1].end()
                    break
            if new is None:
                options = words.get(word.lower())
                name = word[0].isupper() and match.start() > 0 and text[match.start() - 2 : match.start()] != ". "
                if options and (not name or (options[0][1] > 0.5 and random.random() < 0.5)):
                    new = random.choices([o[0] for o in options], [o[1] ** 2 for o in options])[0]
        if span and start is None and at > span[0]:
            start = length + (0 if new else max(0, span[0] - match.start()))
        put(new if new else text[match.start() : at])
        if span and end is None and at >= span[1]:
            end = length - (0 if new else at - span[1])
        number += used
    put(text[at:])
    if span and (start is None or end is None or end <= start):
        return None, None
    return "".join(out), ((start, end) if span else None)
