"""The words of each language. Each language has one TOML file beside this module, which is read on first use.

A section groups the keys of one topic. A string is a list of words, an array is a list of
alternatives of a regular expression, and a table maps one word to another. Inside an alternative, `@{name}` stands for the
alternatives of another key of the same section; line breaks and the blanks after them are removed. A language file may
omit any key. The language then has no words for that key.

The words of a language with `everywhere = true` apply to every text, because a short text is often assigned to the
wrong language. The words of other languages apply only to texts in that language: French "mars" and "plus" mean
something else in English.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

Value = str | tuple[str, ...] | Mapping[str, str] | bool

FALLBACK = "en"
"""Language of the messages that a language file lacks, and of a question that no language is evident in."""

LANGUAGES: tuple[str, ...] = tuple(
    sorted(
        (
            file.name.removesuffix(".toml")
            for file in resources.files(__name__).iterdir()
            if file.name.endswith(".toml")
        ),
        key=lambda language: (language != FALLBACK, language),
    )
)
"""ISO 639-1 codes of the languages that have a file, the fallback first."""

_NEVER = r"(?!)"
_REFERENCE = re.compile(r"@\{(\w+)\}")
_LINE_BREAK = re.compile(r"\n *")


class LanguageDataError(ValueError):
    """A language file is wrong, or a key is used for another type of value than it has."""


def parse(text: str, name: str) -> dict[str, Value]:
    """The values of a language file by `section.key`; references are not resolved yet."""
    try:
        sections = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LanguageDataError(f"{name}: {error}") from error
    found: dict[str, Value] = {}
    for section, entries in sections.items():
        if not isinstance(entries, dict):
            raise LanguageDataError(f"{name}: '{section}' stands outside of a section; put it below a [section]")
        for key, value in entries.items():
            found[f"{section}.{key}"] = _checked(value, f"{name}: '{section}.{key}'")
    return found


def _checked(value: Any, place: str) -> Value:
    if isinstance(value, str | bool):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(_LINE_BREAK.sub("", one) for one in value)
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return value
    raise LanguageDataError(
        f"{place} has a wrong type; use a string of words, an array of patterns, or a table of strings"
    )


def _compile(pattern: str, place: str, flags: int = 0) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise LanguageDataError(f"{place}: '{pattern}' is no regular expression: {error}") from error


@cache
def _file(language: str) -> Mapping[str, Value]:
    if language not in LANGUAGES:
        return {}
    name = f"{language}.toml"
    return parse((resources.files(__name__) / name).read_text(encoding="utf-8"), name)


@cache
def all_keys() -> frozenset[str]:
    """The keys that at least one language file has."""
    return frozenset(key for language in LANGUAGES for key in _file(language))


def _value(key: str, language: str, kind: type) -> Any:
    """The value of a key in one language; None where its file lacks it."""
    value = _file(language).get(key)
    if value is not None and not isinstance(value, kind):
        raise LanguageDataError(f"{language}.toml: '{key}' is a {type(value).__name__}, not a {kind.__name__}")
    return value


@cache
def flagged(flag: str) -> tuple[str, ...]:
    """The languages whose file says `true` for a key of `[language]`."""
    return tuple(language for language in LANGUAGES if _value(f"language.{flag}", language, bool))


@cache
def recognised(language: str = "") -> tuple[str, ...]:
    """The languages whose words apply to a text in this language."""
    everywhere = flagged("everywhere")
    return everywhere if language in everywhere or language not in LANGUAGES else (*everywhere, language)


@cache
def sequence(key: str, language: str) -> tuple[str, ...]:
    """The words of a key in one language, in their order."""
    return tuple((_value(key, language, str) or "").split())


@cache
def words(key: str, language: str) -> frozenset[str]:
    """The words of a key in one language."""
    return frozenset(sequence(key, language))


@cache
def recognised_words(key: str, language: str = "") -> frozenset[str]:
    """The words of a key in all languages that apply to a text in this language."""
    return frozenset[str]().union(*(words(key, one) for one in recognised(language)))


@cache
def all_words(key: str) -> frozenset[str]:
    """Return the words that any language has under this key, for texts whose language is not known yet."""
    return frozenset[str]().union(*(words(key, one) for one in LANGUAGES))


@cache
def mapping(key: str, language: str) -> Mapping[str, str]:
    """The table of a key in one language."""
    found: Mapping[str, str] = _value(key, language, dict) or {}
    return found


@cache
def recognised_mapping(key: str, language: str = "") -> Mapping[str, str]:
    """The tables of a key in all languages that apply to a text in this language, as one."""
    return {word: other for one in recognised(language) for word, other in mapping(key, one).items()}


@cache
def message(key: str, language: str) -> str:
    """A text that the product itself says, in this language or else in the fallback's."""
    found: str = _value(key, language, str) or _value(key, FALLBACK, str) or ""
    return " ".join(found.split())


@cache
def patterns(key: str, language: str) -> tuple[str, ...]:
    """The alternatives of a key in one language, with references resolved."""
    section = key.partition(".")[0]

    def resolved(reference: re.Match[str]) -> str:
        return f"(?:{'|'.join(patterns(f'{section}.{reference[1]}', language)) or _NEVER})"

    return tuple(_REFERENCE.sub(resolved, one) for one in _value(key, language, tuple) or ())


def alternatives(key: str, language: str = "") -> str:
    """The alternatives of a key in all languages that apply to a text in this language, joined with `|`."""
    return "|".join(one for each in recognised(language) for one in patterns(key, each)) or _NEVER


@cache
def regex(key: str, language: str = "", template: str = "%s", flags: int = 0) -> re.Pattern[str]:
    """The pattern that matches any alternative of a key in the languages that apply to a text in this language.

    `template` is the pattern around the alternatives; they take the place of its `%s`.
    """
    return _compile(template.replace("%s", f"(?:{alternatives(key, language)})"), key, flags)


@cache
def own_regex(key: str, language: str, template: str = "%s", flags: int = 0) -> re.Pattern[str]:
    """The pattern that matches any alternative of a key in one language; it never matches where the file lacks it."""
    return _compile(template.replace("%s", f"(?:{'|'.join(patterns(key, language)) or _NEVER})"), key, flags)


def any_of(words: Iterable[str]) -> str:
    """A pattern that matches the longest of the words that fits; words with the same beginning share it, for speed."""
    tree: _Tree = {}
    for word in words:
        node = tree
        for char in word:
            node = node.setdefault(char, {})
        node[""] = {}
    return _pattern_of(tree) if tree else "(?!)"


_Tree = dict[str, "_Tree"]
"""Words by their letters; an empty key ends a word."""


def _pattern_of(tree: _Tree) -> str:
    branches = [re.escape(char) + _pattern_of(node) for char, node in sorted(tree.items()) if char]
    if len(branches) == 1 and "" not in tree:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if '' in tree else ''}" if branches else ""
