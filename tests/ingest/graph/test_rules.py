"""Entities and facts by rules, in English and German: what is found, and what must not be."""

import time

import pytest

from pincite.core.engines import BuildPassage, BuildSource
from pincite.core.graph import Extracted
from pincite.ingest.graph.rules import extract
from pincite.text.wording.entity_names import name_hash, name_key


def found_in(text: str, *, language: str = "en", title: str = "", mime: str = "text/markdown") -> Extracted:
    return extract(BuildSource(title, mime, (BuildPassage(7, 0, 100, text, (), "prose", language),)))


def names(text: str, *, language: str = "en", title: str = "") -> dict[str, str]:
    return {one.surface: one.kind for one in found_in(text, language=language, title=title).mentions if one.spans}


def facts(
    text: str, *, language: str = "en", title: str = "", mime: str = "text/markdown"
) -> list[tuple[str, str, str]]:
    found = found_in(text, language=language, title=title, mime=mime)
    return [(one.subject, one.relation, one.object) for one in found.facts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She met Rutherford B. Hayes at the University of Vienna.", {"Rutherford B. Hayes": "other", "University of Vienna": "organization"}),
        ("It is governed by ISO 9001 and by the Clean Air Act.", {"ISO 9001": "law", "Clean Air Act": "law"}),
        ("They sailed to Alexander Island during the War of 1812.", {"Alexander Island": "place", "War of 1812": "event"}),
        ("The minister said it on Monday in March. However, nobody listened.", {}),
        ("A Canadian band and the British press came.", {}),
        ("See https://Example.org/Acme and `Acme Corp` or info@Acme.org.", {}),
        ("It was run by the Ministry of Agriculture and Fisheries.", {"Ministry of Agriculture and Fisheries": "organization"}),
        ("It lies on the Canadian Shield, near Manitoba's Hudson Bay.", {"Canadian Shield": "other", "Manitoba": "other", "Hudson Bay": "place"}),
        ("They met US President James Woods and the Mayor of Edison.", {"James Woods": "person"}),
        ('He wrote "The Shadow of an Empire" and "The War of the Worlds".', {"The Shadow of an Empire": "other", "The War of the Worlds": "other"}),
        ("A Chinese-made radio in B-flat, 4 GB, sold for 5 EUR.", {}),
        ("It is a STRANGE day. It gave 1.5 W. Yesterday it rained.", {}),
        ("It was founded by Abu al-Rayhan al-Biruni.", {"Abu al-Rayhan al-Biruni": "other"}),
    ],
)  # fmt: skip
def test_english_names_with_their_types(text: str, expected: dict[str, str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Vertrag wurde von Angela Merkel unterzeichnet.", {"Angela Merkel": "person"}),
        ("Die Regierung plant eine Reform der Verwaltung.", {}),
        ("Im Jahr 1979 traf Präsident Sebastián Piñera die NATO.", {"Sebastián Piñera": "person", "NATO": "other"}),
    ],
)
def test_german_nouns_are_no_names(text: str, expected: dict[str, str]) -> None:
    assert names(text, language="de") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Im Jahr 1345 kam es auf Platz 139, siehe Artikel 267.", {}),
        ("Damals wurde der Rockband-Gitarrist von Duran Duran krank.", {"Duran Duran"}),
        ("Gestern traf der Wirtschaftswissenschaftler Hoesung Lee ein.", {"Hoesung Lee"}),
        ("Danach zog Hurrikan Dora durch den Bundesstaat Georgia.", {"Dora", "Georgia"}),
        ("Später galt das EU-Recht, sagte die Milliarde Jahren.", set()),
        ("Daher gilt der Vertrag von Rom in Spanien und beim Europäischen Gerichtshof.", {"Vertrag von Rom", "Spanien", "Europäischen Gerichtshof"}),
        ("Heute liegt es am Golf von Mexiko und am Kaspischen Meer.", {"Golf von Mexiko", "Kaspischen Meer"}),
        ("Dort regelt § 5 Essen, aber § 823 BGB nicht.", {"§ 823 BGB"}),
    ],
)  # fmt: skip
def test_german_names_are_told_from_the_nouns_beside_them(text: str, expected: set[str]) -> None:
    assert set(names(text, language="de")) == set(expected)


@pytest.mark.parametrize("text", ["Wonderful " * 80, "Aa." * 400, "O'Neil’s " * 200, "Ministry of " + "Aa, " * 100])
def test_long_runs_of_capitals_take_linear_time(text: str) -> None:
    begun = time.process_time()
    found_in(text)
    assert time.process_time() - begun < 5  # with backtracking, it took hours


