import pytest

from pincite.text.terms import MAX_WORD_CHARS, forms, query_terms, question_language, terms, words


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The dogs were running", "en", ["dog", "run"]),
        ("Die Häuser und die Haeuser", "de", ["haus", "haus"]),
        ("Straße STRASSE", "de", ["strass", "strass"]),
        ("naïve café", "fr", ["naiv", "caf"]),
        ("snake_case rag.top_k 3.5", "en", ["snake", "case", "rag", "top", "k", "3", "5"]),
        ("vitamin C", "en", ["vitamin", "c"]),
        ("", "en", []),
        ("the and of", "en", []),
        ("word", "xx", ["word"]),
    ],
)
def test_terms(text: str, language: str, expected: list[str]) -> None:
    assert terms(text, language) == expected


def test_the_forms_of_a_text_are_its_plain_words_each_with_its_term() -> None:
    text = f"The Houses, house and HOUSING of p53, RFC2119, UNO, 4711 and {'x' * (MAX_WORD_CHARS + 1)}; 日本語日本語"
    assert forms(text, "en") == {"houses": "hous", "house": "hous", "housing": "hous"}
    assert forms("Die Häuser und wir alle", "de") == {"häuser": "haus"}
    assert set(forms(text, "en").values()) <= set(terms(text, "en"))


def test_a_script_without_blanks_is_indexed_in_pairs() -> None:
    assert words("日本語") == ["日本", "本語"]
    assert words("語") == ["語"]
    assert words("人々の生活 in 東京です") == ["人々", "々の", "の生", "生活", "in", "東京", "京で", "です"]


def test_a_question_is_looked_up_in_every_language_of_the_library() -> None:
    assert set(query_terms("Wie viele Häuser?", ["en", "de"])) >= {"haus"}
    assert query_terms("running running", ["en"]) == {"run": 2}


def test_a_small_word_of_another_language_is_kept() -> None:
    assert "war" in query_terms("When did the war end?", ["en", "de"])
    assert "war" not in query_terms("Wann war die letzte Sitzung?", ["en", "de"])


def test_a_question_of_stop_words_alone_is_still_looked_up() -> None:
    assert query_terms("to be or not to be", ["en"])
    assert not query_terms("🎉 … ?!", ["en"])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many days do we have?", "en"),
        ("Wie viele Tage haben wir?", "de"),
        ("Kündigungsfrist", "de"),
        ("budget 2024", "en"),
        ("Was kostet Tarif Basis?", "de"),
        ("Was passiert danach?", "de"),
        ("Nenne drei Vorteile", "de"),
        ("Was Kranich built in 1990?", "en"),
    ],
)
def test_question_language(text: str, language: str) -> None:
    assert question_language(text) == language


def test_the_language_of_a_question_is_one_of_those_with_a_file() -> None:
    assert question_language("Quel est le prix de l'entrée ?") == "fr"
    assert question_language("Wo ist das Café?") == "de"
    assert question_language("Who is José García?") == "en"
    assert question_language("Rue de Bern") == "en"
