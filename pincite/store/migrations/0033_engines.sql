-- What engines beside dense and lexical search have built for an edition. Their rows are in tables of their own, each
-- with the columns `edition` and `realm`, and are written in the transaction that writes the signature here.
create table engine_edition (
    edition integer not null references edition on delete cascade,
    engine text not null check (engine in ('graph', 'tree', 'late')),
    realm integer not null,
    signature text,  -- the settings it was built with; null while it has not been built
    note text not null default '',  -- what could not be built; such an edition is stale for this engine
    holder text,
    lease_until timestamptz,
    attempts integer not null default 0,
    primary key (edition, engine)
);
create index engine_edition_built on engine_edition (engine, realm) where signature is not null;

-- Row-level security of a table with the rows of an engine: the readers of a realm see them, its owner changes them.
create function protect_engine_table(one text) returns void language plpgsql as $$
begin
    execute format('alter table %I enable row level security', one);
    execute format('alter table %I force row level security', one);
    execute format('create policy readers on %I for select using (realm in (select unnest(readable())))', one);
    execute format('create policy owner_adds on %I for insert with check (realm in (select unnest(own_realms())))', one);
    execute format('create policy owner_changes on %I for update using (realm in (select unnest(own_realms())))', one);
    execute format('create policy owner_removes on %I for delete using (realm in (select unnest(own_realms())))', one);
end $$;
select protect_engine_table('engine_edition');
create policy owner_functions on engine_edition to current_user using (true);

-- Editions without the data of an engine: those that are searched, and those of the index that is being built.
create function editions_to_build(wanted_engine text, wanted text)
returns table (owner text, document_id text, edition integer, realm integer)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select d.owner, d.id, e.key, e.realm
    from document d join edition e on e.document_id = d.id
         left join engine_edition b on b.edition = e.key and b.engine = wanted_engine
    where (e.key = d.served
           or (e.state = 'ready' and exists (select from generation g where g.state = 'building' and is_of(e, g.signature))))
      and not e.astray and b.signature is distinct from wanted and (b.lease_until is null or b.lease_until < now())
$$;

-- Claim editions for building. Ids, never content.
create function claim_builds(wanted_engine text, wanted text, new_holder text, lease_s double precision, most integer)
returns table (owner text, document_id text, edition integer, attempts integer)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
begin
    perform pg_advisory_xact_lock(hashtext('claim_builds'));
    return query
    with next as (
        select n.owner, n.document_id, n.edition, n.realm from editions_to_build(wanted_engine, wanted) n
        order by n.edition limit most
    ), claimed as (
        insert into engine_edition as b (edition, engine, realm, holder, lease_until, attempts)
        select n.edition, wanted_engine, n.realm, new_holder, now() + make_interval(secs => lease_s), 1 from next n
        on conflict on constraint engine_edition_pkey do update
            set holder = excluded.holder, lease_until = excluded.lease_until, attempts = b.attempts + 1
        returning b.edition, b.attempts
    )
    select n.owner, n.document_id, c.edition, c.attempts from claimed c join next n on n.edition = c.edition
    order by c.edition;
end $$;
revoke all on function protect_engine_table(text), editions_to_build(text, text),
    claim_builds(text, text, text, double precision, integer) from public;
