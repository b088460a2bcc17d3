"""Judge an answer by the strings it must and must not contain, and by the files it cites."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from pincite.core.evaluations import AnswerQuestion, AnswerVerdict
from pincite.text import lang

SPACES = "\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f"
"""Spaces that count as a blank; within a number they separate thousands."""
MAX_SHORT_WORD = 3
"""Letters of a word that matches as a whole word only."""
MIN_ROW_COMMAS = 4
"""Commas without a blank after them that make a line a row of a CSV file."""

_SAME_CHARACTERS = str.maketrans(
    dict.fromkeys(SPACES, " ")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("‘’‚", "'")
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("\u00ad\u200b\ufeff*`", "")
)
_SPACED_THOUSANDS = re.compile(rf"(?<=\d)[{SPACES}](?=\d{{3}}(?!\d))")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,']\d{3})+(?!\d)")
_NO_CENTS = re.compile(r"(?<=\d)[.,]00(?![\d.,:]*\d)")
_SPACED_PERCENT = re.compile(r"(?<=\d) (?=%)")
_CELL_COMMA = re.compile(r",(?=\S)")


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer to judge: its text without citation marks, the names of the cited files, and whether it refuses."""

    text: str
    cited: Collection[str]
    refused: bool


def judge_answer(question: AnswerQuestion, given: GivenAnswer) -> tuple[AnswerVerdict, str]:
    """Return the verdict on an answer, and the reason if it is not right."""
    spellings = _spellings(given.text)
    has_forbidden = any(_occurs(one, spellings) for one in question.forbidden)
    if question.expect == "refuse":
        refuses = given.refused or (not has_forbidden and _denies(spellings[0]))
        return ("right", "") if refuses else ("wrong", "answered although the documents do not say it")
    if given.refused:
        return "wrongly refused", "refused although the documents say it"
    if has_forbidden:
        return "wrong", "contains a forbidden string"
    found = sum(any(_occurs(one, spellings) for one in group) for group in question.gold)
    if not found:
        return "wrong", "the expected content is missing"
    cited = _cited_sources(question, given.cited)
    wants_all = question.all_sources or question.expect == "conflict"
    if question.sources and not cited:
        return "wrong", "no expected source is cited"
    if found < len(question.gold):
        return "partly", f"{found} of {len(question.gold)} expected parts"
    if wants_all and cited < len(question.sources):
        return "partly", f"{cited} of {len(question.sources)} expected sources"
    return "right", ""


def contains(text: str, wanted: str) -> bool:
    """Whether a text contains a string, ignoring how it is spelled and set.

    Case, kinds of blanks, dashes and quotation marks, thousands separators, `.00` and Markdown marks are ignored. A
    number matches only a whole number, and a word of up to three letters only a whole word.
    """
    return _occurs(wanted, _spellings(text))


def _spellings(text: str) -> tuple[str, str]:
    """The normalised text, and the same with the rows of CSV files split into cells."""
    lines = (_CELL_COMMA.sub(" ; ", line) if _is_row(line) else line for line in text.split("\n"))
    return _normalise(text), _normalise("\n".join(lines))


def _is_row(line: str) -> bool:
    return len(_CELL_COMMA.findall(line)) >= MIN_ROW_COMMAS


def _normalise(text: str) -> str:
    text = _SPACED_THOUSANDS.sub("", unicodedata.normalize("NFC", text)).translate(_SAME_CHARACTERS)
    text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    text = " ".join(_NO_CENTS.sub("", text).split())
    return _SPACED_PERCENT.sub("", text).lower()


def _occurs(wanted: str, spellings: tuple[str, str]) -> bool:
    pattern = _pattern(wanted)
    return pattern is not None and any(pattern.search(text) for text in spellings)


@lru_cache(maxsize=4096)
def _pattern(wanted: str) -> re.Pattern[str] | None:
    text = _normalise(wanted)
    if not text:
        return None
    pattern, word = re.escape(text), text.rstrip(".,")
    if word.isalpha() and len(word) <= MAX_SHORT_WORD and len(text) <= len(word) + 1:
        return re.compile(rf"(?<!\w){pattern}" + (r"(?!\w)" if word == text else ""))
    begin = r"(?<!\d)(?<!\d[.,:])" if text[0].isdigit() else ""
    end = r"(?!\d)(?![.,:]\d)" if text[-1].isdigit() else ""
    return re.compile(begin + pattern + end)


def _denies(text: str) -> bool:
    """Whether a text says that the documents do not contain the answer."""
    found = (lang.own_regex("model_output.not_in_documents", one, flags=re.IGNORECASE) for one in lang.LANGUAGES)
    return any(pattern.search(text) for pattern in found)


def _cited_sources(question: AnswerQuestion, cited: Collection[str]) -> int:
    """The number of expected sources that the answer cites."""
    names = {_file_name(one) for one in cited}
    return sum(_file_name(one) in names for one in question.sources)


def _file_name(path: str) -> str:
    return unicodedata.normalize("NFC", path.replace("\\", "/").rpartition("/")[2]).lower()
