"""What a question asks for, by its words: the kind of value, and the form of the answer. German and English."""

import re
from dataclasses import dataclass
from typing import Literal

from pincite.text.terms import question_language

Want = Literal["person", "time", "duration", "money", "percent", "quantity", "number", "none"]
Form = Literal["value", "definition", "list", "yes_no", "steps", "comparison", "sentence"]

MEASURED: frozenset[Want] = frozenset({"time", "duration", "money", "percent", "quantity", "number"})
"""What can be told from the letters of a text, and said by itself."""

_UNIT_WORDS = r"(seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|centuries|sekunden|minuten|stunden|tage|nächte|wochen|monate|jahre|jahrzehnte|jahrhunderte)"
_WANTS: tuple[tuple[Want, re.Pattern[str]], ...] = tuple(
    (want, re.compile(words))  # type: ignore[misc]
    for want, words in (
        ("percent", r"\b(what|which|how many|how much|welche[rsn]?|wie viel|wieviel) (percent\w*|per cent|share|proportion|prozent\w*|anteil)|\b(percentage|prozentsatz)\b"),
        ("duration", r"\b(how long(?! ago)|for how many|wie lange|wie viele? (volle |ganze )?" + _UNIT_WORDS + r"|how many (more |full |working )?" + _UNIT_WORDS + r")\b"),
        ("time", r"^\W*(and |und )?(when|wann)\b|\b(since|until|by|seit|bis|ab|von) (when|wann)\b|\b(what|which|welche[mnrs]?) ((\w+ )?(year|date|day|month|century|decade|time|season|jahr|datum|tag|monat|jahrhundert|jahrzehnt|uhrzeit|zeitpunkt|saison))\b|\b(how long ago|vor wie|um wie viel uhr|wie spät|deadline|frist)\b|[,;] (when|wann)\b|\band when\b|\bund wann\b|(was|did|is|wurde|war|hat|ist) .{3,80}\b(when|wann)\W*$|^\W*in (what|which|welchem) (year|jahr)"),
        ("money", r"\b(how much (money|did .{2,60} (cost|pay|spend|earn|raise)|does .{2,60} cost|was .{2,40} (paid|spent|sold)|is .{2,40} worth)|how expensive|what (was|is|did|does) .{0,40}\b(price|cost|budget|salary|fee|fine|revenue)|wie teuer|wie viel (geld|kostet\w*|hat .{2,60} gekostet|verdien\w*|bezahl\w*)|was kostet\w*|welche(r|n)? (preis|betrag|gebühr)|wie hoch (ist|sind|war|waren) .{0,30}(kosten|preis|miete|gehalt|gebühr|budget))"),
        ("number", r"\b(how many|what number|which number|number of|wie viele|wieviele|anzahl|wie oft|how often|how many times|which port|welcher port|population of)\b"),
        ("quantity", r"\b(how (tall|high|far|deep|big|large|old|fast|heavy|wide|hot|cold|much|warm|thick|strong)|wie (hoch|weit|tief|groß|alt|schnell|schwer|breit|viel|warm|kalt|heiß|dick|stark|lang)|wieviel|what (is|was|were|are) the (\w+ ){0,3}(temperature|speed|height|size|distance|length|weight|depth|width|area|limit|capacity|average|rate|age|range|elevation)|(at|to|up to) (what|which) (\w+ )?(temperature|speed|height|age|humidity|azimuth|wind)|ab welchem alter|welche[rsmn]? (\w+ )?(temperatur|geschwindigkeit|höhe|größe|entfernung|länge|gewicht|tiefe|breite|fläche|grenze|durchschnitt\w*|alter|bereich))\b"),
        ("person", r"^\W*(and |und )?(who|whom|whose|wer|wen|wem|wessen)\b|[,;] (who|wer)\b|\b(by|to|from|with|von|mit|für|an|bei|durch) (whom|whose|wem|wen)\b|\b(what|which|welche[rsmn]?) (\w+ )?(person|man|woman|king|queen|emperor|president|scientist|player|actor|artist|author|singer|musician|leader|general|director|engineer|mathematician|physicist|chemist|philosopher|explorer|inventor|quarterback|monarch|pope|mann|frau|könig|königin|kaiser|präsident|wissenschaftler|spieler|schauspieler|künstler|autor|sänger|anführer|regisseur|ingenieur|mathematiker|physiker|chemiker|philosoph|entdecker|erfinder|quarterback|papst)(in|s)?\b|\bwho\W*$"),
    )
)  # fmt: skip

