"""Known file formats that are not supported, with their names and a conversion hint."""

from collections.abc import Mapping

_WORD = "save it as .docx"
_SHEETS = "save it as .xlsx"
_SLIDES = "save it as .pptx"
_TO_PDF = "print or export it to PDF"
_PICTURE = "save it as .png or .jpg"
_UNPACK = "unpack it and add the files in it"

_FORMATS: Mapping[str, tuple[str, str]] = {
    ".doc .dot": ("a Word document of 1997 to 2003", _WORD),
    ".rtf": ("an RTF document", _WORD),
    ".odt .ott .fodt": ("an OpenDocument text", _WORD),
    ".pages": ("a Pages document", "export it as .docx or PDF"),
    ".wpd .wps .sxw": ("an old text document", _WORD),
    ".xls .xlt": ("an Excel workbook of 1997 to 2003", _SHEETS),
    ".xlsb": ("a binary Excel workbook", _SHEETS),
    ".ods .ots .fods": ("an OpenDocument table", _SHEETS),
    ".numbers": ("a Numbers document", _SHEETS),
    ".ppt .pps .pot": ("a PowerPoint presentation of 1997 to 2003", _SLIDES),
    ".odp .otp .fodp": ("an OpenDocument presentation", _SLIDES),
    ".key": ("a Keynote presentation", "export it as .pptx or PDF"),
    ".msg": ("an Outlook message", "save it as .eml"),
    ".pst .ost .mbox": ("a mailbox", "export its mails as .eml files"),
    ".mht .mhtml .webarchive": ("an archived web page", "save the page as .html"),
    ".epub .mobi .azw3 .fb2": ("an electronic book", "convert it to .html or PDF"),
    ".vsd .vsdx .one .pub .xps .djvu .ps .eps .ai .indd": ("a drawing or a page made for printing", _TO_PDF),
    ".gif .heic .heif .avif .svg .psd": ("a GIF, HEIC, AVIF, SVG or Photoshop image", _PICTURE),
    ".zip .7z .rar .tar .gz .tgz .bz2 .xz": ("an archive", _UNPACK),
}

UNSUPPORTED_FORMATS: Mapping[str, tuple[str, str]] = {
    ending: format for endings, format in _FORMATS.items() for ending in endings.split()
}
"""File name ending → the name of the format and what to do instead."""
