-- The knowledge graph. Entities have no rows of their own: an entity is what the readable mentions of a name are, so that
-- nobody can learn from it that another realm knows the name, and nothing is left of a removed document.

create table graph_mention (
    edition integer not null references edition on delete cascade,
    realm integer not null,
    chunk integer not null,
    name bigint not null,  -- hash of the normalised name
    kind text not null,
    surface text not null,
    spans integer[] not null  -- starts and ends in the text of the version, in turn; none: the document is called so
);
create index graph_mention_name on graph_mention (name, realm);
create index graph_mention_chunk on graph_mention (chunk);
create index graph_mention_edition on graph_mention (edition);

create table graph_fact (
    edition integer not null references edition on delete cascade,
    realm integer not null,
    chunk integer not null,
    subject text not null,
    subject_name bigint not null,
    relation text not null,
    object text not null,
    object_name bigint,  -- null: a value, no entity
    start_char integer not null,  -- the sentence that states it
    end_char integer not null
);
create index graph_fact_subject on graph_fact (subject_name, realm);
create index graph_fact_object on graph_fact (object_name, realm) where object_name is not null;
create index graph_fact_chunk on graph_fact (chunk);
create index graph_fact_edition on graph_fact (edition);

-- Entities of the same sentences, and their number.
create table graph_edge (
    edition integer not null references edition on delete cascade,
    realm integer not null,
    one bigint not null,
    other bigint not null,
    count integer not null
);
create index graph_edge_one on graph_edge (one, realm);
create index graph_edge_other on graph_edge (other, realm);
create index graph_edge_edition on graph_edge (edition);

-- Two names of one entity, such as an abbreviation and its long form, as the document of the edition states.
create table graph_same (
    edition integer not null references edition on delete cascade,
    realm integer not null,
    one bigint not null,
    other bigint not null
);
create index graph_same_one on graph_same (one, realm);
create index graph_same_other on graph_same (other, realm);
create index graph_same_edition on graph_same (edition);

-- Vectors of facts and of entities, for dual-level retrieval.
create table graph_vector (
    edition integer not null references edition on delete cascade,
    realm integer not null,
    chunk integer not null,
    name bigint,  -- the entity; null: a fact
    model smallint not null,
    embedding halfvec not null
);
create index graph_vector_edition on graph_vector (edition);
create index graph_vector_realm on graph_vector (realm, model);

select protect_engine_table(one)
from unnest(array['graph_mention', 'graph_fact', 'graph_edge', 'graph_same', 'graph_vector']) one;
