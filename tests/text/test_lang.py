"""The language files: they are sound, every key is used, and no other module has words of a language."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

from pincite.text import lang
from tests.sources import MODULES, PACKAGE, forget, text_of, walked

READERS = {
    "words", "sequence", "recognised_words", "all_words", "mapping", "recognised_mapping", "message", "patterns",
    "alternatives", "regex", "own_regex",
}  # fmt: skip
KEY = re.compile(r"[a-z_]+\.[a-z_]+")


@pytest.fixture(scope="module", autouse=True)
def clear_away() -> Iterator[None]:
    yield
    forget()


@cache
def values(language: str) -> dict[str, lang.Value]:
    name = f"{language}.toml"
    return lang.parse((resources.files("pincite.text.lang") / name).read_text(encoding="utf-8"), name)


@pytest.mark.parametrize("language", lang.LANGUAGES)
def test_all_patterns_compile_and_all_references_resolve(language: str) -> None:
    for key, value in values(language).items():
        if isinstance(value, tuple):
            section = key.partition(".")[0]
            references = {name for one in value for name in re.findall(r"@\{(\w+)\}", one)}
            assert {f"{section}.{name}" for name in references} <= values(language).keys(), key
            lang.own_regex(key, language)


@cache
def used_literals() -> set[str]:
    """Every string literal of the package, also the parts of formatted ones."""
    return {
        node.value
        for path in MODULES
        for node in walked(text_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_key_of_a_file_is_used() -> None:
    literals = used_literals()
    for language in lang.LANGUAGES:
        found = values(language)
        patterns = (one for value in found.values() if isinstance(value, tuple) for one in value)
        referenced = {name for one in patterns for name in re.findall(r"@\{(\w+)\}", one)}
        unused = [key for key in found if key not in literals and key.partition(".")[2] not in literals | referenced]
        assert unused == [], f"{language}.toml has keys that nothing reads"


def test_every_key_that_is_read_is_in_a_file() -> None:
    sections = {key.partition(".")[0] for key in lang.all_keys()}
    asked = {one for one in used_literals() if KEY.fullmatch(one) and one.partition(".")[0] in sections}
    read = {
        argument.value
        for path in MODULES
        for node in walked(text_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS
        for argument in node.args[:1]
        if isinstance(argument, ast.Constant) and argument.value in asked
    }
    assert len(read) > 80
    assert read - lang.all_keys() == set()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stop = 'a b'", r"x\.toml: 'stop' stands outside of a section"),
        ("[terms]\nstop_words = 3", r"x\.toml: 'terms\.stop_words' has a wrong type"),
        ("[terms]\nstop_words = [1, 2]", r"x\.toml: 'terms\.stop_words' has a wrong type"),
        ("[terms]\nstop_words", r"x\.toml: Expected '='"),
    ],
)
def test_a_wrong_file_is_explained(text: str, message: str) -> None:
    with pytest.raises(lang.LanguageDataError, match=message):
        lang.parse(text, "x.toml")


def test_a_key_that_is_read_as_another_type_is_explained() -> None:
    with pytest.raises(lang.LanguageDataError, match=r"en\.toml: 'terms\.stop_words' is a str, not a dict"):
        lang.mapping("terms.stop_words", "en")


def test_a_language_may_leave_out_keys_and_a_text_may_be_in_any_language() -> None:
    assert lang.words("phrases.no_nouns", "fr") == frozenset()
    assert lang.words("terms.stop_words", "xx") == frozenset()
    assert lang.own_regex("phrases.nothing", "fr").search("rien") is None
    assert lang.message("answers.nothing_found", "xx") == lang.message("answers.nothing_found", "en")


def test_a_language_of_its_own_applies_only_to_its_texts() -> None:
    assert lang.LANGUAGES[0] == "en"
    assert lang.recognised("xx") == lang.recognised("de") == ("en", "de")
    assert lang.recognised("fr") == ("en", "de", "fr")
    assert "pas" not in lang.recognised_words("negation.negators", "en")
    assert {"not", "nicht", "pas"} <= lang.recognised_words("negation.negators", "fr")


def test_a_reference_is_replaced_by_its_alternatives_and_line_breaks_do_not_count() -> None:
    assert lang.regex("questions.duration").search("how many working days")
    assert lang.parse("[a]\nb = ['''x|\n    y''']", "x.toml") == {"a.b": ("x|y",)}


def test_importing_pincite_and_its_settings_reads_no_language_file() -> None:
    code = (
        "import pincite, pincite.config.settings\n"
        "from pincite.text import lang\n"
        "assert lang._file.cache_info().misses == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


TELL_TALE = frozenset(
    "nicht kein keine welche welcher wann warum oder und über für mit der die das ist sind wie viele sie bei".split()
)
"""German words: three of them in one literal make a word list of a language."""
WITH_WORDS = {
    "query/citations/marks.py": "how models write `[Source 1]`, which no question language decides",
}
"""Modules that may hold words of a language, and why."""


def word_lists(path: Path) -> Iterator[str]:
    """The string literals of a module with three German words, without docstrings."""
    docstrings = {id(node.value) for node in walked(text_of(path)) if isinstance(node, ast.Expr)}
    for node in walked(text_of(path)):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
            continue
        if len(TELL_TALE & set(re.findall(r"[a-zäöüß]+", node.value.lower()))) >= 3:
            yield f"{path}:{node.lineno}: {node.value[:60]}"


@pytest.mark.parametrize("folder", ["text", "query", "extractive", "core", "providers"])
def test_words_of_a_language_stand_in_its_file_only(folder: str) -> None:
    paths = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] == folder]
    assert paths
    found = [
        one for path in paths if path.relative_to(PACKAGE).as_posix() not in WITH_WORDS for one in word_lists(path)
    ]
    assert found == []


def test_a_planted_word_list_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text('"""Nicht, welche und oder."""\nX = "nicht welche und"\n', encoding="utf-8")
    assert list(word_lists(planted)) == [f"{planted}:2: nicht welche und"]
