"""Take a share of the examples that `read_prepare.py` or `read_records.py` packed, to make a training shorter.

python training/read_sample.py READ/train.npz SAMPLE/train.npz --share .42
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

PIECES = ("ids", "sentence")
"""Arrays with a value for each word piece; the others have one for each example."""


def sample(source: str, out: str, share: float, seed: int = 4) -> tuple[int, int]:
    """Write the chosen examples; return their number and that of their word pieces."""
    packed = np.load(source)
    lengths = packed["length"]
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(lengths)) < share)
    inside = np.repeat(np.isin(np.arange(len(lengths)), chosen), lengths)
    arrays = {name: packed[name][inside if name in PIECES else chosen] for name in packed.files if name != "sources"}
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    np.savez(out, **arrays)
    return len(chosen), int(inside.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("--share", type=float, required=True)
    options = parser.parse_args()
    examples, pieces = sample(options.source, options.out, options.share)
    print(f"{examples} examples, {pieces / 1e6:.1f} million pieces")


if __name__ == "__main__":
    main()
