"""Extend the teacher's vocabulary with German word pieces.

    python training/vocabulary.py --teacher-tokenizer TOKENIZER.json --shards SHARDS

Reads the German side of the shards of `prepare.py`; writes `tokenizer.json` (lower case, accents kept) and
`new_pieces.json`, for each new piece the old ones whose mean it starts from, beside them.
"""

from __future__ import annotations

import argparse
import glob
import json
import lzma
import os
import unicodedata
from pathlib import Path

NEW_PIECES = 12_000
# How often a source's German words count when the word pieces are chosen: general language before software.
WEIGHT = {"tatoeba": 6, "tatoeba-pivot": 6, "omosqa": 8, "ntrex": 10}


def strip_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def old_pieces(piece: str, vocabulary: dict[str, int]) -> list[int]:
    """The ids the old vocabulary gives a new piece (greedy longest match, accents stripped)."""
    inside, rest, found = piece.startswith("##"), strip_accents(piece.removeprefix("##")), []
    while rest:
        for end in range(len(rest), 0, -1):
            candidate = ("##" if inside else "") + rest[:end]
            if candidate in vocabulary:
                found.append(vocabulary[candidate])
                rest, inside = rest[end:], True
                break
        else:
            return []
    return found


def extend_tokenizer(teacher: str, shards: str) -> None:
    """Add German pieces to the teacher's WordPiece vocabulary; note the old pieces each is to start from."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    old = json.loads(Path(teacher).read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = dict(old["model"]["vocab"])
    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.normalizer = normalizers.BertNormalizer(strip_accents=False, lowercase=True)
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=24_000, min_frequency=8, special_tokens=["[UNK]"], show_progress=False
    )

    def german():
        for path in sorted(glob.glob(os.path.join(shards, "pairs-*.txt.xz"))):
            weight = WEIGHT.get(os.path.basename(path)[6:-7], 1)
            with lzma.open(path, "rt", encoding="utf-8") as file:
                for line in file:
                    text = line.rstrip("\n").partition("\t")[2]
                    if text:
                        yield from [text] * weight

    trained.train_from_iterator(german(), trainer)
    ordered = sorted(trained.get_vocab().items(), key=lambda item: item[1])
    letters = [chr(c) for c in [*range(0xDF, 0x250), *range(0x3AC, 0x3CF), *range(0x430, 0x460)]]
    letters = [c for c in letters if c.isalpha() and c == c.lower()]
    start: list[list[int]] = []

    def add(piece: str) -> None:
        pieces = old_pieces(piece, vocabulary_before)
        if piece not in vocabulary and pieces:
            vocabulary[piece] = len(vocabulary)
            start.append(pieces)

    vocabulary_before = dict(vocabulary)
    # Accents are kept from now on, so every accented letter needs a piece or its word becomes [UNK].
    for letter in letters:
        add(letter)
        add("##" + letter)
    for piece, _ in ordered:
        if len(start) >= NEW_PIECES:
            break
        if not any(c.isdigit() for c in piece):
            add(piece)
    old["model"]["vocab"] = vocabulary
    old["normalizer"] = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": False,
        "lowercase": True,
    }
    old["truncation"] = old["padding"] = None
    with open(os.path.join(shards, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(old, file, ensure_ascii=False)
    with open(os.path.join(shards, "new_pieces.json"), "w", encoding="utf-8") as file:
        json.dump(start, file)
    print("pieces", len(vocabulary), "new", len(start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher-tokenizer", required=True)
    parser.add_argument("--shards", required=True)
    options = parser.parse_args()
    extend_tokenizer(options.teacher_tokenizer, options.shards)


if __name__ == "__main__":
    main()
