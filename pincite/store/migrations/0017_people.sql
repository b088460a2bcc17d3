-- Users, groups, logins and permissions.

-- A suspended user may not log in; the name of a removed user stays reserved, because the history refers to it.
alter table person
    add column suspended_at timestamptz,
    add column removed_at timestamptz;
update person set name = 'local' where id = 'local';
create unique index person_name on person (lower(name)) where removed_at is null;

create table people_group (
    id text primary key,
    name text not null,
    created_at timestamptz not null default now()
);
create unique index people_group_name on people_group (lower(name));

create table membership (
    person text not null references person on delete cascade,
    group_id text not null references people_group on delete cascade,
    primary key (person, group_id)
);
create index membership_group on membership (group_id);

create table password (
    person text primary key references person on delete cascade,
    hash text not null,
    changed_at timestamptz not null default now()
);

-- A login session, by the hash of the browser's token.
create table login (
    hash bytea primary key,
    person text not null references person on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
);
create index login_person on login (person);

-- The token that creates the first administrator, by its hash; it works once, and only without an administrator.
create table setup (hash bytea primary key, created_at timestamptz not null default now());

-- Recent failed logins, by hashes of the name and the address.
create table failed_login (subject bytea not null, failed_at timestamptz not null default clock_timestamp());
create index failed_login_subject on failed_login (subject, failed_at);

-- A realm is the documents of one owner with the same readers: `readers` are 'user:ID', 'group:ID' and 'everyone',
-- sorted. The owner can always read it.
alter table realm drop constraint realm_owner_key;
alter table realm add column readers text[] not null default '{}';
alter table realm add constraint realm_once unique (owner, readers);

-- The same by reader, including the owner: the readable realms of a person are found by the person's ids.
create table reader (
    principal text collate "C" not null,
    realm integer not null references realm on delete cascade,
    primary key (principal, realm)
);
create function list_readers() returns trigger
language plpgsql security definer set search_path = pincite, pg_temp as $$
begin
    delete from reader where realm = new.id;
    insert into reader (principal, realm)
        select distinct p, new.id from unnest(new.readers || ('user:' || new.owner)) p;
    return null;
end $$;
create trigger list_readers after insert or update of readers on realm for each row execute function list_readers();

-- Null: the readers of the folder; for a folder, those of its parent.
alter table document add column readers text[];
alter table folder add column readers text[];

-- Whether an edition's document has moved to another realm than its rows.
alter table edition add column astray boolean not null default false;
create index edition_astray on edition (key) where astray;

alter table person enable row level security;
alter table people_group enable row level security;
alter table membership enable row level security;
alter table password enable row level security;
alter table login enable row level security;
alter table setup enable row level security;
alter table failed_login enable row level security;
alter table reader enable row level security;
alter table person force row level security;
alter table people_group force row level security;
alter table membership force row level security;
alter table password force row level security;
alter table login force row level security;
alter table setup force row level security;
alter table failed_login force row level security;
alter table reader force row level security;
create policy owner_functions on person to current_user using (true);
create policy owner_functions on people_group to current_user using (true);
create policy owner_functions on membership to current_user using (true);
create policy owner_functions on password to current_user using (true);
create policy owner_functions on login to current_user using (true);
create policy owner_functions on setup to current_user using (true);
create policy owner_functions on failed_login to current_user using (true);
create policy owner_functions on reader to current_user using (true);
create policy owner_functions on realm to current_user using (true);
create policy owner_functions on folder to current_user using (true);

insert into reader (principal, realm) select 'user:' || owner, id from realm;

-- Every policy below calls these two; written so that their bodies are planned once.
create function readable() returns integer[]
language plpgsql stable security definer set search_path = pincite, pg_temp as $$
begin
    return array(
        select distinct r.realm from (
            select 'everyone' where me() is not null union all select 'user:' || me()
            union all select 'group:' || m.group_id from membership m where m.person = me()) i (principal)
        join reader r on r.principal = i.principal);
end $$;
create function own_realms() returns integer[]
language plpgsql stable security definer set search_path = pincite, pg_temp as $$
begin
    return array(select id from realm where owner = me());
end $$;

create or replace function am_administrator() returns boolean
language sql stable security definer set search_path = pincite, pg_temp as $$
    select exists (select from person where id = me() and role = 'administrator' and suspended_at is null)
