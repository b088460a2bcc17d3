"""The answer in the form that the question asks for: its parts, each with the span of the source that it quotes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Computation
from pincite.extractive.answer_span import answer_value
from pincite.extractive.lists import NESTED, Listing, items_after, lists_in
from pincite.extractive.paragraph import may_be_corrected, with_paragraph
from pincite.extractive.periods import names_several
from pincite.extractive.question import QuestionTerm, QuestionTerms
from pincite.extractive.rival import rival_sentence
from pincite.extractive.score import ScoredSentence
from pincite.extractive.select import Passage, passages, probabilities, select_sentences
from pincite.extractive.sentences import Sentence
from pincite.extractive.table.questions import read_question
from pincite.extractive.tables import row_at
from pincite.text import lang
from pincite.text.markdown_blocks import plain
from pincite.text.negation import is_negator
from pincite.text.sentences import Span
from pincite.text.terms import question_words, terms, words

MAX_ITEMS = 20
"""Items or rows of one list or table in an answer."""
MIN_VALUE_PROBABILITY = 0.5
"""Probability of the best sentence from which on the answer begins with its value."""
MAX_DENIAL_DISTANCE = 6
"""Words before a value among which a word that denies it is looked for."""
MIN_LEAD_SHARE = 0.5
"""Share of the question's terms that the sentence or heading above a list has, so that the list answers."""


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of the answer and the span of the source that it quotes; `gap` is the white space before it.

    `computed` is set where the part is computed from the rows in the span, `document_name` where it repeats the title of
    the document or the name of its file.
    """

    text: str
    source: int
    start: int
    end: int
    gap: str = " "
    computed: Computation | None = None
    document_name: str = ""


def compose_answer(
    question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]
) -> list[AnswerPart]:
    """The parts of the answer; sentences where the form that the question asks for is not found."""
    form = question.answer.form
    parts: list[AnswerPart] = []
    if form in ("list", "steps"):
        parts = _listed(question, found, sources) or _rows(question, found)
    elif form == "comparison":
        parts = _sides(question, found)
    return parts or _sentences(question, found, sources)


def _sentences(question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]) -> list[AnswerPart]:
    """The selected passages, after the value that answers; a list follows the passage that introduces it."""
    best = found[0].sentence
    no_value = question.answer.form in ("yes_no", "comparison") or may_be_corrected(best.text, best.language)
    rival = rival_sentence(question, found, sources)
    first = "" if no_value or rival else _value(question, found, sources)
    parts = list[AnswerPart]()
    chosen = select_sentences(found[:1] if question.answer.form == "yes_no" else found)
    chosen = _same_numbers(question, chosen, sources)
    if rival and rival not in chosen:
        chosen.insert(1, rival)
    for passage in passages(_same_rows(question, chosen, bool(first)), sources):
        text = sources[passage.source - 1].chunk.text
        if any(part.source == passage.source and part.start <= passage.start < part.end for part in parts):
            continue
        start, end = passage.start, passage.end
        if not parts and not first and _needs_more(question, found[0]):
            start, end = with_paragraph(text, (start, end), best.language, back=best.refers_back)
        start = _with_own_yes_no(question, passage.sentences[0], start, text)
        quoted = _words_of(passage) if (start, end) == (passage.start, passage.end) else plain(text[start:end])
        opening = f"{first} " if first and not parts else ""
        gap = "\n" if passage.sentences[0].is_log_line else parts[-1].gap if parts else " "
        parts.append(AnswerPart(f"{opening}{quoted}", passage.source, start, end, gap))
        if text[: passage.end].endswith(":"):
            parts += [_quoted(text, passage.source, item, "- ") for item in items_after(text, passage.end)[:MAX_ITEMS]]
    return parts


def _same_numbers(question: QuestionTerms, chosen: Sequence[Sentence], sources: Sequence[Hit]) -> list[Sentence]:
    """The chosen sentences without those of other documents that have fewer numbers of the question than the best."""
    documents = [sources[one.source - 1].chunk.document_id for one in chosen]
    held = [{word.text for word in question.numbers if word.is_in(one.terms | one.heading_terms)} for one in chosen]
    return [one for n, one in enumerate(chosen) if documents[n] == documents[0] or not held[n] < held[0]]


def _same_rows(question: QuestionTerms, chosen: Sequence[Sentence], has_value: bool) -> list[Sentence]:
    """The chosen sentences without the rows that have fewer terms of the question in their cells than the best row.

    Where the cell asked for is known, only rows answer.
    """
    best = chosen[0]
    if not best.is_row:
        return list(chosen)
    shared = [word for word in question.terms if word.is_in(_cells_of(best))]
    others = [one for one in chosen[1:] if one.is_row or not has_value]
    return [best, *(one for one in others if not one.is_row or all(word.is_in(_cells_of(one)) for word in shared))]


def _with_own_yes_no(question: QuestionTerms, sentence: Sentence, start: int, text: str) -> int:
    """The start of a quote with the source's own yes or no, or after it where that answers another question.

    A no to a question that is near to the one asked is quoted with the source's question, so that it cannot be misread.
    """
    if sentence.after_yes_no is None or sentence.start != start or not sentence.asked:
        return start
    wanted = frozenset(terms(sentence.asked, sentence.language))
    asks = question.answer.form == "yes_no"
    if asks and all(term.similarity(wanted) for term in question.terms):
        return start
    no = lang.recognised_words("tables.no", sentence.language)
    said = words(text[start : sentence.after_yes_no])
    denied = any(word in no or is_negator(word, sentence.language) for word in said)
    before, own = text[:start].rstrip("\n *_#"), plain(sentence.asked).strip()
    near = any(term.similarity(wanted) for term in question.terms)
    return len(before) - len(own) if asks and denied and near and before.endswith(own) else sentence.after_yes_no


def _needs_more(question: QuestionTerms, best: ScoredSentence) -> bool:
    """Whether the sentences after the best one may complete it: conditions, reasons, a value that it lacks."""
    if best.sentence.is_row:
        return False
    lacks = best.features.get("lacks_kind") or best.features.get("lacks_person")
    why = lang.regex("extractive.why", question.language, r"\b%s\b").search(question.text.lower())
    earlier = may_be_corrected(best.sentence.text, best.sentence.language)
    return bool(lacks or why or earlier or question.answer.form in ("yes_no", "steps"))


def _value(question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]) -> str:
    """The date, number or amount of the best sentence that answers; in a table, the cell of the column asked for.

    The sentence must have every term of the question: the date a lease was signed does not answer when it begins.
    """
    best = found[0].sentence
    held = best.terms | best.heading_terms
    if not all(word.is_in(held) for word in question.numbers):
        return ""
    if best.is_row:
        asked = read_question(question.text, question.language, question.answer.form)
        cell = "" if asked and asked.is_computed else _cell(question, best, sources)  # one cell is no total
        return f"{cell}." if cell else ""
    if (
        names_several(question, best)
        or probabilities(found)[0] < MIN_VALUE_PROBABILITY
        or not all(word.similarity(held) for word in question.terms)
    ):
        return ""
    value = answer_value(question.answer.kind, best.text, best.language, question.forms, question.text)
    if not value or plain(value) == plain(best.text).rstrip(".") or _is_denied(best.text, value, best.language):
        return ""
    return f"{plain(value)}."


def _is_denied(text: str, value: str, language: str) -> bool:
    """Whether a word that denies stands shortly before a value: `not on 17 May`."""
    before = words(text[: max(0, text.replace("\n", " ").find(value))])[-MAX_DENIAL_DISTANCE:]
    return any(is_negator(word, language) for word in before)


def _cell(question: QuestionTerms, best: Sentence, sources: Sequence[Hit]) -> str:
    """The cell whose column and row the question names; empty where several fit."""
    row = row_at(sources[best.source - 1].chunk, best.start, best.end)
    if len(row.names) != len(row.cells):
        return ""
    language = best.language
    named = [_named(question.terms, name, language) for name in row.names]
    rows = [_named(question.terms, cell, language) for cell in row.cells]
    fitting = [n for n, weight in enumerate(named) if weight and weight == max(named) and not rows[n]]
    others = sum(weight for n, weight in enumerate(rows) if n not in fitting)
    return row.cells[fitting[0]] if len(fitting) == 1 and others else ""


def _named(question: Iterable[QuestionTerm], text: str, language: str) -> float:
    """The weight of the question's terms that a cell has."""
    held = frozenset(terms(text, language))
    return sum(word.weight for word in question if word.is_in(held))


