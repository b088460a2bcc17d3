"""The sentence encoder: one unit vector a text, windows that cover the whole text, free threads."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from pincite.core.protocols import Embedder
from pincite.errors import Invalid, SettingsError
from pincite.models.sentence_encoder import SentenceEncoder
from pincite.models.shipped import shipped_model
from pincite.providers.pincite_embed import Options, make_embedder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder(Options(threads=2))


@pytest.fixture(scope="module")
def count() -> Callable[[str], int]:
    """Counts pieces as the model sees them, independently of the embedder."""
    tokenizer = Tokenizer.from_file(str(shipped_model("pincite-embed").file("tokenizer.json")))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return lambda text: len(tokenizer.encode(text))


def embed(embedder: Embedder, *texts: str, as_query: bool = False) -> np.ndarray[Any, Any]:
    return np.array(asyncio.run(embedder.embed(texts, as_query=as_query)))


def test_vectors_are_unit_vectors_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["", "long " * 200, "a", "the cat sat on the mat"]
    together = embed(embedder, *texts)
    assert together.shape == (4, embedder.dimensions)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for place, text in enumerate(texts):
        assert np.array_equal(embed(embedder, text)[0], together[place])


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert asyncio.run(embedder.embed([], as_query=False)) == []


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    text = "🙂 thanks!"
    alone = embed(embedder, text)[0]
    crowd = [f"{number} " * (number + 1) for number in range(20)]
    assert np.array_equal(embed(embedder, *crowd, text, *crowd)[20], alone)
    assert np.array_equal(embed(make_embedder(Options(threads=1)), text)[0], alone)


def test_a_query_is_embedded_like_a_passage_and_cached(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = make_embedder(Options())
    first = embed(fresh, "who?", "what?", "who?", as_query=True)
    assert np.allclose(first, embed(embedder, "who?", "what?", "who?"), atol=1e-6)
    monkeypatch.setattr(SentenceEncoder, "_run", lambda *_: pytest.fail("computed again"))
    assert np.array_equal(embed(fresh, "what?", as_query=True)[0], first[1])


def test_a_long_query_is_the_mean_of_its_windows(embedder: Embedder) -> None:
    query = " ".join(f"question {number} about boats" for number in range(120))
    mean = embed(embedder, *embedder.windows(query)).mean(axis=0)
    assert np.allclose(embed(embedder, query, as_query=True)[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_a_long_passage_is_refused_not_cut(embedder: Embedder) -> None:
    fits = "word " * 254
    embed(embedder, fits)
    with pytest.raises(Invalid, match="255 word pieces"):
        embed(embedder, fits + "more")


def test_the_loop_is_free_while_texts_are_embedded(embedder: Embedder) -> None:
    async def ticks() -> int:
        work = asyncio.ensure_future(embedder.embed(["word " * 250] * 20, as_query=False))
        count = 0
        while not work.done():
            await asyncio.sleep(0.001)
            count += 1
        return count

    assert asyncio.run(ticks()) >= 20


def test_what_looks_like_a_special_token_is_a_word(embedder: Embedder) -> None:
    with pytest.raises(Invalid, match="300 word pieces"):
        embed(embedder, "[SEP] " * 100)


WORDS = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["Straße", "漢字仮名", "3.14", "한국어", "🙂", "a" * 99, "\n\n"]
)
TEXTS = st.lists(WORDS, max_size=40).map(" ".join)


@given(
    text=TEXTS, repeat=st.integers(1, 12), prefix=st.sampled_from(["", "title: x\n\n", "p" * 3, "long prefix " * 200])
)
@example(text="x" * 90 + " ", repeat=20, prefix="")
@example(text="p", repeat=1, prefix="long prefix " * 200)
@example(text="qzxj" * 25, repeat=1, prefix="qzxj" * 20)
@hypothesis_settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("window", [256, 64])
def test_windows_cover_the_text_and_fit(
    window: int, text: str, repeat: int, prefix: str, count: Callable[[str], int]
) -> None:
    text *= repeat
    windows = of_window(window).windows(text, prefix)
    if count(prefix + text) <= window and count(text) <= PART + 2:
        assert windows == [prefix + text]
        return
    lead = common_start(windows, prefix)
    assert lead == prefix or count(prefix) > window // 2
    assert all(count(part) <= window for part in windows)
    # A text may go on just as a cut prefix would have.
    starts = range(len(lead), max(-1, len(lead) - 20), -1)
    assert any(covers(text, [part[start:] for part in windows]) for start in starts)


PART = Options().part
EMBEDDERS: dict[int, Embedder] = {}


def of_window(window: int) -> Embedder:
    if window not in EMBEDDERS:
        EMBEDDERS[window] = make_embedder(Options(window=window, overlap=window // 8))
    return EMBEDDERS[window]


def common_start(windows: list[str], prefix: str) -> str:
    """How much of the prefix leads every window: all of it unless it was cut."""
    size = 0
    while size < len(prefix) and all(part[: size + 1] == prefix[: size + 1] for part in windows):
        size += 1
    return prefix[:size]


def covers(text: str, parts: list[str]) -> bool:
    """Whether the parts can be laid over the text in their order, each beginning where the one before has reached."""
    ends = {0}
    for part in parts:
        starts = (place for place in range(max(ends) + 1) if text.startswith(part, place))
        ends = {start + len(part) for start in starts if any(start <= end <= start + len(part) for end in ends)}
        if not ends:
            return False
    return len(text) in ends


@pytest.mark.parametrize(("words", "windows"), [(200, 1), (201, 2), (350, 2), (500, 4), (2000, 13)])
def test_windows_are_of_about_equal_length(
    words: int, windows: int, embedder: Embedder, count: Callable[[str], int]
) -> None:
    sizes = [count(window) for window in embedder.windows(" ".join(["word"] * words))]
    assert len(sizes) == windows
    assert max(sizes) <= PART + 2 <= 2 * min(sizes)


def test_windows_are_cut_between_sentences_and_share_none(embedder: Embedder) -> None:
    sentences = [f"The committee discussed item {number} of the long budget once more." for number in range(40)]
    windows = embedder.windows(" ".join(sentences), "Minutes\n")
    assert len(windows) == 3
    found = [sentence for window in windows for sentence in window.removeprefix("Minutes\n").strip().split(". ")]
    assert [sentence.rstrip(".") for sentence in found] == [sentence.rstrip(".") for sentence in sentences]


def test_windows_are_cut_at_blanks(embedder: Embedder) -> None:
    text = " ".join(f"{number}.5%-a" for number in range(200))
    for window in embedder.windows(text):
        assert set(window.split()) <= set(text.split())


def test_the_last_sentence_of_a_long_text_is_found(embedder: Embedder) -> None:
    filler = " ".join(f"The committee discussed item {n} of the budget at some length." for n in range(42))
    last = "Penguins huddle together to keep warm in the Antarctic winter."
    windows = embedder.windows(f"{filler} {last}", "minutes\n\n")
    scores = embed(embedder, *windows) @ embed(embedder, "How do penguins stay warm?", as_query=True)[0]
    assert len(windows) >= 2
    assert scores.argmax() == len(windows) - 1
    assert scores[-1] > max(scores[:-1]) + 0.03


@pytest.mark.parametrize("options", [{"window": 513}, {"window": 8}, {"part": 0}, {"overlap": 33}])
def test_options_that_cannot_work_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"the embedder's {next(iter(options))} must be"):
        Options(**options)