$$;

-- Reading and writing are separate rights: the readers of a realm see its rows, only its owner changes them. Written as
-- a subquery, which is hashed, because a person may read a thousand realms.
drop policy mine on realm;
create policy readers on realm for select using (id in (select unnest(readable())));
do $$
declare
    one text;
begin
    foreach one in array array['document', 'version', 'edition', 'chunk', 'vector', 'posting', 'past_vector', 'past_posting',
                               'vocabulary', 'pack', 'packed', 'corpus', 'page', 'piece', 'enrichment', 'origin', 'fetched']
    loop
        execute format('drop policy mine on %I', one);
        execute format('create policy readers on %I for select using (realm in (select unnest(readable())))', one);
        execute format('create policy owner_adds on %I for insert with check (realm in (select unnest(own_realms())))', one);
        execute format('create policy owner_changes on %I for update using (realm in (select unnest(own_realms())))', one);
        execute format('create policy owner_removes on %I for delete using (realm in (select unnest(own_realms())))', one);
    end loop;
end $$;

-- Administrators see and change all users; everyone sees themselves and their own groups.
create policy oneself on person for select using (id = (select me()));
create policy administrators on person
    using ((select am_administrator())) with check ((select am_administrator()));
create policy own on membership for select using (person = (select me()));
create policy administrators on membership
    using ((select am_administrator())) with check ((select am_administrator()));
create policy own on people_group for select
    using (id = any (array(select m.group_id from membership m where m.person = (select me()))));
create policy administrators on people_group
    using ((select am_administrator())) with check ((select am_administrator()));
create policy mine on password using (person = (select me()));
create policy administrators on password
    using ((select am_administrator())) with check ((select am_administrator()));
create policy mine on login using (person = (select me()));
create policy administrators on login
    using ((select am_administrator())) with check ((select am_administrator()));
create policy administrators on api_key
    using ((select am_administrator())) with check ((select am_administrator()));

-- Whether this person may not log in any more. The person's documents stay, and their jobs still run.
create function shut_out() returns boolean
language sql stable security definer set search_path = pincite, pg_temp as $$
    select not exists (select from person where id = me() and suspended_at is null and removed_at is null)
$$;

create function everybody() returns table (id text)
language sql stable security definer set search_path = pincite, pg_temp as
$$ select p.id from person p order by p.id $$;

-- The number of documents that a person owns, for administrators.
create function documents_of(whose text) returns bigint
language sql stable security definer set search_path = pincite, pg_temp as
$$ select count(*) from document where owner = whose and am_administrator() $$;

-- Readers in readable form: groups by name, without removed users. For the owner of the document or folder.
create function shown(readers text[]) returns text[]
language sql stable strict security definer set search_path = pincite, pg_temp as $$
    select array(
        select 'group:' || g.name from unnest(readers) r join people_group g on r = 'group:' || g.id
        union all
        select r from unnest(readers) r left join person p on r = 'user:' || p.id
        where r = 'everyone' or (p.id is not null and p.removed_at is null)
        order by 1)
$$;

