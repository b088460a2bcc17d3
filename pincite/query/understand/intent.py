"""The intent and the type of a question, classified by weighted patterns; German and English."""

import math
import re
from collections.abc import Mapping
from typing import TypeVar

from pincite.core.query.plan import Hints, Intent, QuestionAnalysis, QuestionType
from pincite.query.understand.entities import entities_in, is_multi_hop

T = TypeVar("T", bound=str)
MAX_ANALYSED_CHARS = 1000
"""Characters of a question that are analysed; the intent is in the first words."""
DEFAULT_KIND_WEIGHT = 0.3
"""Weight of no pattern matching; without a match the default kind has the confidence 1 minus this."""

_COMPARED = (
    (0.9, r"\b(compar(e|es|ed|ison|isons|ing)\b|differen(ce|ces)\b|differs?\b|differently\b|versus\b|vs\b\.?|pros and cons|"
          r"vergleich\w*|unterschied\w*|unterscheide\w*|gegenüberstell\w*|vor- und nachteile|im gegensatz)"),
    (0.8, r"\b(different from|better than|worse than|(more|less) \w+ than|\w{3,}(?<!oth)(?<!rath)er than(?! \d)|compared (to|with)|as (?!long|well|soon|far|much)\w+ as|"
          r"advantages? (of|over)\b.{3,}\bover|besser als|schlechter als|im vergleich|gegenüber (dem|der|den)|\w{3,}er als(?! \d)|genauso \w+ wie)\b"),
    (0.75, r"^\W*(which|welche[rsnm]?|who|wer|what|was)\b.{1,90}[\s,](or|oder)\b(?! (not|more|less|nicht|mehr|weniger)\b)"),
    (0.6, r"\b(both|beide[rnms]?)\b.{2,60}\b(and|und)\b|\b(same|gleich\w*|similarit\w+|gemeinsam\w*)\b.{0,60}\b(as|wie|between|zwischen|and|und)\b"),
)  # fmt: skip

_INTENTS: Mapping[Intent, tuple[tuple[float, str], ...]] = {
    "SUMMARY": (
        (0.95, r"\b(summar(y|ies|i[sz]e\w*)|sum up|tl;?dr|main points|key points|key takeaways|gist|"
               r"fass\w*\b.{0,200}\bzusammen|zusammen(zu)?fass\w*|kurzfassung|kernaussagen?|kernpunkte|worum geht)"),
        (0.8, r"\b(overview|in short|in a nutshell|in brief|überblick|übersicht|im wesentlichen|wichtigste[nr]? (punkte|inhalte|aussagen))\b"),
        (0.75, r"^\W*((what('s| is| are) .{3,80} about|what does .{3,80} (say|cover))\W*$|wovon handel\w*|was steht in\b)"),
    ),
    "COMPARISON": _COMPARED,
    "LIST": (
        (0.9, r"^\W*((please|bitte) )?(list|name (all|every|some|two|three|four|five|the ([\w-]+ )?[\w-]+s\b)|enumerate|give me (all|a list|every)|show (me )?all|nenne\w*|liste\w*|zähle?\b.*\bauf|"
              r"gib (mir )?(alle|eine liste))\b|\b(aufzählung|auflistung|list of|liste (der|aller|von))\b"),
        (0.75, r"^\W*(what|which) (are|were) (all|the [\w-]+( [\w-]+)?s)\b|^\W*which ([\w-]+ )?[\w-]+[^us\W]s (are|were|do|have|can|must|does|did|is|will|should|need|may)\b|"
               r"^\W*(welche|was für) ([\w-]+ )?\w+(n|e|er|s) (gibt|gelten|sind|werden|haben|müssen|brauch\w+|benötig\w+|können|dürfen|bietet|bieten|umfasst|"
               r"gehören|stehen|kommen|waren|wurden|braucht)\b|^\W*was (sind|gehört|zählt) .{0,20}\b(alle|alles|die)\b"),
        (0.5, r"\b(all (of )?the|every(?! \d)|alle[rns]?|sämtliche\w?) [\w-]+|\bwhat (kinds|types|sorts) of \w+|\bwelche arten\b|\bwhat else\b"),
    ),
    "ANALYTICAL": (
        (0.9, r"\b(why|how come|analy[sz]e\w*|evaluate|assess|discuss|reasons? (for|why|behind)|implications?|warum|wieso|weshalb|weswegen|"
              r"analysier\w*|bewerte\w*|beurteil\w*|begründ\w*|diskutier\w*|wie kommt es|aus welche[mn] gr[uü]nde?n?|inwiefern|inwieweit)\b"),
        (0.8, r"\b(explain|erklär\w*|erläuter\w*|consequences?|impacts?|effects? of|auswirkung\w*|folgen|ursache\w*|causes? (of|for)\b|"
              r"what happens (if|when)|was passiert,? wenn|was geschieht,? wenn|lessons|to what extent)\b"),
        (0.6, r"^\W*how (does|do) .{2,60}\b(work|function)\W*$|^\W*how (does|did|do) .{2,60}\b(affect|influence|change|contribute)\b|"
              r"^\W*wie (funktionier\w*|wirk\w*|beeinfluss\w*|entsteh\w*|kam es)\b"),
    ),
}  # fmt: skip
"""How strongly words speak for an intent; what is lowered by several patterns adds up."""

