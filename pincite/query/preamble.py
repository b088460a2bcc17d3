"""What models say before they answer: "Sure! Based on the provided context, …", in English and German."""

import re

_GIVEN = r"(?:provided|given|supplied|available|above|following|retrieved|relevant|attached)"
_PAPERS = r"(?:context|documents?|documentation|sources?|information|passages?|excerpts?|texts?|materials?|contents?)"
_GEGEBEN = r"(?:bereitgestellt|gegeben|vorliegend|verfügbar|angegeben|obig|gefunden|relevant)e[nmrs]?"
_UNTERLAGEN = (
    r"(?:Kontexte?s?|Dokumente?n?s?|Quellen?|Informationen|Textes?|Texte|Textstellen|Auszügen?|Unterlagen|Passagen)"
)
_SUBJECT = r"(?-i:[A-ZÄÖÜ])|(?:der|die|das|ein|eine|es|sie|er|wir|man|dies|diese|dieser|dieses)\b"
"""What a German main clause that stands on its own may begin with; after a comma a verb would not."""

_PREAMBLE = re.compile(
    rf"""
      (?: sure(?:\ thing)? | certainly | of\ course | great\ question | good\ question | happy\ to\ help
        | gerne | natürlich | selbstverständlich | aber\ gerne | klar | gute\ frage | danke\ für\ (?:die|deine|ihre)\ frage
      ) \s?[!.,:–—-]++(?=\s|$)
    | (?: i['’]d\ be | i\ am | i['’]m | i\ would\ be ) \ (?:happy|glad)\ to\ (?:help|answer)[^.!?:\n]{{0,80}}[.!:]
    | i(?:['’]ll|\ will|\ can)\ (?:gladly\ |happily\ )?help(?:\ you)?(?:\ with\ (?:that|this))?\s?[.!:](?=\s|$)
    | (?: ich\ helfe\ (?:dir|ihnen)\ gerne?[^.!?:\n]{{0,80}} | gerne\ (?:beantworte|helfe)\ ich[^.!?:\n]{{0,80}} )[.!:]
    | here(?:['’]s|\ is|\ are)\ (?:the|a|an|your|my)\ (?:\w++\ ){{0,3}}?(?:answer|response|summary|overview|information)
      \b[^.!?:\n]{{0,100}}:
    | hier\ (?:ist|sind|finden\ sie|findest\ du)\ (?:die|eine|deine|ihre|meine)\ (?:\w++\ ){{0,3}}?
      (?:antwort|zusammenfassung|übersicht|informationen)\b[^.!?:\n]{{0,100}}:
    | (?: based\ (?:up)?on | according\ to | as\ per | from ) \ (?:(?:the|your|these|this|all)\ ){{0,2}}
      (?:{_GIVEN}(?:,?\ and)?\ ){{0,3}}{_PAPERS}
      (?:\ (?:(?:that\ )?you\ (?:have\ )?)?(?:provided|given|supplied|above|below|available))?\s?[,:]
    | (?: basierend\ auf | auf\ (?:der\ )?(?:basis|grundlage)(?:\ von)? | anhand | laut | gemäß )
      \ (?:(?:der|den|dem|des|deinen|ihren|diesen)\ )?(?:{_GEGEBEN}\ ){{0,3}}{_UNTERLAGEN} (?: \s?: | ,(?=\ (?:{_SUBJECT})))
    """,
    re.VERBOSE | re.IGNORECASE,
)


def without_preamble(text: str) -> str:
    """The start of an answer without what only introduces it; empty where that is all."""
    rest = text.lstrip()
    while found := _PREAMBLE.match(rest):
        rest = rest[found.end() :].lstrip()
        rest = rest[:1].upper() + rest[1:]
    return rest
