"""Decode the bytes of a text: by byte order mark, as UTF-8, by the declared charset, by detection, in this order."""

import codecs
from collections.abc import Iterator

from pincite.errors import Unreadable
from pincite.text.sentences import normalise

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is its first half
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LIKELY = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "mac_roman", "cp437",
    "cp932", "euc_jp", "gb18030", "big5", "cp949", "iso2022_jp",
)  # fmt: skip
"""Charsets that detection tries, the more frequent first; the first wins where two fit equally well."""
_DECLARABLE = frozenset(codecs.lookup(name).name for name in _LIKELY) | {
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1258", "cp874", "tis-620", "koi8-u", "cp850", "cp852", "cp866",
    "shift_jis", "gb2312", "gbk", "big5hkscs", "euc_kr", *(f"iso8859-{part}" for part in range(1, 17)),
}  # fmt: skip
"""Charsets that a text may declare. Other codecs of Python are dangerous, such as `unicode_escape`, or no charsets."""
_WESTERN = frozenset({"ascii", "iso8859-1"})
"""Declared charsets that are read as cp1252, as browsers do: cp1252 has letters where these have control characters."""
_MAX_SAMPLE_BYTES = 32 * 1024
"""Bytes that detection reads: milliseconds for this size, seconds for a large file."""
_MIN_DIFFERENT_BYTES = 3
"""Different bytes beyond ASCII that detection needs; fewer fit any charset."""
_ASCII = bytes(range(128))
_MAX_BROKEN_SHARE = 0.25
"""Share of the characters beyond ASCII that may be broken in a text that is read as UTF-8."""


def decode(data: bytes, declared: str = "") -> str:
    """Return the text, normalised; `declared` is the charset that a header or the text itself names.

    A character is replaced only where no charset fits all bytes. Raises `Unreadable` for bytes that are no text.
    """
    text = _decoded(data, declared)
    nul = text.find("\0")
    if nul >= 0:
        raise Unreadable(f"character {nul + 1} is a NUL, so this is not a text file", code="not_text")
    return normalise(text)


def _decoded(data: bytes, declared: str) -> str:
    for mark, charset in _MARKS.items():
        if data.startswith(mark):
            return data.decode(charset, "replace")
    named = _known(declared)
    # ISO-2022-JP is written in ASCII's bytes, so that it would pass for UTF-8.
    for charset in (named, "utf-8") if named == "iso2022_jp" else ("utf-8", named):
        if charset and (text := _strictly(data, charset)) is not None:
            return text
    if _mostly_utf8(data):
        return data.decode("utf-8", "replace")
    for charset in _detected(data):
        if (text := _strictly(data, charset)) is not None:
            return text
    return data.decode(named or "cp1252", "replace")


def _known(declared: str) -> str:
    """Python's name of a declared charset; empty where a text may not declare it."""
    try:
        name = codecs.lookup(declared.strip().strip("\"'")).name if declared.strip() else ""
    except (LookupError, ValueError):
        return ""
    return "cp1252" if name in _WESTERN else name if name in _DECLARABLE else ""


def _strictly(data: bytes, charset: str) -> str | None:
    """The text, or None where a byte does not belong to this charset."""
    try:
        return data.decode(charset)
    except UnicodeDecodeError:
        return None


def _mostly_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8 with a few broken characters."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    sound = len(text) - len(text.encode("ascii", "ignore")) - broken
    return broken <= _MAX_BROKEN_SHARE * sound


def _detected(data: bytes) -> Iterator[str]:
    """The charsets that detection finds, the best first."""
    from charset_normalizer import from_bytes  # only texts that are not Unicode need it

    sample = _sample(data)
    if len(set(sample.translate(None, _ASCII))) < _MIN_DIFFERENT_BYTES:
        yield "cp1252"
    found = from_bytes(sample, cp_isolation=list(_LIKELY), enable_fallback=False)
    fitting = [
        (match.chaos, -match.coherence, _LIKELY.index(name))
        for match in found
        for name in match.could_be_from_charset
        if name in _LIKELY
    ]
    for _, _, number in sorted(fitting):
        yield _LIKELY[number]


def _sample(data: bytes) -> bytes:
    """Whole lines from the first byte beyond ASCII on; ASCII bytes are the same in all charsets."""
    first = len(data) - len(data.lstrip(_ASCII))
    start = data.rfind(b"\n", max(0, first - 1024), first) + 1 or max(0, first - 1024)
    end = start + _MAX_SAMPLE_BYTES
    if end < len(data):
        end = data.rfind(b"\n", start, end) + 1 or end
    return data[start:end]