_TYPES: Mapping[QuestionType, tuple[tuple[float, str], ...]] = {
    "comparative": _COMPARED,
    "procedural": (
        (0.9, r"\b(how to|how (do|can|should|would|must|could) (i|we|you|one|they|someone|anyone|employees|users)\b|step[- ]by[- ]step|steps? (to|for|are|do)|instructions?|procedure|"
              r"walk me through|anleitung|schritt für schritt|schritte|vorgehen|vorgehensweise|wie geht man|"
              r"wie (kann|können|muss|müssen|soll|sollte|darf|mache?|beantrag\w*|stelle?|richte?|melde?|lege?|setze?|ändere?|lösche?|installier\w*|bekomm\w*|erreiche?|finde?|bestelle?|kündige?|wechsle?|schalte?|reiche?|öffne?|repariere?|füge?|baue?|verbinde?|buche?|tausche?|reinige?|starte?) (ich|man|wir|sich)\b)"),
        (0.7, r"\b(what (do|must|should|shall) (i|we|you|one) (have to |need to )?do|how (is|are) .{2,60} (installed|configured|set up|made|changed|replaced|reset|cleaned|submitted|requested|filed|rotated|calibrated|"
              r"performed|carried out)|was (muss|soll|sollte|müssen) (ich|man|wir) (.{2,60} )?(tun|machen|beachten)|wie (wird|werden) .{2,60} (installiert|eingerichtet|konfiguriert|gewechselt|beantragt|zurückgesetzt|gereinigt|durchgeführt|gedreht|kalibriert|eingereicht|gemacht))\b"),
    ),
    "relational": (
        (0.9, r"\b(relat(ion|ions|ionship|ionships|ed to|es to)|connect(ion|ions|ed)\b|linked to|depend(s|ed|encies|ency)? (on|upon|of)|beziehung\w*|zusammenhang|zusammenhäng\w*|"
              r"häng\w*\b.{0,60}\b(zusammen|ab)\b|verbunden|verbindung (zwischen|von|zu)|verhältnis (zwischen|von|zu)|abhängig\w*)"),
        (0.7, r"\b(how (does|do|did) .{2,60} (affect|influence|interact|relate)|influences?\b|affects?\b|works? (with|for|under)|reports? to|belongs? to|married to|responsible to|part of|interacts?|"
              r"beeinfluss\w*|gehör\w* (.{2,30} )?zu[rm]?|unterst(eht|ellt)|berichtet an|arbeitet (mit|für|unter)|verheiratet mit|teil von|wirk\w* (sich|auf)|einfluss (von|auf|hat))\b"),
    ),
    "aggregative": (
        (0.85, r"\b(how many (?!(more |working |vacation |calendar |business )*(seconds?|minutes?|hours?|days?|weeks?|months?|years?|euros?|dollars?|percent|metres?|meters?|kilomet\w+|miles|litres?|liters?|degrees|watts?|grams?|kilos?)\b)|"
               r"in total|altogether|on average|average|sum of|total (number|amount|cost|costs|of)|number of|count\b|wie viele (?!(sekunden|minuten|stunden|tage|werktage|urlaubstage|wochen|monate|jahre|euro|franken|prozent|meter|kilometer|liter|grad|watt|gramm)\b)|"
               r"insgesamt|gesamt(zahl|summe|kosten|menge)|anzahl|durchschnitt\w*|im schnitt|summe)"),
        (0.8, r"^\W*((please|bitte) )?(list|name (all|every|some|two|three|four|five|the ([\w-]+ )?[\w-]+s\b)|enumerate|nenne\w*|liste\w*|zähle?\b.*\bauf)\b|\b(all (of )?the|every|alle|aller|allen|sämtliche\w?) (?!day|time|year|tage|jahre|\d)[\w-]+|\b(list of|liste (der|aller|von)|auflistung|aufzählung|(give|show) me (all|every))\b"),
        (0.65, r"\b(most|least|fewest|largest number|highest number|meisten|wenigsten|häufigste\w*)\b|^\W*which [\w-]+[^us\W]s (are|were|do|have|can|must|did|will|need|may)\b|^\W*what (are|were) the ([\w-]+ )?[\w-]+s\b|"
               r"^\W*welche \w+(n|e|er|s) (gibt|gelten|sind|werden|haben|müssen|können|dürfen|gehören|brauch\w+|benötig\w+|bietet|umfasst)\b|\bwhat (kinds|types|sorts) of\b|\bwelche arten\b"),
    ),
    "temporal": (
        (0.9, r"^\W*(and |und )?(when|since when|until when|how long|how often|by when|wann|seit wann|bis wann|ab wann|wie lange|wie oft|wie häufig)\b|\b(what|which|welche[mnrs]?|in welchem|an welchem) (year|date|day|month|time|century|jahr|datum|tag|monat|uhrzeit|jahrhundert)\b|"
              r"\b(timeline|chronolog\w*|zeitplan|deadline|history of|geschichte de[rs]|zeitlich\w*|verlauf)\b|how (did|has|have) .{2,60} (change|changed|evolve|evolved|develop|developed)\b|\bwie (hat|haben) sich .{2,60} (verändert|entwickelt)\b|(um wie viel uhr)"),
        (0.5, r"\b(when (was|were|did|does|do|is|are|will)\b|latest|most recent|first time|last time|zuletzt|neueste\w?|before \d{4}|after \d{4}|since \d{4}|vor \d{4}|nach \d{4}|seit \d{4}|between \d{4} and \d{4}|zwischen \d{4} und \d{4})"),
    ),
}  # fmt: skip