_AUXILIARIES = {
    "en": r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would|shall|am|isn't|aren't|"
    r"doesn't|don't)",
    "de": r"(?:ist|sind|war|waren|hat|haben|hatte|hatten|kann|können|konnte|darf|dürfen|durfte|muss|müssen|musste|soll|sollen|"
    r"sollte|wird|werden|wurde|wurden|gibt|gab|gilt|gelten|bin|habe|bekomme|brauche|braucht|gehört|gehören|liegt|steht|lässt)",
}
_YES_NO = {
    language: re.compile(rf"^\W*(?:and |und )?{words}\b(?!.*\b(?:or|oder)\b)")
    for language, words in _AUXILIARIES.items()
}
_FORMS: tuple[tuple[Form, re.Pattern[str]], ...] = tuple(
    (form, re.compile(words))  # type: ignore[misc]
    for form, words in (
        ("comparison", r"\b(compare|difference|differences|differ|versus|vs|vergleiche?|unterschied\w*|unterscheide\w*)\b|\b(in contrast|im gegensatz|im vergleich)\b"),
        ("steps", r"\b(how to|how (do|can|should|must) (i|we|you|one)\b|steps? (to|for|are|do)|step[- ]by[- ]step|instructions?|procedure for|wie (kann|können|muss|müssen|soll|sollte|mache?|beantrag\w*|melde?|wechsle?|wechsel\w*|richte?|setze?|starte?) (ich|man|wir)\b|schritt für schritt|schritte|anleitung|wie (wird|werden) .{2,60} (installiert|eingerichtet|gewechselt|beantragt|zurückgesetzt|gereinigt|kalibriert|eingereicht)|how (is|are) .{2,60} (installed|configured|set up|replaced|reset|cleaned|submitted|calibrated|started|changed))"),
        ("list", r"^\W*((please|bitte) )?(list|name (all|every|some|the|two|three|four|five)|enumerate|give me (all|a list|every)|show (me )?all|nenne\w*|liste\w*|zähle?\b.*\bauf|gib (mir )?(alle|eine liste))\b|^\W*(what|which) (are|were) (all )?the [\w-]+( [\w-]+){0,3}s\b|^\W*which ([\w-]+ )?[\w-]+[^us\W]s (are|were|do|have|can|must|will|should|need|may|belong|apply)\b|^\W*(welche|was für) ([\w-]+ )?\w+(n|e|er|s) (gibt|gelten|sind|werden|haben|müssen|brauch\w+|können|dürfen|bietet|umfasst|gehören|stehen)\b|^\W*was sind (alle |die )|^\W*what should (i|we|you) (bring|take|pack)|^\W*was (muss|soll|sollte|gehört) .{0,40}(mitbringen|mitnehmen|dazu)"),
        ("definition", r"^\W*(what|who) (is|are|was|were) (meant by |the meaning of )?(?!the (name|number|radio|deadline|limit|price|cost|salary|most|first|last|highest|largest|date|time|average|total|size|length|height)\b)(an? |the )?[\w'’-]+( [\w'’-]+){0,2}\W*$|^\W*(was|wer) (ist|sind|war|waren) (mit |unter )?(ein |eine |der |die |das )?[\w-]+( [\w-]+){0,1}\W*$|^\W*(define|definiere|what does .{2,40} (mean|stand for)|was (bedeutet|heißt|bezeichnet|versteht man unter)|what do you call)\b"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """The kind of value that would answer, and the form of the answer."""

    want: Want
    form: Form


def wanted(question: str) -> Wanted:
    """Read a question."""
    said = question.lower()[:1000]
    want: Want = next((want for want, pattern in _WANTS if pattern.search(said)), "none")
    form: Form | None = next((form for form, pattern in _FORMS if pattern.search(said)), None)
    if form in (None, "definition") and _YES_NO[question_language(question)].search(said):
        form = "yes_no"
    return Wanted(want, form or ("value" if want in MEASURED else "sentence"))
