"""Passages that say the same."""

from pincite.evaluate.questions.near_duplicates import add_duplicate_places
from pincite.evaluate.questions.rule_questions import make_questions, sample_of
from tests.evaluate.questions.test_rule_questions import ENGLISH, passage


def test_a_copy_elsewhere_is_as_good_and_another_passage_is_not() -> None:
    copy = passage(f"A preface that differs. {ENGLISH}", 1, start=5000, end=5000 + 24 + len(ENGLISH), heading_path=())
    other = passage("The refractometer stands on the bench beside the copper boiler in winter.", 2, heading_path=())
    sample = sample_of([passage(heading_path=()), copy, other])
    questions = add_duplicate_places(make_questions(sample, 20, 0), sample)
    [about_the_copy] = [one for one in questions if one.place.document_id == "doc0" and one.kind == "cloze"]
    assert about_the_copy.twins == (copy.place,)
    assert about_the_copy.places == (about_the_copy.place, copy.place)
    assert not any(twin.document_id == "doc2" for one in questions for twin in one.twins if one.kind != "definition")


def test_a_passage_that_overlaps_the_own_place_is_no_twin() -> None:
    following = passage(ordinal=4, heading_path=())
    sample = sample_of([passage(heading_path=()), following])
    assert all(one.twins == () for one in add_duplicate_places(make_questions(sample, 20, 0), sample))
