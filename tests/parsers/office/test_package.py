"""What all Office files have in common."""

import pytest

from pincite.errors import Unreadable
from pincite.parsers.office.package import Office, attribute, child, links_of, local_name, selected_alternative, value
from pincite.parsers.office.zip_safety import parse_xml
from tests.office_maker import element, make_docx, make_zip, p, relations


def test_parts_are_found_by_what_refers_to_them():
    office = Office(make_docx(p("x"), parts={"styles": ""}), "document")
    assert office.main == "word/document.xml"
    assert list(office.related(office.main, "styles")) == ["word/styles.xml"]
    assert list(office.related(office.main, "numbering")) == []
    assert office.relations("nothing.xml") == {}


def test_targets_are_resolved_inside_the_archive_and_never_above_it():
    found = {"a": ("image", "../media/a%20b.png"), "b": ("image", "/x/y.png"), "c": ("image", "../../../etc/passwd")}
    office = Office(make_docx(p("x"), links=found), "document")
    targets = {name: relation.target for name, relation in office.relations(office.main).items()}
    assert targets == {"a": "media/a b.png", "b": "x/y.png", "c": "etc/passwd"}


def test_links_are_addresses_outside():
    links = {
        "a": ("hyperlink", "https://example.org"),
        "b": ("hyperlink", "other.xml"),
        "c": ("image", "https://x.org"),
    }
    office = Office(make_docx(p("x"), links=links), "document")
    assert links_of(office, office.main) == {"a": "https://example.org"}


@pytest.mark.parametrize(
    ("root", "message"),
    [("workbook", "it is a workbook, not a presentation"), ("html", "it is something else, not a presentation")],
)
def test_another_kind_of_document_is_named(root: str, message: str):
    data = make_zip({"_rels/.rels": relations({"a": ("officeDocument", "m.xml")}), "m.xml": element(root, "")})
    with pytest.raises(Unreadable, match=message):
        Office(data, "presentation")


def test_binary_workbooks_are_refused_with_a_hint():
    data = make_zip(
        {"_rels/.rels": relations({"a": ("officeDocument", "xl/workbook.bin")}), "xl/workbook.bin": b"\x83"}
    )
    with pytest.raises(Unreadable, match=r"save it as \.xlsx"):
        Office(data, "workbook")


@pytest.mark.parametrize(
    "title", ["PowerPoint Presentation", "Untitled 1", "Microsoft Word - a.doc", "Folie 1", "a.docx", ""]
)
def test_generated_titles_are_ignored(title: str):
    assert Office(make_docx(p("x"), core=f"<dc:title>{title}</dc:title>"), "document").metadata().title is None


def test_elements_are_found_by_names_without_namespaces():
    root = parse_xml(b'<a xmlns:n="u"><n:b n:val="1"><c n:id="x" id="y"/></n:b><b/></a>')
    assert local_name(root[0]) == "b"
    assert value(root, "b") == "1"
    assert attribute(child(root, "b", "c"), "id") == "y"
    assert child(root, "b", "d", "e") is None
    assert value(None, "b") == ""


def test_the_first_alternative_is_used():
    both = parse_xml(b"<x><Choice><a/></Choice><Choice><b/></Choice><Fallback><c/></Fallback></x>")
    assert local_name(selected_alternative(both)[0]) == "a"
    assert local_name(selected_alternative(parse_xml(b"<x><Fallback><c/></Fallback></x>"))[0]) == "c"
