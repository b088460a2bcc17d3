"""Questions that a passage answers, made from its heading or a definition in it."""

import re

from pincite.core.documents.document import NO_HEADINGS
from pincite.text import lang
from pincite.text.terms import terms, words

LONGEST_HEADING = 100

_NUMBERED = re.compile(r"^(?:\d++[.)]?)++\s+|^[A-Z][.)]\s+")


def about(heading_path: tuple[str, ...], title: str, language: str) -> str | None:
    """A question about what stands under a heading, with the one above it where it says little alone."""
    path = tuple(part for part in heading_path if part != NO_HEADINGS)
    if not path or not lang.sequence("answers.ask_about", language):
        return None
    what, where = _bare(path[-1]), _bare(path[-2] if len(path) > 1 else title)
    content = terms(what, language)
    if not content or len(what) > LONGEST_HEADING:
        return None
    if lang.regex("questions.heading_questions", language, r"%s\b", re.IGNORECASE).match(what):
        return f"{what}?" if len(content) > 1 else f"{where}: {what}?"
    form = "answers.ask_about" if len(content) > 1 else "answers.ask_within"
    return lang.message(form, language).format(what=what, where=where)


def _bare(heading: str) -> str:
    """A heading without its number, mark-up and final stop."""
    return _NUMBERED.sub("", heading.strip(" :.?!#*`"))


def defined(sentence: str, language: str) -> tuple[str, list[str]] | None:
    """`X is a …` → `What is X?`, and the terms of X; None where nothing is defined that can be asked for alone."""
    found = lang.own_regex("answers.definition", language).match(sentence)
    if found is None:
        return None
    named = lang.regex("answers.definition_article", language, r"%s\b ?").sub("", found["what"], count=1)
    content = terms(named, language)
    points = lang.regex("answers.points_elsewhere", language, "%s$", re.IGNORECASE)
    if not content or points.match(named.split()[0]) or len(content) < len(words(named)):
        return None
    article = found["what"].removesuffix(named).lower()
    return lang.message("answers.ask_definition", language).format(verb=found["verb"], what=article + named), content
