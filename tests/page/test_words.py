"""The page's words: the same in both languages, every one used, and none missing."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "pincite" / "page"
SCRIPTS = [path for path in PAGE.rglob("*.js") if "vendor" not in path.parts and path.parent.name != "words"]
ENTRY = re.compile(r'^  "([\w.-]+)":\s*"((?:[^"\\]|\\.)*)",$', re.MULTILINE)
FORMS = re.compile(r"\.(one|other)$")


def words(language: str) -> dict[str, str]:
    return dict(ENTRY.findall((PAGE / "words" / f"{language}.js").read_text(encoding="utf-8")))


def test_both_languages_have_the_same_words_with_the_same_gaps() -> None:
    english, german = words("en"), words("de")
    assert len(english) > 30
    assert list(english) == list(german)
    gaps = {key: set(re.findall(r"\{\w+\}", text)) for key, text in english.items()}
    assert gaps == {key: set(re.findall(r"\{\w+\}", text)) for key, text in german.items()}


def test_every_line_of_the_dictionaries_is_understood() -> None:
    for language in ("en", "de"):
        text = (PAGE / "words" / f"{language}.js").read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if line.strip().startswith('"')]
        assert len(lines) == len(words(language)), "one entry a line, each key once"


def test_every_word_is_used_and_every_word_that_is_used_is_there() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    known = {FORMS.sub("", key) for key in words("en")}
    named = set(re.findall(r'\bt\(\s*"([\w.-]+)"', source))
    quoted = set(re.findall(r'"([\w-]+(?:\.[\w-]+)+)"', source))
    begun = set(re.findall(r"`([\w.-]+\.)\$\{", source))
    assert sorted(named - known) == []
    assert sorted(key for key in known - named - quoted if not key.startswith(tuple(begun))) == []
