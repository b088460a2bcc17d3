"""The texts of `./run train --tiny`: pairs for the embedder and examples for the reader, without torch."""

import lzma
from pathlib import Path

from training.tiny.texts import FACTS_OF_TOWN, HELD_OUT_TOWNS, examples, facts, table, write_shards


def test_every_line_of_the_tables_is_complete() -> None:
    kinds = {kind for kind, _, _ in table("answers.tsv")}
    for kind, *texts in table("facts.tsv"):
        assert kind in kinds
        assert ["{town}" in text for text in texts] == [True] * 4
        assert ["{answer}" in text for text in texts] == [True, True, False, False]


def test_facts_are_filled_in_and_the_same_each_time() -> None:
    towns = facts()
    assert towns == facts()
    assert len(towns) == len({made[0].town for made in towns}) == len(table("towns.txt"))
    for fact in (fact for made in towns for fact in made):
        assert all(fact.answer[side] in fact.sentence[side] for side in (0, 1))
        assert "{" not in "".join((*fact.sentence, *fact.question))


def test_shards_have_pairs_by_page_and_english_of_all_lengths(tmp_path: Path) -> None:
    towns = facts()[:2]
    assert write_shards(towns, tmp_path) == 4 * FACTS_OF_TOWN
    with lzma.open(tmp_path / "pairs-tiny.txt.xz", "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")
    assert lines[0] == "\t".join(towns[0][0].sentence)
    assert [at for at, line in enumerate(lines) if not line] == [40, 81, 82]
    with lzma.open(tmp_path / "english.txt.xz", "rt", encoding="utf-8") as file:
        words = [len(line.split()) for line in file]
    assert min(words) < 12
    assert max(words) > 120


def test_examples_have_labels_for_every_output_and_right_spans() -> None:
    towns = facts()
    rows = examples(towns)
    answers = {text for made in towns for fact in made for text in fact.answer}
    assert {row["p"][slice(*row["span"])] for row in rows if row["span"]} <= answers
    assert {row["claim"] for row in rows} == {-1, 0, 1, 2}
    assert {row["polarity"] for row in rows} == {-1, 0, 1, 2}
    assert {row["answerable"] for row in rows} == {-1, 0, 1}
    held = {word for row in rows if row["held"] for word in row["p"].split()} & {made[0].town for made in towns}
    assert len(held) <= HELD_OUT_TOWNS
