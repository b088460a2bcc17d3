"""Calibration of relevance: coefficients per embedder, because embedders distribute their cosines differently.

The coefficients of the built-in model are fitted on labelled questions (`./run bench calibrate`). Any other embedder
embeds a few related and unrelated pairs of question and passage, once per process. The mean cosines of both kinds are
mapped to those of the built-in model, and its coefficients are shifted and scaled accordingly. If an embedder does not
separate related from unrelated pairs, relevance is computed from shared words alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from pincite.core.protocols import Embedder, Vector

PAIRS = (
    ("When does the swimming pool open on Sundays?", "On Sundays the pool is open from nine in the morning until six."),
    ("How do I reset my password?", "To choose a new password, follow the link that we send to your address."),
    ("What do bees make honey from?", "Honey is made by bees out of the nectar they collect from flowers."),
    ("Wie viele Urlaubstage habe ich im Jahr?", "Allen Beschäftigten stehen dreißig Tage Urlaub im Jahr zu."),
    ("Wer hat die alte Brücke gebaut?", "Die alte Brücke wurde von Baumeister Peter Arnold errichtet."),
    ("Welche Reifen braucht man im Winter?", "Bei Schnee und Eis sind Winterreifen vorgeschrieben."),
)
"""Questions and passages that answer them; the pairs are unrelated to each other."""

MIN_COSINE_GAP = 0.05
"""Minimum gap between the mean cosines of related and unrelated pairs; below it, cosines are ignored."""


RELATED_MEAN, UNRELATED_MEAN = 0.672, 0.076
"""Mean cosines of related and unrelated pairs on the common scale, to which the cosines of every embedder are mapped."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Relevance is the logistic of `bias` + `cosine` × cosine + `coverage` × share of the question's words found.

    `related` and `unrelated` are the mean cosines of the embedder on `PAIRS`.
    """

    bias: float
    cosine: float
    coverage: float
    related: float = RELATED_MEAN
    unrelated: float = UNRELATED_MEAN


# Logistic regressions on 595 questions of an English and German set; refit with `./run bench calibrate`.
FITTED = Calibration(-42.04, 46.59, 3.71, 0.922, 0.723)
"""The built-in model."""
MINILM = Calibration(-9.46, 7.48, 9.91)
LEXICAL_ONLY = Calibration(-7.35, 0.0, 11.9)

KNOWN: dict[str, Calibration] = {"pincite-embed": FITTED, "minilm-l6-v2": MINILM, "scripted": MINILM}
"""Calibrations by embedder name without its variant; the variant changes cosines by less than the fit's error."""
_LEARNED: dict[str, Calibration] = {}
"""Calibrations learned in this process, by full embedder name."""


def known_calibration(embedder: Embedder) -> Calibration | None:
    """Return the calibration of an embedder if it is already known."""
    return KNOWN.get(embedder.name.split("/")[0]) or _LEARNED.get(embedder.name)


async def learn_calibration(embedder: Embedder) -> Calibration:
    """Compute the calibration of an embedder from its own cosines; raises `Unavailable` if it cannot be reached."""
    questions = await embedder.embed([question for question, _ in PAIRS], as_query=True)
    passages = await embedder.embed([passage for _, passage in PAIRS], as_query=False)
    _LEARNED[embedder.name] = scale_calibration(*mean_cosines(questions, passages))
    return _LEARNED[embedder.name]


def mean_cosines(questions: Sequence[Vector], passages: Sequence[Vector]) -> tuple[float, float]:
    """Return the mean cosine of related and of unrelated pairs."""
    cosines = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in passages] for one in questions]
    related = fmean(row[n] for n, row in enumerate(cosines))
    return related, fmean(cosine for n, row in enumerate(cosines) for m, cosine in enumerate(row) if m != n)


def scale_calibration(related: float, unrelated: float) -> Calibration:
    """Return the fitted coefficients, scaled so that these means correspond to those of the fitted model."""
    if related - unrelated < MIN_COSINE_GAP:
        return LEXICAL_ONLY
    stretch = (FITTED.related - FITTED.unrelated) / (related - unrelated)
    bias = FITTED.bias + FITTED.cosine * (FITTED.unrelated - unrelated * stretch)
    return Calibration(bias, FITTED.cosine * stretch, FITTED.coverage, related, unrelated)


def to_common_scale(calibration: Calibration, cosine: float) -> float | None:
    """Map a cosine to the common scale by the means of the embedder; None if its cosines are ignored."""
    if not calibration.cosine:
        return None
    share = (cosine - calibration.unrelated) / (calibration.related - calibration.unrelated)
    return UNRELATED_MEAN + share * (RELATED_MEAN - UNRELATED_MEAN)


def on_common_scale(embedder: Embedder, cosine: float) -> float:
    """Map a cosine of an embedder to the scale of all-MiniLM-L6-v2; unchanged if the embedder's cosines are unknown."""
    calibration = known_calibration(embedder)
    scaled = to_common_scale(calibration, cosine) if calibration else None
    return cosine if scaled is None else round(scaled, 9)