def _listed(question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]) -> list[AnswerPart]:
    """The items of the list that the question asks for, after the sentence that introduces them."""
    best: tuple[float, int, Listing] | None = None
    for number in dict.fromkeys(scored.sentence.source for scored in found):
        for listing in lists_in(sources[number - 1].chunk.text):
            share = _leads_to(question, listing, sources[number - 1])
            if question.answer.form == "steps" and not listing.ordered:
                share *= MIN_LEAD_SHARE
            if share >= MIN_LEAD_SHARE and (best is None or share > best[0]):
                best = share, number, listing
    if best is None:
        return []
    _, number, listing = best
    text = sources[number - 1].chunk.text
    parts = [_quoted(text, number, listing.lead, "")] if listing.lead else []
    for place, item in enumerate(listing.items[:MAX_ITEMS], 1):
        mark = f"{place}. " if listing.ordered else "- "
        parts.append(_quoted(text, number, item, mark))
    return parts


def _leads_to(question: QuestionTerms, listing: Listing, hit: Hit) -> float:
    """The share of the question's terms in the sentence before a list and the heading above it."""
    chunk = hit.chunk
    lead_in = chunk.text[listing.lead[0] : listing.lead[1]] if listing.lead else ""
    held = frozenset(terms(" ".join([lead_in, *chunk.heading_path[-1:]]), chunk.language))
    return sum(word.weight * word.similarity(held) for word in question.terms) / question.weight


