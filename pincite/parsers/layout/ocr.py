"""Recognizes the words in a picture of a page with RapidOCR, which the extra `ocr` installs with its models."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from pincite.core.documents.pages import Box
from pincite.parsers.layout.words import PageWords, Sheet, Word
from pincite.parsers.markdown_out.writer import one_line

INSTALL_HINT = "install the extra 'ocr' (in the checkout: pip install '.[ocr]')"
"""What to do where text recognition is missing, for messages."""

_MIN_LINE_SCORE = 0.6
"""Minimum confidence of a line, between 0 and 1; other lines are dropped."""
_MIN_PAGE_SCORE = 0.8
"""Mean confidence below which the page is also tried in other rotations."""
_TALL_RATIO = 1.5
"""Ratio of height to width above which a line counts as vertical."""
_LETTER_SHARE, _BELOW_SHARE = 0.72, 0.2
"""Height of the letters, and of the part below the baseline, relative to the height of the line's box."""
_MIN_SPACE = 0.25
"""Minimum space between two words relative to the font size; the recognized boxes are wider than the words."""
_SAME_SIZE = 0.35
"""Maximum deviation from the usual font size at which a line counts as having it."""
_MAX_SIDE, _FIND_SIDE = 2400, 1280
"""Maximum pixels of the longer side for recognizing letters, and for finding lines; memory grows with them."""
_MIN_CHARS = 2
"""Minimum number of letters and digits on a page; a single one is more likely a drawing."""
_MAX_BAND_RATIO, _MAX_BANDS = 3.0, 30
"""Maximum ratio of height to width; a higher picture, such as one of a long web page, is read in bands. And the maximum
number of bands."""
_MIN_STRIP_PIXELS = 20
"""Minimum width in pixels, at the scale for finding lines; a narrower picture cannot contain any."""
_THREADS = 2
"""Threads of the recognition engine."""
_MIN_CONTRAST = 12
"""Minimum difference of the brightest and the darkest pixel; with less, the picture is blank."""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    score: float
    box: Box
    words: tuple[Box, ...]


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None


def read_picture(pixels: Any, width: float, height: float) -> PageWords:
    """The words in a picture of a page of this size; `pixels` is an array in BGR order. Rotated pages are detected."""
    import numpy

    if _is_strip(*pixels.shape[:2]) or int(pixels.max()) - int(pixels.min()) < _MIN_CONTRAST:
        return PageWords(width, height)
    turn, lines = 0, [line for top, band in _bands(pixels) for line in _moved(_recognize(band), top)]
    sideways = _mostly_tall(lines)
    if lines and (sideways or _mean_score(lines) < _MIN_PAGE_SCORE):
        # Vertical lines that were recognized upright do not compete: their order and boxes would be wrong.
        tried = [] if sideways else [(turn, lines)]
        for other in (1, 3) if sideways else (2,):
            tried.append((other, _recognize(numpy.ascontiguousarray(numpy.rot90(pixels, other)))))
        turn, lines = max(tried, key=lambda one: _mean_score(one[1]))
    across, down = (height, width) if turn in (1, 3) else (width, height)
    scale = across / pixels.shape[0 if turn in (1, 3) else 1]
    words = _with_equal_sizes([word for line in lines if line.score >= _MIN_LINE_SCORE for word in _words(line, scale)])
    if sum(map(str.isalnum, "".join(word.text for word in words))) < _MIN_CHARS:
        return PageWords(width, height)
    return PageWords(width, height, (Sheet(turn, across, down, tuple(words)),))


def _is_strip(height: int, width: int) -> bool:
    """Whether a picture is too narrow to contain a line."""
    longer = max(width, min(height, _MAX_BAND_RATIO * width))
    return (
        min(height, width) * min(1.0, _FIND_SIDE / longer) < _MIN_STRIP_PIXELS
        or height > _MAX_BANDS * _MAX_BAND_RATIO * width
    )


