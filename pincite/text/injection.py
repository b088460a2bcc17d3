"""Text that talks to the model: wordings by which somebody tries to give it orders, in English and German.

A hint and no defence: whoever words it otherwise is not found. What protects an answer is what it may hold at all
(`query/border.py`) and what its asker may read.
"""

import re
from collections.abc import Mapping

from pincite.text.invisible import Trick, tricks, visible
from pincite.text.sentences import fold

LONGEST = 100_000
"""Characters of a text that are looked at."""

_BEFORE = (
    r"(?:previous|prior|preceding|earlier|above|foregoing|former|old|original|existing|past|initial|all|any|every|your|these|those|the|my|of"
    r"|other|own|safety|ethical|content|security|system|developer|you|given|have|been|were|got|received|before|entire|said|told|so|far|and)"
)
_RULES = (
    r"(?:instructions?|directions?|directives?|prompts?|orders?|commands?|rules?|guidelines?|assignments?|restrictions?"
    r"|programming|policies|policy|constraints?|training|context|conversations?|safeguards?)"
)
_FORGET = r"(?:ignore|disregard|forget|override|overwrite|bypass|neglect|skip|discard|drop|erase|delete|cancel|abandon)"
_VORHER = (
    r"(?:alle[nrs]?|all|jede|die|deine[nr]?|meine[nr]?|diese|bisherigen?|vorherigen?|vorigen?|vorhergehenden|vorangegangenen|vorangehenden|obigen?"
    r"|fruheren?|alten?|ursprunglichen?|gegebenen|vorhin|oben|zuvor|davor|genannten|anderen|und|jetzt|nun|mal)"
)
_REGELN = (
    r"(?:anweisung(?:en)?|instruktion(?:en)?|auftrag|auftrage|befehle?|aufgaben?|vorgaben?|regeln?|richtlinien?|prompts?|aufforderung(?:en)?"
    r"|eingaben?|anordnung(?:en)?|einschrankung(?:en)?)"
)

PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<!\w)(?:{pattern})".replace(r"\s+", " ").replace(r"\s*", " ?"))
    for name, pattern in {
        "asks to forget instructions": (
            rf"{_FORGET}(?:\s+{_BEFORE}){{1,7}}\s+{_RULES}(?!\w)"
            rf"|{_FORGET}\s+{_RULES}(?=[,.;:!]|\s+(?:and|from\s+(?:above|before)|above|before)(?!\w))"
            r"|(?:forget|disregard|ignore)\s+(?:everything|all(?:\s+of\s+(?:it|that|this))?|anything)(?:\s+(?:that|which|you|we|i|was|has|have|been|said|"
            r"were|told|discussed|know|learned|learnt|written|and))*\s*(?:before|above|previously|prior|so\s+far|until\s+now|earlier|[.!,:])"
            r"|(?:forget|disregard|ignore)\s+(?:all\s+(?:of\s+)?)?(?:the\s+)?(?:above|previous|preceding)(?=[\s,.!:]+(?:and|tasks?|assignments?|text|say|print|do|now|"
            r"messages?|inputs?|questions?|requests?)|[.!,:]|\s*\Z)"
            r"|(?:forget|ignore|disregard)\s+(?:all\s+)?(?:your|the|my)?\s*(?:previous|prior|earlier|old|other|tasks\s+before)\s+"
            r"(?:tasks?|assignments?|inputs?|messages?|texts?|information|requests?|questions?|statements?)"
            r"|(?:ignore|forget|disregard)\s+(?:about\s+)?everything(?:\s+(?:else|i\s+said|you\s+(?:know|were\s+told)))?\s+and(?!\w)"
            r"|(?:override|bypass|disable|circumvent|switch\s+off)\s+(?:all\s+)?your\s+(?:own\s+)?(?:safety|content|ethical|security)\s+"
            r"(?:protocols?|filters?|settings?|measures?|guidelines?|policies|policy|restrictions?|rules?)"
            r"|(?:change|replace|update)\s+your\s+instructions\s+(?:to|with|as)(?!\w)|your\s+(?:new\s+)?instructions\s+are\s+now(?!\w)"
            r"|despite\s+what\s+you(?:'ve|\s+have|\s+were)\s+(?:been\s+)?told"
            r"|(?:do\s+not|don't)\s+(?:answer|look|use|follow)\s[^.\n]{0,60}?\bjust\s+(?:output|print|say|write)(?!\w)"
        ),
        "bittet, Anweisungen zu vergessen": (
            rf"(?:vergiss|vergesse[nt]?|vergess|ignoriere?n?|missachte|verwirf|uberschreibe?|losche)(?:\s+(?:bitte|mal|doch|nun|jetzt|sie|du|einfach|komplett|sofort)){{0,3}}"
            rf"(?:\s+{_VORHER}){{0,5}}\s+{_REGELN}(?!\w)"
            r"|(?:vergiss|vergesse[nt]?|vergess|ignoriere?)\s+(?:jetzt\s+|nun\s+|bitte\s+|mal\s+)?alles(?:,|\s+was|\s+bisherige|\s+vorherige|\s+davor|\s+zuvor|\s+andere|\s+oben|\s+(?:zuvor\s+)?gesagte|[.!:])"
            r"|(?:ignoriere?n?|vergessen?)\s+(?:sie\s+)?(?:das|die|alle)\s+obigen?(?:\s+(?:angaben|texte?|ausfuhrungen|informationen|anweisungen))?(?!\w)"
            r"|(?:die|alle)\s+(?:obigen|bisherigen|vorherigen)\s+(?:ausfuhrungen|angaben|informationen|anweisungen|aufgaben|texte)\s+(?:zu\s+)?(?:ignorieren|vergessen)"
            r"|abweichend\s+(?:zu|von)\s+(?:den\s+|allen\s+)?(?:vorherigen|bisherigen|obigen)\s+(?:instruktionen|anweisungen|vorgaben)"
            r"|lass(?:en\s+sie|e)?\s+alle\s+(?:vorherigen|bisherigen)\s+(?:informationen|aufgaben|anweisungen)\s+hinter"
            r"|(?:hore|hort|horen\s+sie)\s+nicht\s+auf\s+(?:alles|das)\s+(?:zuvor|bisher|vorher)\s+gesagte"
        ),
        "gives the model another role": (
            r"(?:from\s+now\s+on|henceforth)\s*,?\s*(?:you|act|behave|respond|answer)\s*(?:are|will|must|shall|should|act|as|like|only|always|respond|answer|going|behave)(?!\w)"
            r"|you\s+are\s+(?:now|no\s+longer)\s+(?:an?\s+)?(?:dan|unrestricted|free|jailbroken|evil|uncensored|unfiltered|in\s+developer|bound|ai|assistant|a\s+language\s+model)(?!\w)"
            r"|(?:act|behave|respond|answer|pretend)\s+(?:as|like|to\s+be|as\s+if\s+you\s+(?:are|were))\s+(?:an?\s+)?(?:dan|stan|evil|unrestricted|uncensored|unfiltered|jailbroken|"
            r"ai\s+with(?:out|\s+no)|someone\s+with\s+no|chatgpt\s+with)(?!\w)"
            r"|pretend\s+(?:that\s+)?you\s+(?:have\s+no|are\s+not\s+bound|do\s+not\s+have|don't\s+have)\s+(?:any\s+)?(?:restrictions?|rules|limits|guidelines|filters?|limitations?)"
            r"|(?:developer|debug|admin|god|sudo|maintenance|dan|jailbreak)\s+mode\s*(?:is\s+|now\s+)?(?:activated|enabled|on(?=[.!,;:])|unlocked)"
            r"|(?:enable|activate|enter|switch\s+(?:in)?to)\s+(?:the\s+)?(?:developer|debug|admin|god|sudo|dan|jailbreak)\s+mode(?=[\s.!,;:]+(?:and|to\s+bypass|without|now|[a-z]+\s+all)|[.!])"
            r"|do\s+anything\s+now(?!\w)"
            r"|you\s+are\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:\w+\s+){0,4}?(?:with\s+no|without(?:\s+any)?|that\s+has\s+no|free\s+(?:of|from)(?:\s+all)?)\s+"
            r"(?:ethical|content|safety|moral|programming)?\s*(?:restrictions?|guidelines|policies|filters?|limits|limitations|bias|rules)(?!\w)"
            r"|(?:as\s+if\s+(?:there\s+(?:are|were)|you\s+had)|if\s+you\s+had|pretend\s+you\s+have)\s+no\s+(?:ethical|content|safety|moral)\s+(?:restrictions?|guidelines|policies|filters?|rules)"
            r"|(?:pretend|imagine)\s+(?:that\s+)?you\s+are\s+(?:an?\s+)?(?:evil|hacker|rogue|malicious|unrestricted)\s+(?:ai|assistant|model|chatbot)(?!\w)"
            r"|act\s+as\s+an?\s+(?:linux|python|unix|sql|javascript|windows)\s+(?:terminal|interpreter|console|shell)(?!\w)"
            r"|(?:stell\s+dir\s+vor|tu\s+so\s+als|nimm\s+an)\s*,?\s*(?:dass\s+)?(?:ob\s+)?(?:du|sie)\s+(?:bist|seist|warst|waren|sind)\s+(?:eine?|der|die|das|kein)"
            r"|(?:du\s+bist|sie\s+sind)\s+(?:jetzt|nun|ab\s+jetzt|ab\s+sofort|nicht\s+mehr|nicht\s+langer)\s+(?:eine?|der|die|das|kein|frei|dan)\w{0,2}(?!\w)"
            r"|ab\s+(?:jetzt|sofort|nun)\s+(?:bist|wirst|sollst|musst|antwortest|darfst)\s+du(?!\w)"
        ),
        "sets a new task": (
            r"(?:your\s+)?new\s+(?:instructions?|tasks?|assignments?|orders?|directives?|system\s+prompt)\s*(?:follows?|are|is|:|-)"
            r"|(?:focus|concentrate)\s+(?:only\s+)?(?:now\s+)?(?:only\s+)?on\s+(?:your|the|this)\s+(?:new\s+)?(?:task|assignment|instructions?)(?:\s*[:.]|\s+alone)"
            r"|now\s+(?:comes?|here\s+(?:comes?|is)|follows?)\s+(?:an?\s+|the\s+|your\s+)?(?:new|real|next|actual)\s+(?:task|assignment|challenge|question|instructions?)"
            r"|(?:jetzt|nun)\s+(?:aber\s+)?(?:kommt|kommen|folgt|folgen|hast\s+du)\s+(?:aber\s+)?(?:noch\s+)?(?:eine?|die|deine|ein\s+paar|neue)?\s*(?:neue[nr]?|nachste|eigentliche|paar)?\s*(?:neue[nr]?\s+)?(?:aufgaben?|auftrage?|anweisung(?:en)?|herausforderung)"
            r"|konzentrier\w*\s+dich\s+(?:jetzt\s+|nun\s+)?(?:nur\s+|ausschliesslich\s+)?(?:auf)\s+(?:die\s+|diese\s+|deine\s+|das\s+|den\s+)"
            r"|neue\s+(?:aufgabe|anweisung(?:en)?|instruktion(?:en)?|auftrag|auftrage)\s*(?:lautet|lauten|:|-)"
            r"|(?:stop|end)\s+(?:being|of)\s+(?:an?\s+)?(?:prompt|system\s+message|instructions?)(?!\w)"
        ),
        "asks for the model's instructions": (
            r"(?:reveal|repeat|print|show|tell|output|leak|display|return|expose|give|write|recite|dump|what(?:'s|\s+is|\s+are|\s+was|\s+were))(?:\s+(?:me|us|out|all|of|the|exactly|verbatim|back|full|complete|entire|every|content))*"
            r"\s+your\s+(?:\w+\s+)?(?:system\s+)?(?:prompts?(?:\s+texts?)?|initial\s+instructions|(?:system|original|hidden|secret|internal|full|previous|prior|first)\s+instructions?|embeddings|training\s+data|system\s+message|instructions?\s+(?:prompts?|verbatim|word\s+for\s+word))(?!\w)"
            r"|(?:reveal|repeat|print|show|output|leak|expose|return|display)\s+(?:me\s+)?(?:the|all|any)\s+(?:\w+\s+){0,2}?(?:system\s+prompts?|hidden\s+prompts?|prompt\s+texts?|(?:hidden|secret|initial)\s+instructions)(?!\w)"
            r"|(?:zeige?|verrate?|gib|nenne?|wiederhole?|schreibe?|drucke)\s+(?:mir\s+|uns\s+|nun\s+|jetzt\s+|bitte\s+){0,2}(?:alle\s+|deine[nr]?\s+|die\s+|den\s+|deiner\s+){1,3}"
            r"(?:\w+\s+)?(?:prompts?|prompttexte?|systemprompts?|anweisungen|instruktionen|promt\s*texte?|eingabeaufforderung(?:en)?)(?!\w)"
            r"|(?:raw|full|unrestricted)\s+access\s+to\s+your(?!\w)"
            r"|(?:print|repeat|output|spell\s*-?\s*check)\s+(?:and\s+print\s+)?(?:all\s+(?:of\s+)?)?(?:the\s+)?(?:above\s+prompt|prompt\s+above|text\s+above)(?!\w)"
            r"|(?:tell\s+me\s+)?what\s+(?:are|were)\s+your\s+(?:\w+\s+)?instructions(?!\w)"
            r"|wie\s+(?:deine|ihre)\s+(?:ursprunglichen|bisherigen)?\s*anweisungen\s+laute(?:te)?n"
        ),
        "speaks as the system": (
            r"(?:<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<</?sys>>|###\s*(?:system|instruction)\s*:)"
            r"|(?:begin|start|end)\s+(?:of\s+)?(?:system|hidden)\s+(?:prompt|message|instructions?)(?!\w)"
            r"|(?:note|message|instructions?|attention)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:ai|llms?|language\s+models?|assistants?|chatbots?)(?:\s+(?:reading|that|who|processing)|\s*:)"
            r"|(?:hinweis|nachricht|anweisung)\s+(?:an|fur)\s+(?:die\s+|das\s+|den\s+)?(?:ki|sprachmodell|assistent\w*|llm)(?:\s*:|,\s*d)"
            r"|(?:note|message|instructions?)\s+(?:to|for)\s+(?:any\s+|the\s+|all\s+)?automated\s+(?:\w+\s+)?(?:analysis|screening|review|processing)?\s*(?:software|systems?|tools?)"
            r"|(?:invisible|hidden)\s+(?:to|from)\s+humans?,?\s+(?:but\s+)?visible\s+to\s+(?:the\s+)?(?:llms?|ai|models?)"
            r"|(?:\[system\]\s*){2,}|\[system\]\s*(?:note|hidden|ignore|you|system|instructions?|if\s+asked)(?!\w)"
            r"|if\s+(?:you\s+are\s+)?asked\s+(?:how|what|who|why|whether|about|for)\s[^.\n]{0,80}?,\s*(?:simply|just|only|always)\s+(?:respond|answer|say|reply)(?!\w)"
            r"|ignore\s+them\s+and\s+instead\s+(?:focus|do|print|say|answer|follow)(?!\w)"
            r"|i\s+am\s+your\s+(?:developer|creator|administrator|owner|master)\s+and\s+i(?!\w)"
        ),
        "tells to say only one thing": (
            r"(?:ignore|disregard|forget|and)\s+[^.\n]{0,60}?\b(?:just|only|simply)\s+(?:print|say|output)\s+[\"'“‘]?\w{3,}[\"'”’]?(?:\s*[.!]|\Z)"
            r"|(?:reply|respond|answer)\s+only\s+with\s+(?:the\s+(?:word|string|text|phrase)\s+)?(?:[\"'“‘]|[\w-]{3,}(?:\s*[.!]|\Z))"
            r"|(?:antworte|antworten\s+sie)\s+(?:ab\s+jetzt\s+|jetzt\s+)?(?:nur|ausschliesslich)\s+(?:noch\s+)?mit\s+[\"'“„‘»]"
        ),
        "asks to carry text away": (
            r"(?:append|include|insert|embed|add|render|display|show|load)\s+[^.\n]{0,60}?!\[[^\]\n]{0,80}\]\(\s*(?:https?:)?//"
            r"|(?:send|post|upload|forward|transmit|exfiltrate|leak)\s+[^.\n]{0,60}?\b(?:conversation|context|documents?|passwords?|secrets?|chat\s+history|user\s+data|"
            r"credentials|api\s+keys?)\b[^.\n]{0,40}?\s(?:to|at|via)\s+(?:https?://|www\.)"
            r"|(?:schicke?|sende|ubermittle|lade)\s+[^.\n]{0,60}?\b(?:gesprach|kontext|dokumente?|passworte?r?|geheimnisse?|verlauf|zugangsdaten)\b[^.\n]{0,40}?\s(?:an|auf|nach)\s+(?:https?://|www\.)"
        ),
    }.items()
}  # fmt: skip
"""By what each is for. They are looked for in one line without accents, case, hidden characters and more than one space."""

WRITTEN_SO: Mapping[Trick, str] = {
    "tag characters": "holds text in characters that nobody sees",
    "variation selectors": "holds text in characters that nobody sees",
    "zero-width characters": "has characters of no width inside words",
    "direction overrides": "shows letters in another order than they are written",
    "mixed alphabets": "mixes letters of several alphabets in one word",
}


def orders(text: str) -> tuple[str, ...]:
    """What in a text is meant for a model rather than for a reader; nothing, as a rule."""
    line = " ".join(fold(visible(text[:LONGEST])).split())
    return tuple(name for name, pattern in PATTERNS.items() if pattern.search(line))


def oddities(text: str) -> tuple[str, ...]:
    """How a text is written to be read otherwise than it is seen."""
    return tuple(dict.fromkeys(WRITTEN_SO[trick] for trick in tricks(text[:LONGEST])))


def notices(text: str) -> tuple[str, ...]:
    """Both: what a reader should know before they trust what a model makes of a text."""
    return (*orders(text), *oddities(text))