def _quoted(text: str, source: int, span: Span, mark: str) -> AnswerPart:
    quote = plain(NESTED.sub(" – ", text[span[0] : span[1]]))
    return AnswerPart(f"{mark}{quote}", source, span[0], span[1], "\n")


def _rows(question: QuestionTerms, found: Sequence[ScoredSentence]) -> list[AnswerPart]:
    """The rows of the best row's table that have the same terms of the question in their cells."""
    best = found[0].sentence
    shared = [word for word in question.terms if word.is_in(_cells_of(best))]
    if not best.is_row or not shared:
        return []
    table = (scored.sentence for scored in found if scored.sentence.source == best.source and scored.sentence.is_row)
    rows = [row for row in table if all(word.is_in(_cells_of(row)) for word in shared)]
    ordered = sorted(rows, key=lambda row: row.start)[:MAX_ITEMS]
    if len(ordered) < 2:
        return []
    return [AnswerPart(f"- {_words_of(Passage((row,)))}", row.source, row.start, row.end, "\n") for row in ordered]


def _cells_of(row: Sentence) -> frozenset[str]:
    return frozenset(terms(row.text, row.language))


def _sides(question: QuestionTerms, found: Sequence[ScoredSentence]) -> list[AnswerPart]:
    """One sentence for each of the things compared; none where one of them has no sentence."""
    sides, parts = sides_of(question), list[Sentence]()
    for side in sides:
        others = [word for other in sides if other is not side for word in other]
        one = next((scored.sentence for scored in found if _speaks_for(scored.sentence, side, others)), None)
        if one is None:
            return []
        parts.append(one)
    return [AnswerPart(_words_of(Passage((one,))), one.source, one.start, one.end) for one in parts]


def _speaks_for(sentence: Sentence, words: Sequence[QuestionTerm], others: Sequence[QuestionTerm]) -> bool:
    """Whether a sentence is about one side and does not mention the other."""
    about = any(word.is_in(sentence.terms | sentence.heading_terms) for word in words)
    return about and not any(word.is_in(sentence.terms) for word in others)


def _words_of(passage: Passage) -> str:
    """A passage without its markup, on one line; a table's row with the names of its columns."""
    return " ".join(one.embedded_text if one.is_row else plain(one.text) for one in passage.sentences)


_CONJUNCTION = r"\s%s\s"


def sides_of(question: QuestionTerms) -> list[list[QuestionTerm]]:
    """The terms of each of two things compared; empty where there are no two.

    The last conjunction with terms before and after it separates the two. The term nearest to it that the other side
    does not have names a side: `E-07 and E-11`, `the water rules with the power rules`.
    """
    comparing = lang.recognised_words("extractive.comparing", question.language)
    by_text = {word.text: word for word in question.terms if word.text not in comparing}
    conjunctions = lang.regex("extractive.joins", question.language, _CONJUNCTION, re.IGNORECASE)
    for join in reversed(list(conjunctions.finditer(question.text))):
        left, right = (
            [by_text[text] for text in question_words(part, question.language) if text in by_text]
            for part in (question.text[: join.start()], question.text[join.end() :])
        )
        one, other = [word for word in left if word not in right], [word for word in right if word not in left]
        if one and other:
            return [one[-1:], other[:1]]
    return []
