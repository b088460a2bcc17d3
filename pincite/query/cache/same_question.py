"""Whether two questions ask the same: similar embeddings are not enough, the words must agree as well.

The embeddings of `the report of 2023` and `of 2024`, or of `who pays` and `who does not pay`, are more similar than
those of most paraphrases. Two questions are therefore the same only where their words are, apart from greetings,
articles, case, contractions, equivalent question words and the position of parts such as `in 1852`. English and German.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pincite.text.terms import STOP_WORDS, question_language, stem

Difference = Literal["numbers", "negation", "question", "units", "comparison", "names", "words", "order"]
"""The kinds of differences between two questions, the most important first."""

MAX_CHANGED_FORMS = 2
"""Words that may differ in their form between two questions, where other forms are allowed."""

_POLITE = re.compile(
    r"^(?:(?:please|kindly|bitte)\b[\s,:]*|(?:hi|hello|hey|ok|okay|so|well|hallo|also|sag mal)[,:.!–]\s+|"
    r"(?:can|could|would|will) you (?:please |kindly )?(?:tell me|let me know)\b[\s,:]*|tell me\b[\s,:]*|"
    r"(?:i would|i'd) like to know\b[\s,:]*|i (?:want|need) to know\b[\s,:]*|do you know\b[\s,:]*|"
    r"(?:kannst|könntest) du mir (?:bitte )?sagen\b[\s,:]*|(?:können|könnten) sie mir (?:bitte )?sagen\b[\s,:]*|"
    r"sag(?:e|en sie)? mir(?: bitte)?\b[\s,:]*|ich (?:möchte|will|würde gerne?) (?:gerne? )?wissen\b[\s,:]*|"
    r"weißt du\b[\s,:]*|wissen sie\b[\s,:]*)+",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"[,.!?–]\s*(?:please|thanks(?: a lot)?|thank you(?: very much)?|bitte|danke(?: schön| sehr)?|vielen dank)[\s.!?]*$",
    re.IGNORECASE,
)
_PHRASES: Mapping[str, str] = {
    r"\bwhat(?:'s| is) the number of\b": "how many",
    r"\bwhat number of\b": "how many",
    r"\bwhat amount of\b": "how much",
    r"\b(?:for (?:what|which) reason|how come)\b": "why",
    r"\bat (?:what|which) time\b": "when",
    r"\b(?:in|at) (?:what|which) place\b": "where",
    r"\bin (?:what|which) way\b": "how",
    r"\b(?:what|which) person\b": "who",
    r"\bwieviel(e[rn]?)?\b": r"wie viel\1",
    r"\b(?:weshalb|wieso|weswegen|aus welchem grund)\b": "warum",
    r"\bzu (?:welchem zeitpunkt|welcher zeit)\b": "wann",
    r"\ban (?:welchem ort|welcher stelle)\b": "wo",
    r"\bauf welche (?:weise|art)\b": "wie",
    r"\b(can)not\b": r"\1 not",
    r"\bcan't\b": "can not",
    r"\bwon't\b": "will not",
    r"n't\b": " not",
    r"\b(what|who|where|when|how|why|that|it|there|he|she)'s\b": r"\1 is",
    r"'re\b": " are",
    r"'ve\b": " have",
    r"'ll\b": " will",
    r"\bi'm\b": "i am",
    r"(?<=\w)'s?\b": "",
}
"""What is said in two ways, and the one it is read as."""
_PATTERNS = [(re.compile(said, re.IGNORECASE), meant) for said, meant in _PHRASES.items()]

_SAME_ASKED = {"which": "what", "whom": "who", "does": "do"}
_SYNONYMS = {
    "large": "big", "larger": "bigger", "largest": "biggest", "begin": "start", "began": "started", "begins": "starts",
    "permitted": "allowed", "purchase": "buy", "purchased": "bought", "situated": "located", "maximum": "max",
    "minimum": "min", "telephone": "phone", "movie": "film", "gestattet": "erlaubt", "zulässig": "erlaubt",
    "notwendig": "nötig", "erforderlich": "nötig", "beginnt": "startet", "maximal": "max", "minimal": "min",
}  # fmt: skip
"""Plain words that mean the same; with a capital they may be part of a name."""
_SILENT = frozenset({"a", "an", "the"})
_ASKING = frozenset(
    "what who whose when where why how wer wen wem wessen was wann wo woher wohin wie warum womit wofür wodurch welche welcher "
    "welches welchen welchem".split()
)
_RESUMES = _ASKING | {"do", "did"}
"""Where a part that began with a preposition ends, and the sentence goes on."""
_LEADS = frozenset(
    "in at on during by from to for with after before since until between under over through into about against than within "
    "without near via per towards among across behind beside during "
    "im am an auf bei von vom nach vor seit bis zwischen unter über durch für gegen mit ohne aus zu zum zur während wegen als "
    "innerhalb außerhalb laut ab".split()
)
"""Prepositions: the part one begins means the same wherever in the question it stands."""
_DENYING = frozenset(
    "not no never none nobody nothing neither nor without except unless nicht kein keine keinen keinem keiner keines nie niemals "
    "niemand nichts weder ohne außer".split()
)
_COMPARING = frozenset(
    "more less most least fewer fewest higher lower highest lowest bigger smaller biggest smallest longer shorter longest shortest "
    "older younger oldest youngest newer newest earlier later earliest latest first last best worst better worse before after "
    "above below over under max min up down increase decrease rise fall with without only all any each every some half double "
    "mehr weniger meisten wenigsten höher niedriger höchste niedrigste größer kleiner größte kleinste länger kürzer längste "
    "kürzeste älter jünger älteste jüngste neuer früher später erste letzte beste schlechteste besser schlechter vor nach über "
    "unter mit nur alle jede jeder jedes einige halb doppelt".split()
)
_UNITS = frozenset(
    "second seconds minute minutes hour hours day days week weeks month months quarter quarters year years km kilometre "
    "kilometres kilometer kilometers mile miles m metre metres meter meters cm mm inch inches foot feet kg kilo kilos gram grams "
    "tonne tonnes ton tons pound pounds litre litres liter liters gallon gallons euro euros eur dollar dollars usd chf francs "
    "percent celsius fahrenheit degrees watt watts kw kwh mb gb tb thousand million billion dozen "
    "sekunde sekunden minute minuten stunde stunden tag tage tagen woche wochen monat monate monaten quartal jahr jahre jahren "
    "meile meilen zoll gramm tonnen pfund liter franken prozent grad tausend millionen milliarden dutzend".split()
)
_TOKEN = re.compile(r"(?<![\w.+−-])[-−+.]{1,3}(?=\d)|[^\W_]+(?:[.:/_-](?=[^\W_])[^\W_]+|,(?=\d)\d+)*[+#]*|\S")
_NEUTRAL = ".,;:!?\"'„“”»«‚‘…–—()[]{}¿¡"
"""What means nothing at the edge of a word, and may inside of one: `f(x)`."""
_LEADING = re.compile(rf"^(?!\.\d)[{re.escape(_NEUTRAL)}]+?(?=\.\d|[^{re.escape(_NEUTRAL)}]|$)")
_PARTS = re.compile(r"[-/_]")


@dataclass(frozen=True, slots=True)
class NormalisedQuestion:
    """The words of a question: its main part in order, and the prepositional parts, whose position does not matter."""

    main: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    words: Counter[str]
    names: frozenset[str]


def difference(asked: str, cached: str, *, other_forms: bool = False) -> Difference | None:
    """The difference between two questions; None where they ask the same.

    With `other_forms`, a few words may differ in their form.
    """
    one, other = normalise_question(asked), normalise_question(cached)
    if one.main == other.main and one.parts == other.parts:
        return None
    differing = [*(one.words - other.words).elements(), *(other.words - one.words).elements()]
    found = _most_important_difference(differing, one.names | other.names)
    return None if other_forms and found == "words" and _differ_in_forms_only(one, other) else found


def _most_important_difference(differing: list[str], names: frozenset[str]) -> Difference:
    if any(any(map(str.isdigit, word)) or unicodedata.category(word[0])[0] in "SP" for word in differing):
        return "numbers"
    kinds: tuple[tuple[Difference, frozenset[str]], ...] = (
        ("negation", _DENYING),
        ("question", _ASKING),
        ("units", _UNITS),
        ("comparison", _COMPARING),
        ("names", names),
    )
    return next((kind for kind, known in kinds if known & set(differing)), "words" if differing else "order")


def _differ_in_forms_only(one: NormalisedQuestion, other: NormalisedQuestion) -> bool:
    """Whether only the forms of a few words differ, such as `employee` and `employees`, in the same positions."""
    changed = (one.words - other.words).total()
    return 0 < changed <= MAX_CHANGED_FORMS and _stems(one) == _stems(other)


def _stems(question: NormalisedQuestion) -> list[list[str]]:
    language = question_language(" ".join(question.words))
    return [[stem(word, language) for word in part] for part in (question.main, *question.parts)]


@lru_cache(maxsize=1024)
def normalise_question(question: str) -> NormalisedQuestion:
    """A question without greetings, articles, case and other differences that do not change its meaning."""
    text = unicodedata.normalize("NFC", question).replace("’", "'").strip()
    bare = _THANKS.sub("", _POLITE.sub("", text))
    text = bare if any(map(str.isalnum, bare)) else text
    for pattern, meant in _PATTERNS:
        text = pattern.sub(meant, text)
    written = _tokenize(text)
    main: list[str] = []
    parts: list[list[str]] = []
    current_part, names = main, set[str]()
    for number, word in enumerate(_normalise_word(one, all_capitals=text.isupper()) for one in written):
        if word == ",":
            current_part = main
        elif word in _LEADS:
            current_part = [word]
            parts.append(current_part)
        elif not _is_article(number, written):
            if (
                word in _RESUMES and current_part[-1:] != current_part[:1]
            ):  # `in which year` continues the part, `in 1990 what` ends it
                current_part = main
            current_part.append(word)
            names |= {word} if number and written[number][0].isupper() else set()
    word_counts = Counter(main) + Counter(word for part in parts for word in part)
    return NormalisedQuestion(tuple(main), tuple(sorted(map(tuple, parts))), word_counts, frozenset(names))


def _tokenize(text: str) -> list[str]:
    """The words as written, and every sign that may matter; hyphens split words, but not numbers."""
    found: list[str] = []
    for chunk in text.split():
        bare = chunk.rstrip(_NEUTRAL)
        for match in _TOKEN.finditer(_LEADING.sub("", bare)):
            word = match.group()
            found += [word] if any(map(str.isdigit, word)) else [part for part in _PARTS.split(word) if part] or [word]
        if "," in chunk[len(bare) :]:
            found.append(",")
    return found


def _is_article(number: int, written: list[str]) -> bool:
    """Whether a word is an article; `A` inside a sentence, or `a` at its end, may be a name as in hepatitis A."""
    article, following = written[number], written[number + 1 : number + 2]
    as_article = article.islower() or number == 0 or article.lower() != "a"
    return article.lower() in _SILENT and as_article and bool(following) and following[0].isalnum()


def _normalise_word(written: str, *, all_capitals: bool) -> str:
    """A word in the form that is compared; `US` is not `us`."""
    word = written.lower()
    if (
        len(written) > 1
        and written.isupper()
        and not all_capitals
        and word in STOP_WORDS["en"] | STOP_WORDS["de"] | {"us"}
    ):
        return written
    return _SAME_ASKED.get(word) or (_SYNONYMS.get(word, word) if written.islower() else word)
