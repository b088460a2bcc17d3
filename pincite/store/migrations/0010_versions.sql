-- Earlier versions that can still be searched, and indexes that are built while another one is searched.

-- An edition is written, served, and then retired. `kept` editions are of earlier versions; their postings and vectors
-- are in separate tables. `ready` ones are complete and belong to an index that is being built or is on standby.
alter table edition drop constraint edition_state_check;
alter table edition add constraint edition_state_check
    check (state in ('writing', 'served', 'retired', 'kept', 'ready'));
drop index edition_hidden;
create index edition_hidden on edition (key) where state in ('writing', 'retired', 'ready');

-- The totals of the served edition, for each edition that may be searched.
alter table edition
    add column model smallint references embedding_model,
    add column languages text[] not null default '{}',
    add column chunks integer not null default 0,
    add column words bigint not null default 0,
    add column vectors integer not null default 0;
update edition e set model = d.model, languages = d.languages, chunks = d.chunks, words = d.words, vectors = d.vectors
    from document d where d.served = e.key;

-- The metadata of a version: title, author, description, category, tags, source_urls.
alter table version add column about jsonb not null default '{}';
update version v set about = jsonb_build_object(
        'title', d.title, 'author', d.author, 'description', d.description, 'category', d.category,
        'tags', to_jsonb(d.tags), 'source_urls', to_jsonb(d.source_urls))
    from document d join edition e on e.key = d.served where e.version = v.key;
create index version_document on version (document_id, key desc);

-- Postings and vectors of kept editions are in separate tables: an ordinary search never reads them.
create table past_posting (
    term text collate "C" not null,
    chunk integer not null,
    edition integer not null references edition on delete cascade,
    realm integer not null,
    frequency integer not null,
    words integer not null
);
create index past_posting_term on past_posting (realm, term, edition) include (chunk, frequency, words);
create index past_posting_edition on past_posting (edition);
create table past_vector (
    chunk integer not null,
    edition integer not null references edition on delete cascade,
    realm integer not null,
    part smallint not null,
    model smallint not null,
    hash bytea not null,
    embedding halfvec not null
);
create index past_vector_edition on past_vector (edition, chunk);
alter table past_posting enable row level security;
alter table past_vector enable row level security;
alter table past_posting force row level security;
alter table past_vector force row level security;
create policy mine on past_posting using (realm = any (array(select id from realm)));
create policy mine on past_vector using (realm = any (array(select id from realm)));

-- Editions that are neither served nor being written; one of an earlier version is kept, the others are removed.
drop function abandoned_editions();
create function abandoned_editions() returns table (owner text, edition integer, keep boolean)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select d.owner, e.key, e.state = 'retired' and e.model is not null and e.version <> s.version
           and not exists (select from edition k where k.version = e.version and k.state = 'kept')
    from edition e join document d on d.id = e.document_id left join edition s on s.key = d.served
    where e.state = 'retired'
       or (e.state = 'writing' and not exists (select from job j where j.version = e.version))
       or (e.state = 'ready' and e.version <> s.version)
$$;

