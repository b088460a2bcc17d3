"""The sentences of the sources that an answer can quote, with the terms around them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pincite.core.query.hits import Hit
from pincite.extractive.tables import columns, is_header, is_row, row_at
from pincite.extractive.whole.outline import LABELLED_LINE, LOG_LINE
from pincite.text import lang
from pincite.text.sentences import Span, sentences, trim
from pincite.text.terms import stem, terms, words
from pincite.text.wording.abbreviations import abbreviations_in, explained_in, phrase_with_initials

MAX_ANSWERING_SENTENCES = 4
"""Sentences after a question of the source that it is read together with."""
INITIALS = range(3, 6)
"""Letters of an abbreviation that no text explains."""
MAX_HEADING_CHARS, MAX_HEADING_WORDS = 60, 6
"""Length of a heading that has no markup."""
MIN_BODY_CHARS = 40
"""Letters of the line below such a heading: a signature has shorter ones."""
MAX_SALUTATION_CHARS = 60
"""Letters of a salutation after its first words."""
_FENCES = ("```", "~~~")
MIN_LOG_LINES = 3
"""Lines with a date, a time or a label that are entries of their own."""
MIN_ENTRY_SHARE = 0.6
"""Share of such lines in a paragraph."""
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_FILE_ENDING = re.compile(r"\.\w{1,5}$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a source with its terms, and those of the sentence before, of the passage and of the headings.

    `number` counts the sentences of its passage. `embedded_text` has the names of the columns for a row of a
    table, and the question of the source for a sentence that answers one. `refers_back` means that the sentence begins with a reference to the sentence before. `above` are the names
    of its document, the headings, and the salutation and the question of the source that it follows. `is_heading` marks a heading.
    `asked` is the question of the source that it answers, `after_yes_no` the offset after its own bare yes or no, and
    `is_quoted` marks an earlier mail that a mail quotes.
    """

    source: int
    number: int
    start: int
    end: int
    text: str
    embedded_text: str
    language: str
    terms: frozenset[str]
    terms_before: frozenset[str]
    passage_terms: frozenset[str]
    heading_terms: frozenset[str]
    relevance: float
    refers_back: bool
    above: str = ""
    is_heading: bool = False
    asked: str = ""
    after_yes_no: int | None = None
    is_quoted: bool = False

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return is_row(self.text)

    @property
    def is_salutation(self) -> bool:
        """Whether it greets the reader of a letter: it tells whom the letter is for, and is no answer by itself."""
        return _salutation(self.language).fullmatch(self.text) is not None

    @property
    def is_log_line(self) -> bool:
        """Whether it begins with a date or a time, as the lines of a log do."""
        return LOG_LINE.match(self.text) is not None


def sentences_of(hits: Sequence[Hit]) -> list[Sentence]:
    """The sentences of the sources that can answer: no headings, column names and comments."""
    found = [sentence for number, hit in enumerate(hits, 1) for sentence in _of(number, hit)]
    known = abbreviations_of(found)
    return [_with_abbreviations(sentence, known) for sentence in found] if known else found


def abbreviations_of(found: Sequence[Sentence]) -> dict[str, str]:
    """The abbreviations that the sentences explain, each with its long form."""
    return {short: long for one in found for short, long in abbreviations_in(one.text).items()}


def _with_abbreviations(sentence: Sentence, known: Mapping[str, str]) -> Sentence:
    """A sentence with the abbreviations of the long forms that it has."""
    held = explained_in(sentence.text, known)
    return replace(sentence, terms=sentence.terms | held, passage_terms=sentence.passage_terms | held)


def with_initials(found: Sequence[Sentence], question: str) -> list[Sentence]:
    """The sentences with a short word of the question that none has, where words in a row begin with its letters.

    `agm` is the `annual general meeting`.
    """
    held = frozenset[str]().union(*(one.passage_terms | one.heading_terms for one in found))
    stop = lang.recognised_words("terms.stop_words")
    short = [one for one in words(question) if one.isalpha() and one not in stop | held]
    known = {
        one: long
        for one in short
        if len(one) in INITIALS
        for sentence in found
        if (long := phrase_with_initials(sentence.text, one))
    }
    return [_with_abbreviations(sentence, known) for sentence in found] if known else list(found)


def _of(source: int, hit: Hit) -> list[Sentence]:
    chunk = hit.chunk
    lines = [line for one in sentences(chunk.text) for line in _lines(chunk.text, one)]
    parts = [_split_heading(chunk.text, line) for line in lines]
    split, headings = [span for part in parts for span in part], {part[0] for part in parts if len(part) > 1}
    spans, after_yes_no = _with_bare_answers(chunk.text, split, chunk.language)
    held = [_terms_with_joined(chunk.text[start:end], chunk.language) for start, end in spans]
    around = frozenset[str]().union(*held)
    names = " ".join([chunk.title, _FILE_ENDING.sub("", chunk.document_name), *chunk.heading_path, chunk.header])
    nothing, asked, asked_at, heading, addressed = frozenset[str](), "", -1, "", ""
    made = []
    for n, (start, end) in enumerate(spans):
        text = chunk.text[start:end]
        if not held[n] or _is_no_answer(hit, (start, end)):
            continue
        if (start, end) in headings:
            heading = text
            continue
        if _asks(text):
            asked, asked_at = text, n
            continue
        if asked and n - asked_at > MAX_ANSWERING_SENTENCES:
            asked = ""
        above = " ".join(part for part in (names, heading, addressed, asked) if part)
        if _salutation(chunk.language).fullmatch(text):
            addressed = text
        named = frozenset(terms(" ".join(columns(chunk, start)), chunk.language)) if is_row(text) else nothing
        made.append(
            Sentence(
                source,
                n,
                start,
                end,
                text,
                row_at(chunk, start, end).to_text()
                if is_row(text)
                else _in_context(text, asked or _question_above(hit)),
                chunk.language,
                held[n] | named,
                held[n - 1] if n else nothing,
                around,
                _terms_with_joined(above, chunk.language),
                hit.relevance,
                bool(n and _back_reference(chunk.language).match(text)),
                above,
                _is_heading(hit, text),
                asked or _question_above(hit),
                after_yes_no.get(start),
                _is_quoted(chunk.text, start),
            )
        )
    return made


