-- Sources that documents are synchronised with, and the state of each of their files. Credentials are not stored:
-- `secret_env` names an environment variable of the server.

create table source (
    id text primary key,
    owner text not null references person,
    name text not null,
    kind text not null,
    url text not null,
    folder text not null,
    options jsonb not null,
    secret_env text not null,
    every_minutes integer not null,
    state text not null default 'new',
    error text,
    started_at timestamptz,
    finished_at timestamptz,
    claimed_until timestamptz,
    created_at timestamptz not null default now(),
    unique (owner, name)
);

create table source_item (
    source_id text not null references source on delete cascade,
    owner text not null references person,
    key text not null,
    stamp text not null,
    document_id text references document on delete set null,
    primary key (source_id, key)
);
create index source_item_document on source_item (document_id);

alter table source enable row level security;
alter table source force row level security;
create policy mine on source using (owner = (select me()));
alter table source_item enable row level security;
alter table source_item force row level security;
create policy mine on source_item using (owner = (select me()));

-- The sources of every person that are due. Ids and owners, never content.
create function sources_due() returns table (source_id text, owner text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select s.id, s.owner from source s join person p on p.id = s.owner
    where s.every_minutes > 0 and p.removed_at is null and p.suspended_at is null
      and (s.claimed_until is null or s.claimed_until < clock_timestamp())
      and (s.finished_at is null or s.finished_at < clock_timestamp() - make_interval(mins => s.every_minutes))
    order by s.finished_at nulls first
$$;
revoke all on all functions in schema pincite from public;