def _bands(pixels: Any) -> Iterator[tuple[int, Any]]:
    """The picture, or bands of one that is much higher than wide, each with its top; bands end at blank rows."""
    height, width = pixels.shape[:2]
    top = 0
    while height - top > _MAX_BAND_RATIO * width:
        first, last = top + round(_MAX_BAND_RATIO * width / 2), top + round(_MAX_BAND_RATIO * width)
        contrast = pixels[first:last].max(axis=(1, 2)).astype(int) - pixels[first:last].min(axis=(1, 2))
        end = last - int(contrast[::-1].argmin())
        yield top, pixels[top:end]
        top = end
    if height - top >= _MIN_STRIP_PIXELS:
        yield top, pixels[top:]


def _moved(lines: Iterable[_Line], by: float) -> list[_Line]:
    def lower(box: Box) -> Box:
        return box[0], box[1] + by, box[2], box[3] + by

    return [replace(line, box=lower(line.box), words=tuple(map(lower, line.words))) for line in lines]


def _mean_score(lines: Sequence[_Line]) -> float:
    chars = sum(len(line.text) for line in lines)
    return sum(line.score * len(line.text) for line in lines) / chars if chars else 0.0


def _mostly_tall(lines: Sequence[_Line]) -> bool:
    tall = sum(
        len(line.text) for line in lines if line.box[3] - line.box[1] > _TALL_RATIO * (line.box[2] - line.box[0])
    )
    return tall * 2 > sum(len(line.text) for line in lines)


@cache
def _engine() -> Any:
    """The recognition engine, created once; its models are in its package, so nothing is downloaded."""
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    paths = {f"{part}.model_path": str(next(models.glob(f"*_{part.lower()}_*.onnx"))) for part in ("Det", "Rec")}
    return rapidocr.RapidOCR(
        params={
            **paths,
            "Global.log_level": "critical",
            "Global.text_score": 0.0,
            "Global.use_cls": False,
            "Global.max_side_len": _MAX_SIDE,
            "Det.limit_type": "max",
            "Det.limit_side_len": _FIND_SIDE,
            "Rec.rec_batch_num": 1,
            "EngineConfig.onnxruntime.intra_op_num_threads": _THREADS,
        }
    )


def _recognize(pixels: Any) -> list[_Line]:
    from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError

    try:
        found = _engine()(pixels, return_word_box=True)
    except ONNXRuntimeError as error:
        # With its own models, memory is all that can fail.
        raise MemoryError("not enough memory to recognize text") from error
    if found.boxes is None or not found.txts:
        return []
    return [
        _Line(
            one_line(text), float(score), _bounding_box(box), tuple(_bounding_box(corners) for _, _, corners in words)
        )
        for text, score, box, words in zip(found.txts, found.scores, found.boxes, found.word_results, strict=True)
        if one_line(text)
    ]


def _bounding_box(corners: Any) -> Box:
    xs, ys = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _words(line: _Line, scale: float) -> list[Word]:
    """The words of a line; if the recognized boxes do not match the words, each word gets its share of the line."""
    tokens = line.text.split()
    left, top, right, bottom = (edge * scale for edge in line.box)
    size = round(_LETTER_SHARE * (bottom - top), 1)
    if len(tokens) == len(line.words):
        spans = [(box[0] * scale, box[2] * scale) for box in line.words]
    else:
        step, ends = (right - left) / len(line.text), [0]
        for token in tokens:
            ends.append(line.text.index(token, ends[-1]) + len(token))
        spans = [
            (left + (end - len(token)) * step, left + end * step) for token, end in zip(tokens, ends[1:], strict=True)
        ]
    spans.sort()
    limits = [after[0] - _MIN_SPACE * size for _, after in pairwise(spans)] + [right]
    base = bottom - _BELOW_SHARE * (bottom - top)
    return [
        Word(token, (start, top, max(start + 0.1, min(end, limit)), bottom), base, size)
        for token, (start, end), limit in zip(tokens, spans, limits, strict=True)
    ]


def _with_equal_sizes(words: Sequence[Word]) -> list[Word]:
    """The words with nearly equal sizes made equal: the box of a line depends on its ascenders and descenders."""
    if not words:
        return []
    usual = median(word.size for word in words for _ in word.text)
    return [
        replace(word, size=usual if abs(word.size - usual) < _SAME_SIZE * usual else float(round(word.size)))
        for word in words
    ]
