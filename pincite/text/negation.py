"""Whether two sentences say yes and no of the same: negations, opposites, directions and quantities, English and German."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pincite.text.terms import STOP_WORDS, stem

NEAR = 3
"""Words of meaning on either side that a negation is about, within its clause."""

FEW = 3
"""Words in which two sentences differ that are the same else."""
_EXCEPT = frozenset("except excluding ausnahme außer ausser".split())
"""Words that deny of a part: who denies something of it may well be right."""
NEGATORS = frozenset(
    "not no never none nobody nothing neither nor without cannot hardly rarely nowhere "
    "forbid forbids forbidden prohibit prohibits prohibited banned bans lack lacks lacked "
    "verboten verbietet untersagt unzulässig "
    "nicht kein keine keinen keinem keiner keines nie niemals niemand niemandem niemanden nichts weder noch ohne kaum nirgends".split()
)
_SHORT = re.compile(r"n['’]t$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CLAUSE = re.compile(
    r"[,;:.!?()\n–—|]|\b(?:but|however|although|though|while|whereas|because|which|who|that|if|unless|until|when|"
    r"aber|sondern|jedoch|obwohl|während|weil|dass|welche[rsnm]?|wenn|falls|bis|damit)\b",
    re.IGNORECASE,
)
_PREFIXES = ("un", "in", "im", "ir", "dis", "non")
_RATHER = frozenset({"only", "nur", "just", "bloß"})
"""`not only … but also` denies nothing."""

_OPPOSITES = (
    "open opens opened opening offen geöffnet öffnet öffnen | close closes closed closing shut geschlossen schließt schliesst gesperrt",
    "increase increases increased increasing rise rises rose risen grow grew grown raise raised steigt stieg gestiegen erhöht erhöhte zugenommen "
    "| decrease decreases decreased decreasing fall falls fell fallen decline declined drop dropped reduce reduced lower lowered sinkt sank "
    "gesunken gesenkt senkte verringert abgenommen reduziert fiel",
    "more mehr larger bigger greater higher größer höher | less fewer weniger smaller lower kleiner niedriger geringer",
    "most meisten highest largest biggest greatest höchste höchsten größte größten | "
    "least fewest wenigsten lowest smallest niedrigste niedrigsten kleinste kleinsten geringste",
    "longer longest länger längste längsten | shorter shortest kürzer kürzeste kürzesten",
    "older oldest älter älteste ältesten | younger youngest newer newest jünger jüngste jüngsten neuer neueste neuesten",
    "faster fastest schneller schnellste schnellsten | slower slowest langsamer langsamste langsamsten",
    "better best besser beste besten | worse worst schlechter schlechteste schlechtesten",
    "before earlier vor vorher früher bevor | after later nach nachher später nachdem",
    "above over exceed exceeds exceeded oberhalb über überschreitet | below under beneath unterhalb unter unterschreitet",
    "minimum min mindestens minimal wenigstens | maximum max höchstens maximal",
    "first erste ersten erster erstes | last letzte letzten letzter letztes",
    "always immer stets | never nie niemals sometimes occasionally manchmal gelegentlich",
    "all every each everyone everybody alle allen aller jede jeder jedes jeden jedem sämtliche | "
    "some few several einige manche wenige mehrere",
    "begin begins began begun start starts started beginnt begann begonnen startet gestartet | "
    "end ends ended stop stops stopped finish finished endet endete beendet",
    "win wins won gewinnt gewann gewonnen | lose loses lost verliert verlor verloren",
    "accept accepts accepted approve approved angenommen akzeptiert genehmigt | reject rejects rejected refuse refused abgelehnt verweigert",
    "succeed succeeds succeeded success erfolgreich gelang gelungen | fail fails failed failure gescheitert scheiterte misslang fehlgeschlagen",
    "present anwesend vorhanden | absent missing abwesend fehlt fehlen",
    "enable enabled aktiviert eingeschaltet | disable disabled deaktiviert ausgeschaltet",
    "import imports imported | export exports exported",
    "north northern nord norden nördlich nördlichen | south southern süd süden südlich südlichen",
    "east eastern ost osten östlich östlichen | west western westen westlich westlichen",
    "left links linke linken | right rechts rechte rechten",
    "safe sicher ungefährlich | dangerous unsafe gefährlich unsicher",
    "true richtig wahr | false falsch unwahr",
    "inside innerhalb innen indoors | outside außerhalb aussen außen outdoors",
    "summer sommer | winter",
    "day tagsüber | night nachts",
)
_POLES: Mapping[str, tuple[int, int]] = {
    word: (number, side)
    for number, pair in enumerate(_OPPOSITES)
    for side, listed in enumerate(pair.split("|"))
    for word in listed.split()
}
"""Each of these words, with the pair it belongs to and the side of it."""
_WEAK = frozenset(
    "may right vor nach über unter over under ost east west all each day night first last open end erste ersten erster erstes letzte "
    "letzten letzter letztes best beste besten alle allen aller".split()
)
"""Words that have other meanings: they count only where the same words stand beside them in both sentences."""
_PHRASES = (
    (
        re.compile(
            r"\bat least\b|\b(?:not?|never)(?: be)? (?:less|fewer|shorter|lower|smaller|earlier|younger) than\b",
            re.IGNORECASE,
        ),
        " minimum ",
    ),
    (
        re.compile(
            r"\b(?:nicht|keine?) (?:weniger|kürzer|niedriger|kleiner|früher|jünger) als\b|\bzumindest\b", re.IGNORECASE
        ),
        " minimum ",
    ),
    (
        re.compile(
            r"\bat most\b|\b(?:not?|never)(?: be)? (?:more|longer|higher|larger|later|older) than\b|\bup to\b",
            re.IGNORECASE,
        ),
        " maximum ",
    ),
    (
        re.compile(r"\b(?:nicht|keine?) (?:mehr|länger|höher|größer|später|älter) als\b|\bbis zu\b", re.IGNORECASE),
        " maximum ",
    ),
    (re.compile(r"\bno one\b", re.IGNORECASE), " nobody "),
    (re.compile(r"\bout of (?=use|order|service)\b|\baußer (?=betrieb)", re.IGNORECASE), " not "),
)
"""What is said in several words, and the one it is read as."""


@dataclass(frozen=True, slots=True)
class Stance:
    """What a sentence affirms and denies: the words each negation is about, and the sides it takes with their neighbours."""

    denied: tuple[frozenset[str], ...]
    sides: Mapping[tuple[int, int], tuple[tuple[str, frozenset[str]], ...]]
    held: frozenset[str]
    words: Counter[str]


@lru_cache(maxsize=512)
def stance_of(text: str, language: str) -> Stance:
    """Read a sentence clause by clause."""
    for phrase, meant in _PHRASES:
        text = phrase.sub(meant, text)
    denied: list[frozenset[str]] = []
    sides: dict[tuple[int, int], list[tuple[str, frozenset[str]]]] = {}
    said: Counter[str] = Counter()
    for start, end in pairwise([0, *(match.start() for match in _CLAUSE.finditer(text)), len(text)]):
        words = [match.group().lower() for match in _WORD.finditer(text, start, end)]
        said.update(words)
        for number, word in enumerate(words):
            around = _around(words, number, language)
            if _negates(words, number):
                denied.append(around)
            elif word in _POLES:
                sides.setdefault(_POLES[word], []).append((word, around))
    held = frozenset(stem(word, language) for word in said)
    return Stance(tuple(denied), {pole: tuple(found) for pole, found in sides.items()}, held, said)


def _negates(words: Sequence[str], number: int) -> bool:
    word = words[number]
    if not (word in NEGATORS or _SHORT.search(word)):
        return False
    return not (set(words[number + 1 : number + 2]) & _RATHER) and not (word == "noch" and "weder" not in words)


def _around(words: Sequence[str], number: int, language: str) -> frozenset[str]:
    """The nearest words of meaning on either side."""
    stop = STOP_WORDS.get(language, frozenset())

    def plain(part: Sequence[str]) -> list[str]:
        kept = [word for word in part if word not in stop and word not in NEGATORS and word.isalpha()]
        return [stem(word, language) for word in kept if not _SHORT.search(word)]

    return frozenset((*plain(words[:number])[-NEAR:], *plain(words[number + 1 :])[:NEAR]))


def opposed(claim: str, told: str, language: str) -> str | None:
    """Why two sentences cannot both be true, in words; None where nothing says so.

    A negation turns what is said around, and so does an opposite: `not allowed` and `forbidden` are the same.
    """
    mine, theirs = stance_of(claim, language), stance_of(told, language)
    turned = [_denial(mine, theirs), *_turned_by_prefix(mine, theirs), *_opposite_sides(mine, theirs)]
    reasons = [reason for reason in turned if reason]
    return reasons[0] if len(reasons) % 2 else None


def _denial(mine: Stance, theirs: Stance) -> str | None:
    """A negation that only one of them has, about words that both hold; or that is all in which they differ."""
    more, less = mine.words - theirs.words, theirs.words - mine.words
    if more.total() + less.total() <= FEW and _denies(more) != _denies(less):
        return "denies what the source says" if _denies(more) else "says what the source denies"
    here = [around for around in mine.denied if around & theirs.held and not _also(around, theirs)]
    there = [
        around for around in theirs.denied if 2 * len(around & mine.held) > len(around) and not _also(around, mine)
    ]
    if here and not theirs.words.keys() & _EXCEPT:
        return "denies what the source says"
    return "says what the source denies" if there else None


def _denies(words: Iterable[str]) -> bool:
    return any(word in NEGATORS or _SHORT.search(word) for word in words)


def _also(around: frozenset[str], other: Stance) -> bool:
    """Whether the other one denies something about the same words."""
    return any(2 * len(around & denied) >= min(len(around), len(denied)) for denied in other.denied)


def _turned_by_prefix(mine: Stance, theirs: Stance) -> list[str]:
    """`usable` and `unusable`."""
    here, there = _prefixed(mine, theirs), _prefixed(theirs, mine)
    return [
        *(f"says “{word}”, the source says “{rest}”" for word, rest in here),
        *(f"says “{rest}”, the source says “{word}”" for word, rest in there),
    ]


def _prefixed(one: Stance, other: Stance) -> list[tuple[str, str]]:
    apart = (
        (word, word[len(prefix) :])
        for word in one.words.keys() - other.words.keys()
        for prefix in _PREFIXES
        if word.startswith(prefix)
    )
    return [(word, rest) for word, rest in apart if len(rest) > 3 and rest in other.words and rest not in one.words]


def _opposite_sides(mine: Stance, theirs: Stance) -> list[str]:
    """Each pair of opposites of which the two take different sides, and only these."""
    found = []
    for (pair, side), here in mine.sides.items():
        across = theirs.sides.get((pair, 1 - side))
        if across is None or (pair, side) in theirs.sides or (pair, 1 - side) in mine.sides:
            continue
        word, around = here[0]
        other, beside = across[0]
        if (word in _WEAK or other in _WEAK) and len(around & beside) < 2:
            continue
        if around & beside or around & theirs.held:
            found.append(f"says “{word}”, the source says “{other}”")
    return found
