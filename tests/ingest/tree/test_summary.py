"""Central sentences: what most children speak of, each sentence with its passage."""

from pincite.ingest.tree.summary import MAX_SENTENCES, central_sentences, sentences_of

DOME = "The dome of the observatory opens at dusk. Lunch is served at noon in the valley."
SHUTTER = "The shutter of the dome jams in deep snow. The old cook bakes bread twice weekly."
CRANK = "A hand crank closes the dome shutter. The cat sleeps near the warm battery racks."


def test_the_sentences_about_what_the_children_share_come_first() -> None:
    children = [sentences_of(key, text, "en") for key, text in enumerate((DOME, SHUTTER, CRANK))]
    chosen = central_sentences(children, [1.0, 1.0, 1.0])
    assert {one.text for one in chosen[:2]} <= {
        "The shutter of the dome jams in deep snow.",
        "A hand crank closes the dome shutter.",
        "The dome of the observatory opens at dusk.",
    }


def test_each_sentence_is_a_span_of_its_passage() -> None:
    texts = (DOME, SHUTTER, CRANK)
    children = [sentences_of(key, text, "en") for key, text in enumerate(texts)]
    chosen = central_sentences(children, [1.0, 1.0, 1.0])
    assert chosen
    assert all(texts[one.passage][one.start : one.end] == one.text for one in chosen)


def test_a_sentence_is_chosen_once_and_a_summary_is_short() -> None:
    long = " ".join(f"Sentence number {word} speaks of the dome shutter." for word in "abcdefghijklmnop")
    chosen = central_sentences([sentences_of(1, long, "en"), sentences_of(2, long, "en")], [1.0, 1.0])
    assert len(chosen) == MAX_SENTENCES
    assert len({one.text for one in chosen}) == MAX_SENTENCES


def test_a_child_far_from_the_centroid_counts_less() -> None:
    children = [
        sentences_of(1, "Snow covers every roof in winter.", "en"),
        sentences_of(2, "Bread needs fresh yeast and salt.", "en"),
    ]
    assert [one.passage for one in central_sentences(children, [0.2, 0.9])] == [2, 1]


def test_headings_and_fragments_are_no_sentences_of_a_summary() -> None:
    assert sentences_of(1, "# Dome\n\nYes.", "en") == ()


def test_children_without_sentences_have_no_summary() -> None:
    assert central_sentences([(), ()], [1.0, 1.0]) == ()