def test_a_short_form_is_the_name_that_the_document_has() -> None:
    found = found_in("Barack Obama spoke first. Then Obama left. The people cheered Obama.")
    assert [(one.surface, len(one.spans)) for one in found.mentions] == [("Barack Obama", 3)]
    assert found.mentions[0].spans[0] == (100, 112)


def test_an_abbreviation_is_its_long_form_and_says_so() -> None:
    found = found_in("He joined the European Space Agency (ESA). Then ESA grew.")
    assert {one.name for one in found.mentions} == {name_hash("European Space Agency")}
    assert found.same == ((name_hash("ESA"), name_hash("European Space Agency")),)


def test_a_fact_is_the_verb_phrase_between_two_names_and_has_its_sentence() -> None:
    text = "Rain fell. Tidal Song was directed by Mira Okafor. Nobody came."
    [fact] = found_in(text).facts
    assert (fact.subject, fact.relation, fact.object) == ("Tidal Song", "was directed by", "Mira Okafor")
    assert text[fact.start - 100 : fact.end - 100] == "Tidal Song was directed by Mira Okafor."
    assert (fact.chunk, fact.object_name) == (7, name_hash("Mira Okafor"))


def test_a_pronoun_is_what_the_document_is_called_while_that_is_the_subject() -> None:
    text = "Tidal Song is a film. It was directed by Mira Okafor. Anna Berg was born in Oslo. She lives in Rome."
    assert facts(text, title="Tidal Song") == [
        ("Tidal Song", "was directed by", "Mira Okafor"),
        ("Anna Berg", "was born in", "Oslo"),
    ]
    assert ("Tidal Song", "was directed by", "Mira Okafor") not in facts(text)


def test_a_word_that_stands_alone_first_is_no_short_form() -> None:
    found = found_in("They play in Samoa. The team is the Manu Samoa. Then Samoa won.", title="Samoa")
    assert {one.surface for one in found.mentions} == {"Samoa", "Manu Samoa"}


@pytest.mark.parametrize(
    "text",
    [
        "Nordwerk was a UK body established in 1988.",
        "Pretoria Garden is one of South Africa's nine gardens.",
        "Donita Sparks is the drummer for the Lou Reed tribute band.",
        "The son of John Smith was born in Paris.",  # not John Smith
        "Anna Berg, who met Carl Lund, lives in Oslo.",
        "Anna Berg said that Carl Lund lives in Oslo.",
        "Anna Berg and Carl Lund met in Oslo.",
    ],
)
def test_a_sentence_with_another_clause_states_nothing(text: str) -> None:
    assert ("John Smith", "was born in", "Paris") not in facts(text)
    assert facts(text) == []


def test_german_facts() -> None:
    assert facts("Anna Berg gründete die Nordwerk GmbH.", language="de") == [("Anna Berg", "gründete", "Nordwerk GmbH")]


def test_the_cells_of_a_table_are_facts_of_its_rows() -> None:
    table = "| Supplier | Country | Price |\n|---|---|---|\n| Nordwerk | Sweden | 12 EUR |\n"
    assert facts(table) == [("Nordwerk", "Country", "Sweden"), ("Nordwerk", "Price", "12 EUR")]
    assert [one.object_name is None for one in found_in(table).facts] == [False, True]


def test_the_headers_of_an_email_say_who_wrote_to_whom() -> None:
    mail = 'From: Anna Berg <anna@x.org>\nTo: "Carl Lund" <carl@x.org>\n\nHello.'
    assert ("Anna Berg", "wrote to", "Carl Lund") in facts(mail, mime="message/rfc822")
    assert facts(mail) == []


def test_links_join_documents() -> None:
    assert facts("See [Travel Policy](travel.md).", title="Handbook") == [("Handbook", "links to", "Travel Policy")]


def test_names_of_one_sentence_are_joined_and_counted() -> None:
    found = found_in("It joins Anna Berg with Carl Lund. They say Anna Berg likes Carl Lund. Here is Olaf Krog.")
    [edge] = found.edges
    assert {edge.one, edge.other} == {name_hash("Anna Berg"), name_hash("Carl Lund")}
    assert edge.count == 2


def test_names_are_compared_without_case_accents_articles_and_legal_forms() -> None:
    assert name_key("The Müller & Söhne GmbH") == name_key("muller & sohne") == "muller & sohne"
    assert name_key("Anna’s") == "anna"


def test_the_title_is_mentioned_by_every_passage() -> None:
    [mention] = found_in("It is red.", title="Tidal Song (film)").mentions
    assert (mention.surface, mention.spans) == ("Tidal Song", ())
