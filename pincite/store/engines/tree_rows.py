"""Nodes of the summary tree in the database: written with an edition, or with the tree of a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from pincite.core.engines import BuildTarget
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node: `sentences` are passage, start and end of each sentence of its summary, one after the other."""

    level: int
    top: bool
    language: str
    text: str
    headings: Sequence[str]
    sentences: Sequence[int]
    passages: Sequence[int]
    editions: Sequence[int]
    terms: Mapping[str, int]
    vector: Sequence[float]


@dataclass(frozen=True, slots=True)
class TreeRows:
    """The tree of an edition; `model` is the embedding model of its vectors."""

    nodes: Sequence[NodeRow]
    model: int

    async def write(self, connection: Connection, target: BuildTarget, realm: int) -> None:
        """Insert the nodes."""
        await _insert(connection, self.nodes, {"edition": target.edition, "realm": realm, "model": self.model})


@dataclass(frozen=True, slots=True)
class StaleFolder:
    """A folder in one realm whose tree is not that of its documents; `digest` names the documents, '' for none."""

    owner: str
    realm: int
    folder: str
    digest: str


@dataclass(frozen=True, slots=True)
class RootRow:
    """The root of a document's tree, with the text of each sentence of its summary."""

    edition: int
    language: str
    headings: tuple[str, ...]
    sentences: tuple[int, ...]
    sentence_texts: tuple[str, ...]
    passages: tuple[int, ...]
    vector: tuple[float, ...]


class TreeStore:
    """Reads what trees are built from, and publishes the trees of folders."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def vectors(self, target: BuildTarget, model: int) -> dict[int, list[float]]:
        """Return the mean vector of each passage of an edition."""
        async with self._database.transaction(target.owner, local=LONG_TIMEOUTS) as connection:
            return dict(await fetch_all(connection, _VECTORS, (target.edition, model)))

    async def stale_folders(self, signature: str) -> list[StaleFolder]:
        """Return the folders whose tree must be built again."""
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            found = await fetch_all(connection, "select * from tree_folders_to_build(%s)", (signature,))
        return [StaleFolder(*row) for row in found]

    async def roots(self, of: StaleFolder, signature: str) -> list[RootRow]:
        """Return the roots of the trees of a folder's documents."""
        async with self._database.transaction(of.owner, local=LONG_TIMEOUTS) as connection:
            rows = await fetch_all(connection, _ROOTS, _folder_values(of, signature))
        return [RootRow(row[0], row[1], *(tuple(column) for column in row[2:])) for row in rows]

    async def publish_folder(self, of: StaleFolder, signature: str, nodes: Sequence[NodeRow], model: int) -> bool:
        """Replace the tree of a folder in one transaction; False where its documents have changed meanwhile."""
        values = _folder_values(of, signature)
        async with self._database.transaction(of.owner, local=LONG_TIMEOUTS) as connection:
            await connection.execute(_ONE_AT_A_TIME, values)
            # Editions are locked before nodes, as in a removal, which waits here or is seen by the digest below.
            await connection.execute(_LOCK_EDITIONS, {**values, "editions": _editions(nodes)})
            current = await fetch_one(connection, _DIGEST, values)
            if (current[0] if current and current[0] else "") != of.digest:
                return False
            await connection.execute(_REMOVE_FOLDER, values)
            keys = await _insert(
                connection, nodes, {"edition": None, "folder": of.folder, "realm": of.realm, "model": model}
            )
            pairs = [(key, edition) for key, node in zip(keys, nodes, strict=True) for edition in node.editions]
            members = {"nodes": [key for key, _ in pairs], "editions": [edition for _, edition in pairs]}
            await connection.execute(_INSERT_MEMBERS, {**members, "realm": of.realm})
            await connection.execute(_FOLDER_BUILT, values)
            return True


async def _insert(connection: Connection, nodes: Sequence[NodeRow], shared: Mapping[str, object]) -> list[int]:
    """Insert nodes and return their keys, in order."""
    keys = []
    for node in nodes:
        row = await fetch_one(connection, _INSERT, {"folder": None, **shared, **_values(node)})
        assert row is not None
        keys.append(int(row[0]))
    return keys


def _values(node: NodeRow) -> dict[str, object]:
    return {
        "level": node.level,
        "top": node.top,
        "language": node.language,
        "text": node.text,
        "headings": list(node.headings),
        "sentences": list(node.sentences),
        "passages": list(node.passages),
        "terms": Jsonb(dict(node.terms)),
        "words": sum(node.terms.values()),
        "embedding": "[" + ",".join(f"{x:.5g}" for x in node.vector) + "]",
    }


def _editions(nodes: Sequence[NodeRow]) -> list[int]:
    return sorted({edition for node in nodes for edition in node.editions})


def _folder_values(of: StaleFolder, signature: str) -> dict[str, object]:
    return {"realm": of.realm, "folder": of.folder, "signature": signature, "digest": of.digest}


_VECTORS = "select chunk, avg(embedding)::real[] from vector where edition = %s and model = %s group by chunk"
_INSERT = """
    insert into tree_node (edition, realm, folder, level, top, model, language, text, headings, sentences, passages,
                           terms, words, embedding)
    values (%(edition)s, %(realm)s, %(folder)s, %(level)s, %(top)s, %(model)s, %(language)s, %(text)s, %(headings)s,
            %(sentences)s, %(passages)s, %(terms)s, %(words)s, %(embedding)s::text::halfvec)
    returning key
"""
_INSERT_MEMBERS = """
    insert into tree_member (node, edition, realm)
    select m.node, m.edition, %(realm)s from unnest(%(nodes)s::int[], %(editions)s::int[]) as m (node, edition)
"""
_ONE_AT_A_TIME = "select pg_advisory_xact_lock(%(realm)s, hashtext(%(folder)s))"
_LOCK_EDITIONS = "select from edition where key = any(%(editions)s::int[]) order by key for key share"
_REMOVE_FOLDER = "delete from tree_node where edition is null and realm = %(realm)s and folder = %(folder)s"
_FOLDER_BUILT = """
    insert into tree_folder (realm, folder, digest) values (%(realm)s, %(folder)s, %(digest)s)
    on conflict (realm, folder) do update set digest = excluded.digest
"""
# The documents of a folder that have a tree: the same condition as in `tree_folders_to_build`.
_BUILT = """
    document d join engine_edition b on b.edition = d.served and b.engine = 'tree' and b.signature = %(signature)s
         join edition e on e.key = d.served and not e.astray
    where d.realm = %(realm)s and d.folder = %(folder)s
"""
_DIGEST = f"select md5(%(signature)s || string_agg(d.served::text, ',' order by d.served)) from {_BUILT}"  # noqa: S608
_ROOTS = f"""
    select n.edition, n.language, n.headings, n.sentences,
           array(select substr(c.text, n.sentences[3 * s - 1] + 1, n.sentences[3 * s] - n.sentences[3 * s - 1])
                 from generate_series(1, cardinality(n.sentences) / 3) s
                 join chunk c on c.key = n.sentences[3 * s - 2] order by s),
           n.passages, n.embedding::real[]
    from tree_node n where n.top and n.edition in (select d.served from {_BUILT}) order by n.edition, n.key
"""  # noqa: S608 - all ours
