"""Detect small talk, which needs no retrieval: greetings, thanks, remarks about the conversation itself."""

import re

from pincite.text.terms import question_language, words

_ADDRESS = r"(?:\W+(?:there|everyone|all|pincite|again|zusammen|nochmal|much|so\ much|very\ much|a\ lot|sehr|schön|vielmals|dir|ihnen|for\ (?:the|your)\ \w+|für\ (?:die|deine|ihre)\ \w+))*"
_TALK = re.compile(
    rf"""^\W*(?:
    (?:hi|hello|hey|howdy|greetings|good\ (?:morning|afternoon|evening|day|night)|hallo|servus|moin(?:\ moin)?|grüezi|grüß\ (?:gott|dich)|
       guten\ (?:morgen|tag|abend)|gute\ nacht|na){_ADDRESS}
  | (?:thanks?(?:\ you)?|many\ thanks|thx|cheers|danke(?:schön)?|vielen\ dank|besten\ dank|herzlichen\ dank|merci){_ADDRESS}
  | (?:bye|goodbye|see\ you(?:\ \w+)?|take\ care|tschüss?|auf\ wiedersehen|bis\ (?:bald|später|morgen|dann)|ciao|ade){_ADDRESS}
  | (?:ok(?:ay)?|alright|great|perfect|nice|cool|super|prima|toll|genau|alles\ klar|verstanden|got\ it|i\ see|understood|yes|no|ja|nein|
       well\ done|good\ job|gut\ gemacht|sehr\ gut|very\ good)
  | (?:(?:hi|hello|hey|hallo)\W+)?(?:how\ are\ you(?:\ (?:doing|today))*|how's\ it\ going|what's\ up|wie\ geht(?:\ es|'s|s)(?:\ (?:dir|ihnen|euch|heute))*|
       nice\ to\ meet\ you|freut\ mich(?:,?\ (?:dich|sie)\ kennenzulernen)?)
  | (?:who|what)\ are\ you|wer\ bist\ du|wer\ sind\ sie|was\ bist\ du|what(?:'s|\ is)\ your\ name|wie\ hei(?:ß|ss)t\ du|
    what\ can\ you\ do(?:\ for\ me)?|was\ kannst\ du(?:\ (?:alles|für\ mich\ tun))?|are\ you\ (?:a\ (?:bot|robot|human|person)|an\ ai)|bist\ du\ (?:ein\ (?:bot|mensch|roboter)|eine\ ki)|
    tell\ me\ a\ joke|erzähl(?:e)?\ (?:mir\ )?(?:einen|mal\ einen)\ witz
  | what\ (?:did|have)\ (?:i|you|we)\ (?:just\ )?(?:ask|say|tell|talk|discuss|asked|said|told|talked|discussed)(?:\ (?:about|you|me|to\ (?:you|me)|so\ far|before|earlier|just\ now|last|first|a\ moment\ ago))*
  | was\ (?:habe?|hast|haben)\ (?:ich|du|wir|sie)\ (?:(?:gerade|eben|dich|dir|mir|vorhin|zuletzt)\ )*(?:gefragt|gesagt|besprochen|geschrieben)(?:\ (?:gerade|eben|vorhin|bisher|zuletzt))*
  | (?:what\ was|repeat|translate|shorten|rephrase|say)\ (?:my|your|that|the|it)\ ?(?:last|previous|first)?\ ?(?:question|answer|message|reply|again)?(?:\ (?:again|once\ more|(?:in|into|to)\ \w+))?
  | (?:was\ war|wiederhole?|übersetze?|kürze?)\ (?:bitte\ )?(?:meine?|deine?|das|die|es)\ ?(?:letzte|vorige|erste)?\ ?(?:frage|antwort|nachricht)?(?:\ (?:nochmal|noch\ einmal|auf|ins?|bitte)(?:\ \w+)?)?
  | (?:please\ |bitte\ |can\ you\ |kannst\ du\ )?(?:summari[sz]e|recap|sum\ up)\ (?:our|this|the)\ (?:conversation|chat|discussion(?:\ so\ far)?)(?:\ so\ far)?
  | (?:bitte\ |kannst\ du\ )?(?:fasse?\ )?(?:unser|unsere|dieses|das|den)\ (?:gespräch|unterhaltung|chat)(?:\ (?:bisher|bitte))*\ (?:zusammen|zusammenfassen)
    )\W*$""",
    re.IGNORECASE | re.VERBOSE,
)  # fmt: skip
_GERMAN = frozenset(
    "hallo servus moin grüezi grüß guten gute tag morgen abend danke dankeschön dank vielen besten herzlichen tschüs tschüss "
    "wiedersehen bald später prima toll genau klar verstanden ja nein gut gemacht".split()
)
MAX_SMALL_TALK_CHARS = 120
"""Longer messages, in characters, are never small talk."""


def is_small_talk(text: str) -> bool:
    """Whether the whole text is a greeting, thanks or a remark about the conversation itself."""
    line = " ".join(text.split())
    return 0 < len(line) <= MAX_SMALL_TALK_CHARS and all(
        _TALK.match(part) for part in re.split(r"(?<=[.!?])\s+", line) if part
    )


def talk_language(text: str) -> str:
    """The language of small talk, `de` or `en`; it has too few stop words for `question_language`."""
    return "de" if set(words(text)) & _GERMAN else question_language(text)