-- Which of these names and ids of users and groups exist: a person who shares must see what was mistyped, and
-- nothing else. Ids, never content.
create function known_readers(users text[], groups text[]) returns table (given text, principal text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select u, 'user:' || p.id from unnest(users) u join person p
        on (p.id = u or lower(p.name) = lower(u)) and p.removed_at is null where me() is not null
    union all
    select g, 'group:' || c.id from unnest(groups) g join people_group c
        on c.id = g or lower(c.name) = lower(g) where me() is not null
$$;

-- The realm of the person's documents for these readers; created when needed, and locked until the transaction ends.
create function realm_of(wanted text[]) returns integer
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    known integer;
    ordered text[] := array(select distinct w from unnest(wanted) w where w <> 'user:' || me() order by w);
begin
    loop
        select id into known from realm where owner = me() and readers = ordered for key share;
        if known is not null or me() is null then
            return known;
        end if;
        insert into realm (owner, readers) values (me(), ordered) on conflict do nothing;
    end loop;
end $$;

-- The readers of a folder: those of the nearest folder that has its own.
create function readers_of(whose text, path text) returns text[] language sql stable as $$
    select coalesce((
        select f.readers from folder f
        where f.owner = whose and f.readers is not null and (f.path = readers_of.path or starts_with(readers_of.path, f.path || '/'))
        order by length(f.path) desc limit 1), '{}')
$$;

-- If all documents of a realm get the same new readers, the realm's readers change in one step, unless such a realm
-- exists already. A transaction that is about to add a document waits, and then finds another realm.
create function rename_realm(which integer, wanted text[], all_of_it text[]) returns boolean
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
begin
    perform from realm where id = which and owner = me() for update;
    if not found or exists (select from realm where owner = me() and readers = wanted)
       or exists (select from document where realm = which and id <> all (all_of_it)) then
        return false;
    end if;
    update realm set readers = wanted where id = which;
    return true;
exception when unique_violation then
    return false;
end $$;

-- The number of vectors in the index of all owners, to choose the search method.
create function all_vectors() returns bigint
language sql stable security definer set search_path = pincite, pg_temp as
$$ select coalesce(sum(vectors), 0)::bigint from document where served is not null $$;
-- The vectors of few realms are compared exactly.
create index vector_realm on vector (realm);

-- Documents whose rows are still in the realm of their previous readers. Ids, never content.
create function unsettled() returns table (owner text, document_id text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select distinct d.owner, d.id from edition e join document d on d.id = e.document_id where e.astray
$$;

-- Locks the readable ones of these documents until the transaction ends, so that none is removed meanwhile.
create function hold_documents(wanted text[], realms integer[]) returns table (id text)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    mine integer[] := readable();
begin
    return query select d.id from document d
        where d.id = any (wanted) and d.realm = any (realms) and d.realm = any (mine) order by d.id for key share;
end $$;

-- An API key has at most the role of its owner.
create function lesser(a text, b text) returns text language sql immutable as $$
    select case when 'reader' in (a, b) then 'reader' when 'editor' in (a, b) then 'editor' else 'administrator' end
$$;
create or replace function find_key(wanted bytea) returns table (key_id text, person text, role text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select k.id, k.person, case when k.role = 'metrics' then k.role else lesser(k.role, p.role) end
    from api_key k join person p on p.id = k.person
    where k.hash = wanted and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
      and p.suspended_at is null and p.removed_at is null and (k.role <> 'metrics' or p.role = 'administrator')
$$;
create function find_login(wanted bytea) returns table (person text, role text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select p.id, p.role from login l join person p on p.id = l.person
    where l.hash = wanted and l.expires_at > now() and p.suspended_at is null and p.removed_at is null
$$;
-- The password hash of a name, before the person is authenticated.
create function password_of(wanted text) returns table (person text, hash text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select p.id, w.hash from person p join password w on w.person = p.id
    where lower(p.name) = lower(wanted) and p.suspended_at is null and p.removed_at is null
$$;

create function needs_setup() returns boolean
language sql stable security definer set search_path = pincite, pg_temp as
$$ select not exists (select from password) $$;
create function offer_setup(token bytea) returns void
language sql volatile security definer set search_path = pincite, pg_temp as
$$ insert into setup (hash) select token where needs_setup() $$;
-- The first administrator owns the data folder, and gets a name and a password; one of concurrent requests succeeds.
create function take_setup(token bytea, chosen text, secret text) returns boolean
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
begin
    perform from person where id = 'local' for update;
    if not needs_setup() or not exists (select from setup where hash = token) then
        return false;
    end if;
    update person set name = chosen where id = 'local';
    insert into password (person, hash) values ('local', secret);
    delete from setup;
    return true;
end $$;

create function count_failed_logins(subjects bytea[], seconds integer) returns table (subject bytea, failures bigint)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select f.subject, count(*) from failed_login f
    where f.subject = any (subjects) and f.failed_at > clock_timestamp() - make_interval(secs => seconds) group by f.subject
$$;
create function note_failed_login(subjects bytea[], seconds integer) returns void
language sql volatile security definer set search_path = pincite, pg_temp as $$
    delete from failed_login where failed_at < clock_timestamp() - make_interval(secs => seconds);
    insert into failed_login (subject) select unnest(subjects);
$$;
create function forget_failed_logins(subjects bytea[]) returns void
language sql volatile security definer set search_path = pincite, pg_temp as
$$ delete from failed_login f where f.subject = any (subjects) $$;

revoke all on all functions in schema pincite from public;
