"""The invariants after a crash: every acknowledged document exists, and none is incomplete."""

from pathlib import Path

import psycopg

INCOMPLETE = """
    select d.name, 'served totals' from pincite.document d where d.served is not null and (
        d.chunks <> (select count(*) from pincite.chunk c where c.edition = d.served and c.level = 2)
        or d.vectors <> (select count(*) from pincite.vector v where v.edition = d.served)
        or d.words <> (select coalesce(sum(p.frequency), 0) from pincite.posting p where p.edition = d.served))
    union all
    select d.name, 'completed but not served' from pincite.document d where d.status = 'completed' and d.served is null
    union all
    select d.name, 'not completed and no job' from pincite.document d
    where d.status in ('pending', 'processing') and not exists (select from pincite.job j where j.document_id = d.id)
    union all
    select d.name, 'chunk text is not its slice' from pincite.chunk c
    join pincite.edition e on e.key = c.edition and e.state = 'served' join pincite.version v on v.key = e.version
    join pincite.document d on d.served = e.key
    where c.level = 2 and c.text <> substr(v.text, c.start_char + 1, c.end_char - c.start_char)
    union all
    select 'edition ' || x.edition, 'rows without an edition' from (
        select edition from pincite.vector union select edition from pincite.posting) x
    where not exists (select from pincite.edition e where e.key = x.edition)
    union all
    select d.owner || ' ' || d.folder || ' ' || d.name, 'there twice' from pincite.document d
    group by 1 having count(*) > 1
    union all
    select d.name, 'two served editions' from pincite.document d
    join pincite.edition e on e.document_id = d.id and e.state = 'served' group by d.name having count(*) > 1
"""


def check_whole(url: str, data: Path, acknowledged: set[str]) -> None:
    """Assert that all acknowledged documents exist with their bytes, and that none is incomplete."""
    with psycopg.connect(url) as connection:
        assert connection.execute(INCOMPLETE).fetchall() == []
        versions = connection.execute(
            "select d.name, d.id, v.id, v.bytes,"
            " (select sum(octet_length(p.bytes)) from pincite.piece p where p.version = v.key)"
            " from pincite.version v join pincite.document d on d.id = v.document_id"
        ).fetchall()
        library = connection.execute("select id from pincite.library").fetchone()
    assert library is not None
    assert acknowledged <= {name for name, *_ in versions}
    for name, document_id, version_id, size, kept in versions:
        file = data / "files" / library[0] / document_id / version_id
        assert (file.stat().st_size if kept is None else kept) == size, name


def indexed(url: str) -> dict[str, tuple[int, int, int]]:
    """The numbers of chunks, words and vectors by document; equal for equal libraries."""
    with psycopg.connect(url) as connection:
        found = connection.execute("select name, chunks, words, vectors from pincite.document").fetchall()
    return {name: (chunks, words, vectors) for name, chunks, words, vectors in found}