_HINTS: Mapping[Intent, Hints] = {
    "FACTUAL": Hints(template="factual"),
    "SUMMARY": Hints(template="summary"),
    "COMPARISON": Hints(mmr=True, chain_of_thought=True, graph=True, template="comparison"),
    "LIST": Hints(breadth=1.5, template="list"),
    "ANALYTICAL": Hints(chain_of_thought=True, graph=True, template="analytical"),
}
_LEVELS: Mapping[QuestionType, tuple[int, ...]] = {
    "factual": (2,),
    "temporal": (2,),
    "relational": (2,),
    "comparative": (1, 2),
    "procedural": (1, 2),
    "aggregative": (1, 2),
}
_SUMMARY_LEVELS = (0, 1)


_WeightedPatterns = list[tuple[float, re.Pattern[str]]]


def _compile(signs: Mapping[T, tuple[tuple[float, str], ...]]) -> dict[T, _WeightedPatterns]:
    return {name: [(weight, re.compile(words)) for weight, words in found] for name, found in signs.items()}


_INTENT_SIGNS, _TYPE_SIGNS = _compile(_INTENTS), _compile(_TYPES)


def analyse_question(text: str) -> QuestionAnalysis:
    """Analyse a question: intent, type, entities, whether it is multi-hop, result levels, retrieval hints."""
    text = text[:MAX_ANALYSED_CHARS]
    lowered = text.lower()
    intent, intent_confidence = _most_likely(lowered, _INTENT_SIGNS, "FACTUAL")
    kind, type_confidence = _most_likely(lowered, _TYPE_SIGNS, "factual")
    levels = _SUMMARY_LEVELS if intent == "SUMMARY" else _LEVELS[kind]
    return QuestionAnalysis(
        intent, intent_confidence, kind, type_confidence, entities_in(text), is_multi_hop(text), levels, _HINTS[intent]
    )


def _most_likely(text: str, signs: Mapping[T, _WeightedPatterns], default: T) -> tuple[T, float]:
    """The kind with the strongest patterns, and its share of all strengths; of equal ones, the first."""
    strengths = {name: strength for name, one in signs.items() if (strength := _strength(text, one))}
    if not strengths:
        return default, 1 - DEFAULT_KIND_WEIGHT
    best = max(strengths, key=lambda name: strengths[name])
    return best, round(strengths[best] / (sum(strengths.values()) + DEFAULT_KIND_WEIGHT), 2)


def _strength(text: str, signs: _WeightedPatterns) -> float:
    """The combined strength of the patterns that match, always below 1."""
    return 1 - math.prod(1 - weight for weight, pattern in signs if pattern.search(text))
