from pincite.text.fixed_answers import nothing_found, quote_words, talk_reply


def test_the_refusal_names_the_missing_words_in_the_language_of_the_question() -> None:
    assert nothing_found([], "en") == "I don't have specific information about this in the documents."
    assert nothing_found(["Zug"], "de").endswith("Zu „Zug“ wurde nichts Passendes gefunden.")


def test_words_are_quoted_with_the_marks_of_the_language() -> None:
    assert (quote_words(["a", "b"], "en"), quote_words(["a"], "de")) == ("“a”, “b”", "„a“")


def test_a_language_without_a_file_gets_the_english_sentences() -> None:
    assert talk_reply(None, "xx") == talk_reply(None, "en")


def test_small_talk_is_replied_to_by_its_kind() -> None:
    assert talk_reply("greeting", "de") == "Hallo! Frag mich etwas zu deinen Dokumenten, dann antworte ich daraus."
    assert talk_reply("thanks", "en") == "You're welcome."
    assert talk_reply("about_me", "en").startswith("I am pincite.")
    assert "documents" in talk_reply("arithmetic", "en")
    assert talk_reply("other", "en") == talk_reply(None, "en")
