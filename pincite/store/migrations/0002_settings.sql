-- The administrator's settings and their history; and the embedding model of each document.

create table setting (
    key text primary key,
    value jsonb not null
);

-- One row per changed key; the rows of a batch changed together. Rows are never changed or removed.
create table setting_change (
    id bigint generated always as identity primary key,
    batch bigint not null,
    kind text not null check (kind in ('set', 'reset', 'undo', 'apply')),
    key text not null,
    before jsonb,  -- null: there was no stored value
    after jsonb,   -- null: the stored value was removed
    profile text,  -- the applied profile
    undoes bigint, -- the batch that this one undoes
    person text not null references person,
    key_id text,   -- the API key of the request, if any
    changed_at timestamptz not null default clock_timestamp()
);
create index setting_change_batch on setting_change (batch);

create function am_administrator() returns boolean language sql stable as
$$ select exists (select from person where id = me() and role = 'administrator') $$;

alter table setting enable row level security;
alter table setting force row level security;
alter table setting_change enable row level security;
alter table setting_change force row level security;

-- Every process reads the settings; only an administrator writes them or reads their history.
create policy everyone_reads on setting for select using (true);
create policy administrators on setting using ((select am_administrator())) with check ((select am_administrator()));
create policy administrators_read on setting_change for select using ((select am_administrator()));
create policy administrators_add on setting_change for insert with check ((select am_administrator()));
create policy owner_functions on setting_change to current_user using (true);

-- The number of the last batch; cheap, because every process polls it.
create function settings_revision() returns bigint
language sql stable security definer set search_path = pincite, pg_temp as $$
    select coalesce(max(batch), 0) from setting_change
$$;

-- Vectors of different models cannot be compared: a search must know which documents it cannot compare.
alter table document add column model smallint references embedding_model;
create policy while_migrating on vector to current_user using (true);
update document d set model = (select v.model from vector v where v.edition = d.served limit 1);
drop policy while_migrating on vector;

revoke all on all functions in schema pincite from public;
