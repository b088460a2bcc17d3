import pytest

from pincite.core.query.question import Exchange
from pincite.query.understand.followup import find_reference, is_follow_up

BEFORE = (Exchange("When does the cable car run?", "When does the cable car run?", "At eight."),)

LEANING = [
    "And in Germany?",
    "Und in Österreich?",
    "Why?",
    "Warum?",
    "What about the canteen?",
    "Was ist mit der Kantine?",
    "How much does it cost?",
    "Wie teuer ist sie?",
    "Who may use them?",
    "Darf man sie benutzen?",
    "Is this rule new?",
    "Gilt diese Regel noch?",
    "Does that apply to guests?",
    "Gilt das auch für Gäste?",
    "Wer ist dafür zuständig?",
    "Was brauche ich dazu?",
    "Was passiert danach?",
    "Was steht drin?",
    "Where did he work before?",
    "Wo hat er vorher gearbeitet?",
    "What are the benefits?",
    "Since when?",
    "Seit wann?",
    "Tell me more.",
    "Mehr dazu",
    "speed limit",
    "Which one is cheaper?",
    "Is it the same there?",
    "Wie komme ich dorthin?",
    "Welche von beiden ist neuer?",
    "Aber am Sonntag?",
    "no, I meant the upper section",
    "What does the document say about dogs?",
    "Who signed that document?",
    "Who signed this document yesterday?",
    "Wer hat dieses Dokument gestern unterschrieben?",
    "Who signed that yesterday?",
    "Who wrote that report?",
    "When did she sign that contract?",
    "What does this file say about dogs?",
    "Was steht in dem Dokument über Hunde?",
    "Wie viele Seiten hat das Dokument?",
    "Steht im Dokument etwas zu Hunden?",
]
ALONE = [
    "Which is the pump that failed?",
    "Who said that taxes rise in May?",
    "How many vacation days do employees have?",
    "Wie viele Urlaubstage haben Angestellte?",
    "Können Sie mir sagen, wann die Kantine öffnet?",
    "Gibt es eine Regelung zum Homeoffice?",
    "Ist es erlaubt, Hunde mitzubringen?",
    "How long does it take to get a refund?",
    "Is it possible to park at the station?",
    "Was ist eine Wärmepumpe?",
    "What is a galaxy?",
    "Explain Spark.",
    "Who is Nadja Pfistri?",
    "If a visitor loses the ticket, can they get a new one at the office?",
    "What does the handbook say about dogs?",
    "Wenn ein Paket ankommt, wo wird es gelagert?",
    "Should I bring a coat in case it rains?",
    "What does the document about travel say on hotels?",
    "How does the document management system store invoices?",
    "What does the document “Travel” say on hotels?",
    "Was steht in dem Dokument zum Urlaub über Hunde?",
    "Was steht in dem Dokument Reisekosten über Hotels?",
    "Wer verwaltet das Dokumentenarchiv der Firma?",
]


@pytest.mark.parametrize("text", LEANING)
def test_a_follow_up_is_recognised(text: str) -> None:
    assert is_follow_up(text, BEFORE)


@pytest.mark.parametrize("text", ALONE)
def test_a_standalone_question_is_no_follow_up(text: str) -> None:
    assert not is_follow_up(text, BEFORE)


@pytest.mark.parametrize("text", LEANING)
def test_the_first_question_of_a_conversation_never_is_one(text: str) -> None:
    assert not is_follow_up(text, ())


def test_a_specific_demonstrative_is_no_reference() -> None:
    assert find_reference("Can you summarise this Deep Impact mission?", "en") is None
    found = find_reference("Can you summarise this mission?", "en")
    assert found is not None
    assert found[0] == "this"


@pytest.mark.parametrize("text", ["it " * 20_000, "and " * 20_000, "a" * 50_000, "dies " * 20_000, "? " * 50_000])
def test_long_texts_take_no_time_worth_noticing(text: str) -> None:
    import time

    started = time.process_time()
    is_follow_up(text[:4000], BEFORE)
    assert time.process_time() - started < 1.0
