"""What a cosine is worth: every embedder spreads its cosines differently, so each has its own coefficients.

Those of the embedded model were fitted on labelled questions (`./run bench calibrate`). Any other one is shown a few
questions and passages, once a process: how near it puts what belongs together, and how near what does not, says where
its cosines lie between those of the model we know, and the fitted coefficients are moved and stretched accordingly. One
that cannot tell the two apart is not listened to: relevance then comes from shared words alone.
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
"""Questions and passages that answer them; each pair has nothing to do with the others."""
LEAST = 0.05
"""An embedder whose related pairs are no nearer than this beyond unrelated ones knows nothing."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Relevance is the logistic of `bias` + `cosine` × cosine + `coverage` × the share of the question's words held."""

    bias: float
    cosine: float
    coverage: float


# A logistic regression on 595 questions of an English and German set; `./run bench calibrate` fits it again.
FITTED = Calibration(-9.46, 7.48, 9.91)
WORDS_ALONE = Calibration(-7.35, 0.0, 11.9)
RELATED, UNRELATED = 0.672, 0.076
"""Mean cosines of the fitted model on the pairs."""

KNOWN: dict[str, Calibration] = {"minilm-l6-v2": FITTED, "scripted": FITTED}
"""By the embedder's name without its variant, which moves cosines by less than the fit is worth."""
_LEARNT: dict[str, Calibration] = {}
"""By the whole name: what others showed since the process began."""


def known(embedder: Embedder) -> Calibration | None:
    """The calibration of an embedder, where it need not be asked."""
    return KNOWN.get(embedder.name.split("/")[0]) or _LEARNT.get(embedder.name)


async def learn(embedder: Embedder) -> Calibration:
    """The calibration of an embedder by its own cosines; `Unavailable` where it cannot be asked."""
    asked = await embedder.embed([question for question, _ in PAIRS], as_query=True)
    told = await embedder.embed([passage for _, passage in PAIRS], as_query=False)
    _LEARNT[embedder.name] = stretched(*nearness(asked, told))
    return _LEARNT[embedder.name]


def nearness(asked: Sequence[Vector], told: Sequence[Vector]) -> tuple[float, float]:
    """The mean cosine of what belongs together, and of what does not."""
    cosines = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in told] for one in asked]
    related = fmean(row[n] for n, row in enumerate(cosines))
    return related, fmean(cosine for n, row in enumerate(cosines) for m, cosine in enumerate(row) if m != n)


def stretched(related: float, unrelated: float) -> Calibration:
    """The fitted coefficients, moved so that these means count as those of the fitted model do."""
    if related - unrelated < LEAST:
        return WORDS_ALONE
    stretch = (RELATED - UNRELATED) / (related - unrelated)
    bias = FITTED.bias + FITTED.cosine * (UNRELATED - unrelated * stretch)
    return Calibration(bias, FITTED.cosine * stretch, FITTED.coverage)


def likened(calibration: Calibration, cosine: float) -> float | None:
    """A cosine as the fitted model would have it; None of an embedder that is not listened to."""
    if not calibration.cosine:
        return None
    return (calibration.bias + calibration.cosine * cosine - FITTED.bias) / FITTED.cosine