-- Versions that are neither the newest nor served, beyond the limits of number and age (0: no limit).
create function versions_beyond(most integer, days integer)
returns table (owner text, document_id text, version integer, version_id text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select d.owner, d.id, v.key, v.id from (
        select key, id, document_id, row_number() over newest as place, lag(created_at) over newest as replaced_at
        from version window newest as (partition by document_id order by key desc)
    ) v join document d on d.id = v.document_id left join edition s on s.key = d.served
    where v.key <> d.latest and v.key is distinct from s.version
      and ((most > 0 and v.place > most) or (days > 0 and v.replaced_at < now() - make_interval(days => versions_beyond.days)))
      and not exists (select from job j where j.version = v.key)
$$;
revoke all on function abandoned_editions(), versions_beyond(integer, integer) from public;

-- An index of the whole library: chunking settings and embedding model. One index is searched; another one is built
-- document by document, and replaces it in one step; the previous one stays on standby to switch back.
create table generation (
    id integer generated always as identity primary key,
    signature text not null unique,
    settings jsonb not null,  -- the settings it was built with, by name; no secrets
    state text not null check (state in ('building', 'serving', 'standby')),
    held boolean not null default false,  -- waits for a release when it is complete
    failures jsonb not null default '{}',  -- document → why it could not be indexed
    created_at timestamptz not null default now(),
    switched_at timestamptz
);
create unique index generation_one on generation (state) where state in ('building', 'serving');
alter table generation enable row level security;
alter table generation force row level security;
create policy everyone on generation using (true);

-- A job is either for the searched index, or for an index that is being built.
alter table job add column generation integer references generation on delete cascade;
alter table job drop constraint job_version_key;
create unique index job_of on job (version, coalesce(generation, 0));
create policy owner_functions on corpus to current_user using (true);

-- Whether an edition belongs to an index; an incomplete edition that was served belongs to it, too.
create function is_of(e edition, signature text) returns boolean language sql immutable as
$$ select e.signature in (signature, signature || ':wanting') $$;

create function one_switch_at_a_time() returns void language sql as $$ select pg_advisory_xact_lock(1734701669) $$;

-- The searched index; if nothing is served yet, or only its name changed, it is the requested one.
create function serving_generation(wanted text, made_by jsonb)
returns table (generation integer, its_signature text, its_settings jsonb)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
begin
    if exists (select from generation g where g.state = 'serving' and g.signature = wanted) then
        return query select g.id, g.signature, g.settings from generation g where g.state = 'serving';
        return;
    end if;
    perform one_switch_at_a_time();
    if not exists (select from generation g where g.state = 'serving') then
        insert into generation (signature, settings, state) values (wanted, made_by, 'serving');
    elsif not exists (select from document where served is not null)
          or exists (select from generation g where g.state = 'serving' and g.settings = made_by) then
        delete from generation g where g.state <> 'serving' and (g.signature = wanted or g.state = 'building');
        update generation g set signature = wanted, settings = made_by where g.state = 'serving';
    end if;
    return query select g.id, g.signature, g.settings from generation g where g.state = 'serving';
end $$;

-- Start building an index: a job for every document without an edition for it.
create function build_generation(wanted text, made_by jsonb, wait boolean, here text) returns integer
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    made integer;
begin
    perform one_switch_at_a_time();
    if exists (select from generation g where g.state = 'serving' and g.signature = wanted) then
        return null;
    end if;
    delete from generation where state = 'building' and signature <> wanted;
    insert into generation (signature, settings, state, held) values (wanted, made_by, 'building', wait)
        on conflict (signature) do update set state = 'building', held = wait, failures = '{}', settings = made_by
        returning id into made;
    insert into job (owner, document_id, version, place, priority, generation)
        select d.owner, d.id, s.version, here, 2, made from document d join edition s on s.key = d.served
        where not is_of(s, wanted) and not exists (
            select from edition e where e.version = s.version and is_of(e, wanted) and e.state = 'ready')
        on conflict do nothing;
    return made;
end $$;

-- Switch to the built index: all documents in one step, or none.
-- Unless forced, not while an edition is missing. A document without one keeps its edition, and is found lexically.
create function switch_generation(now_anyway boolean) returns boolean
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    next generation;
begin
    select * into next from generation where state = 'building';
    if next.id is null or (next.held and not now_anyway)
       or exists (select from job where generation = next.id) then
        return false;
    end if;
    perform one_switch_at_a_time();
    perform from document where served is not null order by id for update;
    if not exists (select from generation where id = next.id and state = 'building') then
        return false;
    end if;
    if exists (
        select from document d join edition s on s.key = d.served
        where not is_of(s, next.signature) and (not now_anyway or not next.failures ? d.id)
          and not exists (select from edition e
                          where e.version = s.version and is_of(e, next.signature) and e.state = 'ready')) then
        return false;
    end if;
    create temp table flip on commit drop as
        select distinct on (d.id) d.id, d.served as before, e.key as after from document d
        join edition s on s.key = d.served
        join edition e on e.version = s.version and is_of(e, next.signature) and e.state = 'ready'
        order by d.id, e.key desc;
    delete from pack;  -- the documents they exclude would be searched now
    update edition e set state = 'ready' from flip f where e.key = f.before;
    update edition e set state = 'served' from flip f where e.key = f.after;
    update document d set served = e.key, model = e.model, languages = e.languages, chunks = e.chunks, words = e.words,
           vectors = e.vectors from flip f join edition e on e.key = f.after where d.id = f.id;
    update generation set state = 'standby' where state = 'serving';
    update generation set state = 'serving', switched_at = now() where id = next.id;
    update corpus set revision = revision + 1;
    return true;
end $$;

-- Discard indexes that are not searched: the one that is being built, or those on standby.
create function discard_generations(which text, days integer) returns bigint
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    gone bigint;
begin
    perform one_switch_at_a_time();
    update edition e set state = 'retired' from generation g
        where e.state = 'ready' and is_of(e, g.signature) and g.state = which
          and g.created_at <= now() - make_interval(days => discard_generations.days);
    delete from generation g where g.state = which
        and g.created_at <= now() - make_interval(days => discard_generations.days);
    get diagnostics gone = row_count;
    return gone;
end $$;

-- The progress of the index that is being built, for all owners: numbers only.
create function generation_progress() returns table (documents bigint, built bigint, waiting bigint)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select count(*), count(*) filter (where is_of(s, g.signature) or exists (
               select from edition e where e.version = s.version and is_of(e, g.signature) and e.state = 'ready')),
           (select count(*) from job j where j.generation = (select id from generation where state = 'building'))
    from document d join edition s on s.key = d.served, (select signature from generation where state = 'building') g
$$;
revoke all on all functions in schema pincite from public;
