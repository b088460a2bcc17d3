-- The vectors of queries by a remote embedder, so that the same query of the same person is embedded once.

-- The text itself is not stored. Vectors in full precision: a cached one gives the same result as a new one.
create table query_vector (
    owner text not null references person on delete cascade,
    model smallint not null references embedding_model,
    hash bytea not null,  -- of the text
    embedding real[] not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (owner, model, hash)
);
create index query_vector_created on query_vector (created_at);

-- Each person sees and writes their own.
alter table query_vector enable row level security;
alter table query_vector force row level security;
create policy owner_functions on query_vector to current_user using (true);
create policy mine on query_vector using (owner = (select me())) with check (owner = (select me()));

-- Remove the vectors of every person after a number of days.
create function forget_query_vectors(days integer) returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with gone as (delete from query_vector
                  where created_at < clock_timestamp() - make_interval(days => forget_query_vectors.days) returning 1)
    select count(*) from gone
$$;
revoke all on all functions in schema pincite from public;
