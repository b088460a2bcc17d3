-- Late interaction: the vectors of each passage's tokens, and of the centroids that the token index searches.
create table late_passage (
    chunk integer not null,
    edition integer not null references edition on delete cascade,
    realm integer not null,
    model text not null,
    tokens bytea not null  -- int8, one unit vector per token
);
alter table late_passage alter column tokens set storage external;  -- int8 vectors do not compress
create index late_passage_edition on late_passage (edition, chunk);
select protect_engine_table('late_passage');

create table late_centroid (
    chunk integer not null,
    edition integer not null references edition on delete cascade,
    realm integer not null,
    model text not null,
    centroid halfvec not null
);
create index late_centroid_edition on late_centroid (edition);
create index late_centroid_realm on late_centroid (realm, model);
select protect_engine_table('late_centroid');
-- One index for each number of dimensions of a usual model; centroids of others are compared exactly.
create index late_centroid_near_96 on late_centroid using hnsw ((centroid::halfvec(96)) halfvec_ip_ops)
    with (m = 16, ef_construction = 100) where vector_dims(centroid) = 96;
create index late_centroid_near_128 on late_centroid using hnsw ((centroid::halfvec(128)) halfvec_ip_ops)
    with (m = 16, ef_construction = 100) where vector_dims(centroid) = 128;
create index late_centroid_near_384 on late_centroid using hnsw ((centroid::halfvec(384)) halfvec_ip_ops)
    with (m = 16, ef_construction = 100) where vector_dims(centroid) = 384;
