"""Which language a passage is written in."""

import subprocess
import sys

import pytest

from pincite.text.language import LANGUAGES, language_of


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The contract ends at the end of the month in which the notice was received."),
        ("de", "Der Vertrag endet mit Ablauf des Monats, in dem die Kündigung zugegangen ist."),
        ("fr", "Le contrat prend fin à la fin du mois au cours duquel la résiliation a été reçue."),
        ("es", "El contrato termina al final del mes en que se recibió la notificación de rescisión."),
        (
            "zh",
            "合同在收到终止通知的当月月底终止。如果没有收到通知，合同将自动延长一年。双方可以在任何时候以书面形式终止本合同。",
        ),
        ("nl", "De overeenkomst eindigt aan het einde van de maand waarin de opzegging is ontvangen."),
    ],
)
def test_languages_are_told_apart(language: str, text: str):
    assert language in LANGUAGES
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "ok", "12 345 67 89 " * 20, "{}[]();\n" * 40])
def test_what_cannot_be_told_is_as_said(text: str):
    assert language_of(text, "de") == "de"
    assert language_of(text) == "en"


def test_nothing_is_loaded_before_it_is_asked():
    code = "import sys; import pincite.ingest.chunk.structure; assert 'py3langid' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
