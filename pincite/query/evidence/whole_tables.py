"""Complete tables: read all rows of a table that a passage holds a part of, under the caller's permissions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pincite.core.documents.document import ReadRequest
from pincite.core.query.hits import Evidence, Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import NotFound
from pincite.extractive.table.answers import is_answered_by
from pincite.extractive.table.questions import concept_words, read_question
from pincite.extractive.tables import Table, tables_in
from pincite.text.answer_type import answer_type
from pincite.text.terms import question_language

MAX_TABLES = 4
"""Tables that are read completely for one question."""
MAX_ROWS = 400
"""Rows up to which a table is read completely."""
TABLE_RELEVANCE = 0.9
"""Relevance of a table that accounts for every word of a question."""
MIN_ROWS_SHARE = 0.5
"""Share of a passage that is rows of a complete table, so that the table takes its place."""
MAX_CONCEPT_WORDS = 2
"""Words of column names that are added to a query."""


def needs_table(question: str) -> bool:
    """Whether a question may need all rows of a table."""
    asked = read_question(question, question_language(question), answer_type(question).form)
    return asked is not None and asked.needs_all_rows


def table_query(question: str) -> str:
    """The query that finds the table to compute from; empty where nothing is computed.

    It lacks the words for the operation, which few tables have, and adds names of the column that these imply.
    """
    language = question_language(question)
    asked = read_question(question, language, answer_type(question).form)
    if asked is None or not asked.is_computed:
        return ""
    implied = concept_words(asked.concept, language)[:MAX_CONCEPT_WORDS] if asked.concept else []
    return " ".join(word.text for word in (*asked.words, *implied) if not word.stop)


async def table_reading(run: Run, plan: Plan, evidence: Evidence, hits: Sequence[Hit]) -> Evidence:
    """The evidence, and before it the complete tables, of its hits or of further hits, that answer the question."""
    reader, seen = run.kit.document_reader, list[RetrievedChunk]()
    with_tables = [hit for hit in _distinct([*evidence.hits, *hits]) if _has_rows(hit.chunk)]
    tables = list[Hit]()
    for hit in with_tables:
        if len(seen) >= MAX_TABLES or reader is None:
            break
        if any(_holds(table, hit.chunk) for table in seen):
            continue
        wanted = ReadRequest(document_id=hit.chunk.document_id, version=hit.chunk.version)
        try:
            opened = await reader.read(wanted, scope=run.scope, filters=plan.question.filters)
        except NotFound:
            continue
        for chunk in _complete_tables(opened.passages, hit.chunk):
            seen.append(chunk)
            table = replace(hit, chunk=chunk, relevance=max(hit.relevance, TABLE_RELEVANCE), complete_table=True)
            rows = chunk.text.count("\n") - 1
            if not is_answered_by(plan.text, table):
                continue
            if rows > MAX_ROWS:
                run.degrade("table_reading", f"a table has {rows} rows; values are computed from at most {MAX_ROWS}")
            else:
                tables.append(table)
    run.observe(found=len(with_tables), read=len(seen), tables=len(tables))
    others = [hit for hit in evidence.hits if not any(_is_part(table.chunk, hit.chunk) for table in tables)]
    return replace(evidence, hits=(*tables, *others))


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    return list({hit.chunk.key: hit for hit in reversed(hits)}.values())[::-1]


def _has_rows(chunk: RetrievedChunk) -> bool:
    return any(True for _ in tables_in(chunk.text, chunk.header))


def _holds(table: RetrievedChunk, chunk: RetrievedChunk) -> bool:
    """Whether a table has all rows of a chunk."""
    if (table.document_id, table.version) != (chunk.document_id, chunk.version):
        return False
    starts = [chunk.start_char + row.start for one in tables_in(chunk.text, chunk.header) for row in one.rows]
    return bool(starts) and all(table.start_char <= start < table.end_char for start in starts)


def _is_part(table: RetrievedChunk, chunk: RetrievedChunk) -> bool:
    """Whether most of a chunk's text is rows of a table."""
    rows = [row for one in tables_in(chunk.text, chunk.header) for row in one.rows]
    return _holds(table, chunk) and sum(row.end - row.start for row in rows) >= MIN_ROWS_SHARE * len(chunk.text)


def _complete_tables(passages: Sequence[RetrievedChunk], hit: RetrievedChunk) -> Iterator[RetrievedChunk]:
    """The tables of a document that share a row with a chunk, each as one chunk with exactly its lines."""
    text, start = _joined(passages)
    for table in tables_in(text):
        first, last = _header_start(text, table), table.rows[-1].end
        if start + first < hit.end_char and hit.start_char < start + last:
            yield _cut(text, start, first, last, hit, passages)


def _joined(passages: Sequence[RetrievedChunk]) -> tuple[str, int]:
    """The text of all passages with the line breaks between them, and its offset in the document."""
    start = passages[0].start_char if passages else 0
    text = ""
    for passage in passages:
        gap = passage.start_char - start - len(text)
        text += "\n" * max(0, gap) + passage.text[max(0, -gap) :]
    return text, start


def _header_start(text: str, table: Table) -> int:
    """The offset of a table's header: two lines above its first row."""
    before = text.rfind("\n", 0, table.rows[0].start - 1)
    return text.rfind("\n", 0, before) + 1


def _cut(
    text: str, offset: int, first: int, last: int, hit: RetrievedChunk, passages: Sequence[RetrievedChunk]
) -> RetrievedChunk:
    start = offset + first
    home = next((one for one in reversed(passages) if one.start_char <= start), hit)
    line = home.start_line + home.text.count("\n", 0, start - home.start_char)
    table = text[first:last]
    return replace(
        hit,
        id=home.id,
        key=home.key,
        ordinal=home.ordinal,
        text=table,
        header="",
        start_char=start,
        end_char=start + len(table),
        start_line=line,
        end_line=line + table.count("\n"),
        page=home.page,
        heading_path=home.heading_path,
        place=home.place,
    )
