from pincite.query.ground import align
from tests.builders import found

TEXT = "# Leave\n\nEvery employee has 30 days of leave. Unused days expire on 31 March.\n\n- Carry-over needs the manager's consent."


def quote(claim: str) -> tuple[str, float]:
    aligned = align(claim, found(TEXT))
    return TEXT[aligned.start : aligned.end], aligned.support


def test_the_sentence_that_says_it_is_found() -> None:
    assert quote("Unused days expire on 31 March.") == ("Unused days expire on 31 March.", 1.0)
    assert quote("The manager must give consent for carry-over")[0] == "Carry-over needs the manager's consent."


def test_a_claim_that_needs_two_sentences_gets_both() -> None:
    text, support = quote("Employees have 30 days of leave and unused days expire on 31 March")
    assert text == "Every employee has 30 days of leave. Unused days expire on 31 March."
    assert support == 1.0


def test_what_the_source_does_not_say_has_little_support() -> None:
    assert quote("The canteen opens at noon")[1] == 0.0
