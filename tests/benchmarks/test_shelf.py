import numpy as np

from benchmarks._shelf import ASKED, MadeUp, spell
from pincite.text import lang


def test_every_number_is_spelt_as_another_word_and_none_as_a_stop_word() -> None:
    words = [spell(number) for number in range(20_000)]
    assert len(set(words)) == len(words)
    assert not lang.all_words("terms.stop_words") & set(words)


def test_the_made_up_library_is_the_same_every_time() -> None:
    first, again = MadeUp(50), MadeUp(50)
    assert [first.text(n) for n in range(50)] == [again.text(n) for n in range(50)]
    assert first.questions == again.questions
    assert np.array_equal(first.vectors, again.vectors)


def test_a_question_is_made_of_the_words_of_one_passage() -> None:
    made = MadeUp(50)
    passages = [set(made.text(n).split()) for n in range(50)]
    for question in made.questions[:20]:
        assert len(question.split()) == ASKED
        assert any(set(question.split()) <= passage for passage in passages)
