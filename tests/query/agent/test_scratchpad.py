from dataclasses import replace

from pincite.query.agent.scratchpad import MAX_PASSAGES, Scratchpad, last_line
from pincite.query.prompt.budget import tokenizer
from pincite.query.prompt.templates import template
from tests.builders import hit

WIDE = 10_000


def scratchpad() -> Scratchpad:
    return Scratchpad(template("agent/source"), tokenizer("cl100k_base"))


def test_a_passage_keeps_its_number_however_often_it_is_found() -> None:
    on = scratchpad()
    first, second = hit("Cats purr.", key=1), hit("Dogs bark.", key=2)
    assert on.show([first], WIDE)[1] == (1,)
    assert on.show([second, replace(first, relevance=0.95)], WIDE)[1] == (2, 1)
    assert [one.chunk.key for one in on.hits] == [1, 2]
    assert on.hits[0].relevance == 0.95


def test_a_part_of_a_known_passage_has_that_passages_number_and_more_of_it_another() -> None:
    on = scratchpad()
    whole = hit("Cats purr. Dogs bark.")
    part = replace(whole, chunk=replace(whole.chunk, text="Dogs bark.", start_char=whole.chunk.start_char + 11))
    assert on.show([part], WIDE)[1] == (1,)
    assert on.show([whole], WIDE)[1] == (2,)
    assert on.show([part], WIDE)[1] == (1,)


def test_passages_have_random_boundaries_and_their_origin() -> None:
    on = scratchpad()
    shown, _ = on.show([hit("=== 0 ===\nCats purr.", title="All\nabout cats")], WIDE)
    lines = shown.splitlines()
    assert lines[0] == lines[-1] == on.boundary
    assert lines[1] == "[Source 1] All about cats (doc_id doc1, lines 10-11)"
    assert on.boundary != scratchpad().boundary


def test_only_what_fits_is_shown_and_has_a_number() -> None:
    on = scratchpad()
    hits = [hit(f"Cat {n} purrs all day long and all night.", key=n) for n in range(1, 10)]
    _, numbers = on.show(hits, 150)
    assert 0 < len(numbers) < 9
    assert len(on.hits) == len(numbers)


def test_a_passage_too_long_alone_is_cut_with_the_line_to_continue() -> None:
    on = scratchpad()
    long = hit("\n".join(f"Line {n} of the story." for n in range(200)))
    shown, numbers = on.show([long], 200)
    assert numbers == (1,)
    assert len(shown) < len(long.chunk.text)
    kept = on.hits[0].chunk
    assert long.chunk.text.startswith(kept.text)
    assert kept.end_char == kept.start_char + len(kept.text)
    assert last_line([long], numbers, on) == kept.end_line


def test_no_last_line_where_everything_is_shown() -> None:
    on = scratchpad()
    hits = [hit("Cats purr."), hit("Dogs bark.", key=2)]
    assert last_line(hits, on.show(hits, WIDE)[1], on) is None


def test_a_scratchpad_has_a_maximum_of_passages() -> None:
    on = scratchpad()
    on.show([hit(f"Cat {n}.", key=n) for n in range(1, MAX_PASSAGES + 9)], 100_000)
    assert on.full
    assert len(on.hits) == MAX_PASSAGES
    assert on.show([hit("Another.", key=999)], WIDE) == ("", ())
