"""Messages for unsupported formats."""

import pytest

from pincite.config.sources import load_settings
from pincite.core.documents.document import Upload
from pincite.errors import Unsupported
from pincite.ingest.accept.accept import accept
from pincite.ingest.accept.unsupported import UNSUPPORTED_FORMATS
from pincite.parsers import file_types

SETTINGS = load_settings({}, env={})


def told(name: str, data: bytes = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") -> str:
    with pytest.raises(Unsupported) as caught:
        accept(Upload(name, data), SETTINGS)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "called", "instead"),
    [
        ("plan.doc", "a Word document of 1997 to 2003", "save it as .docx"),
        ("PLAN.XLS", "an Excel workbook of 1997 to 2003", "save it as .xlsx"),
        ("talk.ppt", "a PowerPoint presentation of 1997 to 2003", "save it as .pptx"),
        ("text.odt", "an OpenDocument text", "save it as .docx"),
        ("table.ods", "an OpenDocument table", "save it as .xlsx"),
        ("talk.odp", "an OpenDocument presentation", "save it as .pptx"),
        ("text.rtf", "an RTF document", "save it as .docx"),
        ("note.msg", "an Outlook message", "save it as .eml"),
        ("note.pages", "a Pages document", "export it as .docx or PDF"),
        ("book.epub", "an electronic book", "convert it to .html or PDF"),
        ("all.zip", "an archive", "unpack it"),
    ],
)
def test_an_unsupported_format_is_named_with_a_hint(name: str, called: str, instead: str):
    assert told(name).startswith(f"'{name}' is {called}, which is not read; {instead}")


def test_no_supported_format_is_listed_as_unsupported():
    assert not set(UNSUPPORTED_FORMATS) & set(file_types())


def test_the_hints_name_supported_formats():
    for _, instead in UNSUPPORTED_FORMATS.values():
        named = [word.strip(",") for word in instead.split() if word.startswith(".")]
        assert all(ending in file_types() for ending in named)
        assert named or "PDF" in instead or "unpack" in instead