def _terms_with_joined(text: str, language: str) -> frozenset[str]:
    """The terms of a sentence; words with a hyphen also in one: `Wi-Fi` is `wifi`."""
    joined = (stem(match.group().replace("-", "").lower(), language) for match in _HYPHENATED.finditer(text))
    return frozenset([*terms(text, language), *joined])


def _question_above(hit: Hit) -> str:
    """The last heading, where it is a question."""
    heading = hit.chunk.heading_path[-1] if hit.chunk.heading_path else ""
    return heading if _asks(heading) else ""


def _in_context(text: str, asked: str) -> str:
    """A sentence with the question that it answers in the source, as its meaning is compared."""
    return f"{asked} {text}" if asked else text


def _asks(text: str) -> bool:
    """Whether a sentence is a question: the sentences after it answer, it does not."""
    return text.rstrip("*_ \n").endswith("?")


def _is_heading(hit: Hit, text: str) -> bool:
    return text.strip("#* ") in {part.strip() for part in hit.chunk.heading_path}


@cache
def _salutation(language: str) -> re.Pattern[str]:
    """A line such as `Dear Ms Dubois,`."""
    pattern = rf"%s\b[^.!?:;,\n]{{0,{MAX_SALUTATION_CHARS}}},"
    return lang.own_regex("extractive.salutations", language, pattern, re.IGNORECASE)


@cache
def _back_reference(language: str) -> re.Pattern[str]:
    """A reference to an earlier sentence within the first words of a sentence."""
    words = "|".join(sorted(lang.recognised_words("extractive.back_references", language)))
    return re.compile(rf"\W*+(?:\w++\W++){{0,3}}?(?:{words})\b", re.IGNORECASE)


def _with_bare_answers(text: str, spans: Sequence[Span], language: str) -> tuple[list[Span], dict[int, int]]:
    """The spans, where a bare yes or no belongs to the sentence after it: without it that sentence is misquoted.

    For such a span, by its start, the offset of the sentence after the bare answer.
    """
    bare = lang.regex("extractive.bare_answers", language, r"\W*%s\W*", re.IGNORECASE)
    joined: list[Span] = []
    after: dict[int, int] = {}
    for start, end in spans:
        before = joined[-1] if joined else None
        if before and bare.fullmatch(text, *before) and not text[before[1] : start].strip("\n *_"):
            joined[-1] = before[0], end
            after[before[0]] = start
        else:
            joined.append((start, end))
    return joined, after


def _is_quoted(text: str, start: int) -> bool:
    """Whether a sentence begins in a line of an earlier mail, which a reply quotes with `>`."""
    return text[text.rfind("\n", 0, start) + 1 : start + 1].lstrip().startswith(">")


def _lines(text: str, span: Span) -> list[Span]:
    """The lines of a code block without its fences, and those of a log, as one line can answer; others as they are."""
    if not text.startswith(_FENCES, span[0]):
        return _log_lines(text, span)
    ends = [match.start() for match in re.finditer("\n", text[: span[1]])]
    starts = [span[0], *(end + 1 for end in ends if end > span[0])]
    lines = (trim(text, start, end) for start, end in zip(starts, [*starts[1:], span[1]], strict=True))
    return [(start, end) for start, end in lines if start < end and not text.startswith(_FENCES, start)]


def _split_heading(text: str, span: Span) -> list[Span]:
    """A heading without markup and the sentence below it, each by itself; any other span as it is.

    Such a heading is a short line without a full stop, above a longer line that begins with a capital letter.
    """
    first, below, _ = text[span[0] : span[1]].partition("\n")
    body = text[span[0] + len(first) + 1 :].split("\n", 1)[0].strip() if below else ""
    short = len(first) <= MAX_HEADING_CHARS and len(first.split()) <= MAX_HEADING_WORDS
    if not short or not first[:1].isupper() or first.rstrip()[-1:] in ".,;:!?-–|" or is_row(first):
        return [span]
    if len(body) < MIN_BODY_CHARS or len(body) < 2 * len(first) or not body[0].isupper() or is_row(body):
        return [span]
    return [trim(text, span[0], span[0] + len(first)), trim(text, span[0] + len(first), span[1])]


def _log_lines(text: str, span: Span) -> list[Span]:
    """The entries of a log and lines with labels, each with the lines that go on with it; any other span as it is."""
    starts = [span[0], *(match.end() for match in re.finditer("\n", text[: span[1]]) if match.end() > span[0])]
    entries = [start for start in starts if LOG_LINE.match(text, start) or LABELLED_LINE.match(text, start)]
    if len(entries) < max(MIN_LOG_LINES, MIN_ENTRY_SHARE * len(starts)):
        return [span]
    cuts = sorted({span[0], *entries})
    return [trim(text, start, end) for start, end in zip(cuts, [*cuts[1:], span[1]], strict=True)]


def _is_no_answer(hit: Hit, span: Span) -> bool:
    """Whether a span is a comment, the header of a table, or a heading without a number."""
    text = hit.chunk.text[span[0] : span[1]]
    if _is_heading(hit, text):
        return not any(char.isdigit() for char in text)
    return text.startswith("<!--") or is_header(hit.chunk.text, span[1])
