"""What several drafts agree on."""

import pytest

from pincite.query.agreement import agrees, claims_of, figures_in, is_held
from tests.builders import hit


def agree(one: str, other: str, cosine: float = 0.0) -> bool:
    claim, others = claims_of(one)[0], claims_of(other)
    vectors = {claim.text: [1.0, 0.0], **{said.text: [cosine, (1 - cosine**2) ** 0.5] for said in others}}
    return agrees(claim, others, vectors)


def test_statements_are_sentences_with_the_sources_they_name() -> None:
    text = "Unused days expire on 31 March [Source 1]. They may be paid out. [Source 2] [Source 3]\n\n- Ask Ada."
    one, two, three = claims_of(text)
    assert (one.text, one.sources) == ("Unused days expire on 31 March.", {1})
    assert (two.text, two.sources) == ("They may be paid out.", {2, 3})
    assert text[two.start : two.end].startswith("They may")
    assert (three.text, three.sources) == ("Ask Ada.", frozenset())
    assert claims_of("[Source 1]") == claims_of("") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Unused days expire on 31 March.", "The unused days of a year expire on 31 March [Source 2]."),
        ("It costs 1,200 euros.", "It costs 1200 euros a year."),
        (
            "Ada Byron leads the team since 2019.",
            "The team has a leader. It is Ada Byron, since 2019, who leads the team.",
        ),
        ("The lease does not end early.", "The lease never ends early."),
        ("Die Frist endet am 3. Mai.", "Am 3. Mai endet die Frist."),
    ],
)
def test_the_same_said_in_other_words_agrees(one: str, other: str) -> None:
    assert agree(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Unused days expire on 31 March.", "Unused days expire on 30 March."),
        ("Unused days expire on 31 March.", "Unused days expire in March."),
        ("Visitors are allowed in the laboratory.", "Visitors are not allowed in the laboratory."),
        ("The team is led by Ada Byron.", "The team is led by Karl Weber."),
        ("The canteen opens at noon.", "Zebras have stripes."),
        ("The canteen opens at noon.", ""),
    ],
)
def test_another_figure_name_or_negation_does_not_however_alike(one: str, other: str) -> None:
    assert not agree(one, other, cosine=0.99)


def test_likeness_in_meaning_makes_up_for_some_of_the_words() -> None:
    one, other = "Employees receive ample vacation yearly.", "Every year employees get plenty of leave."
    assert agree(one, other, cosine=0.9)
    assert not agree(one, other, cosine=0.5)


def test_a_source_holds_what_has_its_words_and_all_its_figures() -> None:
    sources = [hit("Unused days expire on 31 March."), hit("The canteen opens at noon.")]
    assert is_held(claims_of("Unused days expire on 31 March [Source 1].")[0], sources)
    assert not is_held(claims_of("Unused days expire on 30 March [Source 1].")[0], sources)
    assert not is_held(claims_of("Unused days expire on 31 March [Source 2].")[0], sources)
    assert not is_held(claims_of("Unused days expire on 31 March [Source 9].")[0], sources)
    assert not is_held(claims_of("Unused days expire on 31 March.")[0], sources)


def test_thousands_are_the_same_however_they_are_written() -> None:
    assert figures_in("1,200 and 1.200 and 1200") == {"1200"}
    assert figures_in("3.5 on 2024-05-01") == {"3.5", "2024", "05", "01"}
