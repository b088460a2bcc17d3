"""Agreement of drafts."""

import pytest

from pincite.query.ensemble.agreement import agrees, is_supported, statements_of
from tests.builders import hit

SOURCES = [hit("Unused days expire on 31 March."), hit("The canteen opens at noon.")]


def agree(one: str, other: str, cosine: float = 0.0) -> bool:
    [mine], others = statements_of(one, SOURCES), statements_of(other, SOURCES)
    vectors = {mine.text: [1.0, 0.0], **{said.text: [cosine, (1 - cosine**2) ** 0.5] for said in others}}
    return agrees(mine, others, vectors)


def test_statements_are_claims_with_the_sources_they_name() -> None:
    text = "Unused days expire on 31 March [Source 1]. They may be paid out. [Source 2] [Source 1]\n\n- Ask Ada."
    one, two, *_ = statements_of(text, SOURCES)
    assert (one.text, one.sources, two.sources) == ("Unused days expire on 31 March", (1,), (2, 1))
    assert two.text.startswith("They may be paid out.")
    assert statements_of("[Source 1]", SOURCES) == statements_of("", SOURCES) == []


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
def test_another_number_name_or_negation_never_agrees(one: str, other: str) -> None:
    assert not agree(one, other, cosine=0.99)


def test_a_high_cosine_replaces_some_shared_words() -> None:
    one, other = "Employees receive ample vacation yearly.", "Every year employees get plenty of leave."
    assert agree(one, other, cosine=0.9)
    assert not agree(one, other, cosine=0.5)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Unused days expire on 31 March [Source 1].", True), ("Unused days expire on 30 March [Source 1].", False),
        ("Unused days expire on 31 March [Source 2].", False), ("Unused days expire on 31 March [Source 9].", False),
        ("Unused days expire on 31 March.", False),
    ],
)  # fmt: skip
def test_a_statement_is_supported_by_its_source(text: str, held: bool) -> None:
    assert is_supported(statements_of(text, SOURCES)[0], SOURCES) == held
