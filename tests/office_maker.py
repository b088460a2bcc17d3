"""Writes small Office files for tests: archives of XML parts, valid or malformed."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

_NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)
_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
Relation = tuple[str, str]
"""Kind and target of a relationship; a target with a scheme is external."""


def make_zip(parts: Mapping[str, str | bytes], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of these parts."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", packed) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, packed)
    return target.getvalue()


def relations(found: Mapping[str, Relation]) -> str:
    """Return the relationships part of another part."""

    def mode(target: str) -> str:
        return ' TargetMode="External"' if ":" in target else ""

    lines = "".join(
        f'<Relationship Id="{name}" Type="{_KIND}/{kind}" Target={quoteattr(target)}{mode(target)}/>'
        for name, (kind, target) in found.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{lines}</Relationships>'
    )


def element(name: str, inner: str, attributes: str = "") -> str:
    """Return an element with all namespaces declared."""
    return f"<{name} {_NAMESPACES} {attributes}>{inner}</{name}>"


def make_docx(
    body: str, *, parts: Mapping[str, str] | None = None, links: Mapping[str, Relation] | None = None, core: str = ""
) -> bytes:
    """Return a Word document with this body; `parts` maps further parts, such as `styles`, to their inner XML."""
    roots = {"styles": "w:styles", "numbering": "w:numbering", "footnotes": "w:footnotes", "endnotes": "w:endnotes"}
    found = dict(links or {}) | {kind: (kind, f"{kind}.xml") for kind in parts or {}}
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations({"a": ("officeDocument", "word/document.xml"), "b": ("core-properties", "core.xml")}),
        "word/document.xml": element("w:document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": relations(found),
        **{f"word/{kind}.xml": element(roots[kind], inner) for kind, inner in (parts or {}).items()},
        "core.xml": f'<cp:coreProperties xmlns:cp="x" xmlns:dc="y">{core}</cp:coreProperties>',
    }
    return make_zip(files)


def p(text: str, properties: str = "") -> str:
    """A Word paragraph of one run, or of the XML it is given."""
    inner = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def make_xlsx(sheet: str, *, styles: str = "", strings: str = "", workbook: str = "") -> bytes:
    """A workbook of one sheet with this XML inside."""
    return make_zip(
        {
            "_rels/.rels": relations({"a": ("officeDocument", "xl/workbook.xml")}),
            "xl/workbook.xml": element(
                "workbook", f'{workbook}<sheets><sheet name="One" sheetId="1" r:id="s"/></sheets>'
            ),
            "xl/_rels/workbook.xml.rels": relations(
                {
                    "s": ("worksheet", "/xl/worksheets/sheet1.xml"),
                    "t": ("styles", "styles.xml"),
                    "u": ("sharedStrings", "sharedStrings.xml"),
                }
            ),
            "xl/worksheets/sheet1.xml": element("worksheet", sheet),
            "xl/styles.xml": element("styleSheet", styles),
            "xl/sharedStrings.xml": element("sst", strings),
        }
    )


def make_pptx(texts: Sequence[str]) -> bytes:
    """A presentation with a slide for each text."""
    shape = "<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>"
    slides = {f"s{number}": ("slide", f"slide{number}.xml") for number in range(len(texts))}
    listed = "".join(f'<p:sldId id="{number}" r:id="s{number}"/>' for number in range(len(texts)))
    return make_zip(
        {
            "_rels/.rels": relations({"a": ("officeDocument", "ppt/presentation.xml")}),
            "ppt/presentation.xml": element("p:presentation", f"<p:sldIdLst>{listed}</p:sldIdLst>"),
            "ppt/_rels/presentation.xml.rels": relations(slides),
            **{
                f"ppt/slide{number}.xml": element(
                    "p:sld", f"<p:cSld><p:spTree>{shape.format(text)}</p:spTree></p:cSld>"
                )
                for number, text in enumerate(texts)
            },
        }
    )
