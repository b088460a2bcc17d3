"""What a model says is reduced to what the passage states."""

from pincite.core.engines import BuildPassage, BuildSource
from pincite.core.graph import Extracted
from pincite.ingest.graph.checked import Claimed, ClaimedFact, checked
from pincite.text.wording.entity_names import name_hash

TEXT = "Mira Okafor directed Tidal Song. It was shown in Lisbon. Mira  Okafor lives in Lagos."


def found(*facts: tuple[str, str, str], **entities: str) -> Extracted:
    source = BuildSource("", "", (BuildPassage(7, 0, 100, TEXT, (), "prose", "en"),))
    named = {name.replace("_", " "): kind for name, kind in entities.items()}
    return checked(source, {7: Claimed(named, [ClaimedFact(*fact) for fact in facts])})


def test_a_name_that_does_not_stand_in_the_passage_is_dropped() -> None:
    mentions = found(Mira_Okafor="person", Berlin="place", Tidal="event", Lis="place").mentions
    assert [(one.surface, one.kind, one.spans) for one in mentions] == [
        ("Mira Okafor", "person", ((100, 111), (157, 169))),
        ("Tidal", "event", ((121, 126),)),
    ]


def test_a_fact_leads_to_the_sentence_that_states_it() -> None:
    [fact] = found(("Mira Okafor", "lives in", "Lagos")).facts
    assert (fact.start - 100, fact.end - 100) == (57, len(TEXT))
    assert (fact.chunk, fact.subject_name, fact.object_name) == (7, name_hash("Mira Okafor"), name_hash("Lagos"))


def test_a_fact_that_no_sentence_states_is_dropped() -> None:
    assert (
        found(
            ("Mira Okafor", "was born in", "Berlin"),  # not in the passage
            ("Tidal Song", "was shown in", "Lisbon"),  # in two sentences
            ("Mira Okafor", "produced", "Tidal Song"),  # another relation
            ("Mira Okafor", "is", "mira okafor"),
        ).facts
        == ()
    )


def test_names_of_one_sentence_are_joined() -> None:
    [edge] = found(Mira_Okafor="person", Tidal_Song="other", Lisbon="place").edges
    assert {edge.one, edge.other} == {name_hash("Mira Okafor"), name_hash("Tidal Song")}


def test_an_unknown_type_is_other() -> None:
    assert [one.kind for one in found(Lagos="metropolis").mentions] == ["other"]
