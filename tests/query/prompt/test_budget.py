import pytest

from pincite.query.prompt.budget import MAX_TURNS, Budget


@pytest.mark.parametrize("window", [512, 2_000, 8_000, 8_192, 128_000, 1_000_000])
def test_the_shares_never_add_up_to_more_than_the_window(window: int) -> None:
    budget = Budget.of(window, "unknown")
    assert budget.prompt + budget.answer <= window
    assert budget == Budget(int(window * 0.125), int(window * 0.125), int(window * 0.56), int(window * 0.19))


def test_small_models_get_less_history() -> None:
    assert Budget.of(8000, "up_to_3b").history == 800
    assert Budget.of(8000, "3b_to_9b").history == 1000


def test_a_setting_lowers_the_share_of_the_sources_and_never_raises_it() -> None:
    assert Budget.of(8000, "unknown", 2000).sources == 2000
    assert Budget.of(8000, "unknown", 9000).sources == 4480


def test_thinking_uses_part_of_the_sources_share() -> None:
    budget = Budget.of(8000, "unknown", thinking=1000)
    assert (budget.thinking, budget.sources, budget.answer) == (1000, 3480, 1520)
    greedy = Budget.of(8000, "unknown", thinking=50_000)
    assert (greedy.thinking, greedy.sources) == (4480 // 3, 4480 - 4480 // 3)
    assert Budget.of(8000, "unknown").for_thinking(50_000) == greedy.thinking
    assert greedy.prompt + greedy.answer + greedy.thinking <= 8000


def test_turns_by_size() -> None:
    assert list(MAX_TURNS.values()) == [3, 6, 10, 15, 6]
