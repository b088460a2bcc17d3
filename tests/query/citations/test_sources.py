from pincite.query.citations.sources import related_documents, snippet, sources_of
from tests.builders import hit


def test_numbers_and_citations() -> None:
    first, second = sources_of([hit("a", key=1), hit("b", key=2)], cited=frozenset({2}))
    assert [(s.number, s.cited) for s in (first, second)] == [(1, False), (2, True)]


def test_a_snippet_is_one_line_of_at_most_200_characters() -> None:
    assert snippet("a\n  b") == "a b"
    assert len(snippet("word " * 100)) <= 200
    assert snippet("word " * 100).endswith("…")


def test_addresses_come_from_the_file_or_from_where_it_was_found() -> None:
    [own] = sources_of([hit("a", source_urls=("https://example.org/a",), source_uri="file:x")], frozenset())
    [origin] = sources_of([hit("a", source_uri="https://example.org/b")], frozenset())
    assert (own.urls, origin.urls) == (("https://example.org/a",), ("https://example.org/b",))


def test_related_documents_are_all_that_were_found_once() -> None:
    hits = [
        hit("a", key=1, title="A", category="rules"),
        hit("b", key=1, title="A", category="rules"),
        hit("c", key=2, folder="hr/x"),
    ]
    found = related_documents(hits, {"hr": "Human resources"})
    assert [(r.document_id, r.category) for r in found] == [("doc1", "rules"), ("doc2", "Human resources")]
