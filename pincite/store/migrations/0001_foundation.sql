-- Users, documents, chunks and their index. Runs as the schema's owner, inside schema `pincite`.
-- Every table with user data has row-level security forced; the caller is `pincite.person`, set per transaction.

-- The id of this library: the files of each library are in a separate folder, so that none is removed as stray.
create table library (id text primary key default replace(gen_random_uuid()::text, '-', ''));
insert into library default values;

create table person (
    id text primary key,
    name text not null unique,
    role text not null check (role in ('administrator', 'editor', 'reader')),
    created_at timestamptz not null default now()
);
insert into person (id, name, role) values ('local', 'local owner', 'administrator');

create table api_key (
    id text primary key,
    person text not null references person,
    name text not null,
    role text not null check (role in ('administrator', 'editor', 'reader')),
    hash bytea not null unique,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz
);

-- A realm is a set of documents with the same readers. Rows with a document's words or vectors
-- carry its realm, so that permissions are one small predicate wherever they are searched.
create table realm (
    id integer generated always as identity primary key,
    owner text not null references person unique
);
insert into realm (owner) values ('local');

create table document (
    id text primary key,
    owner text not null references person,
    realm integer not null references realm,
    folder text not null,
    name text not null,
    given jsonb not null default '{}',  -- title, author, description, tags from the uploader; they override the file's
    title text not null,
    author text,
    description text,
    category text,
    tags text[] not null default '{}',
    source_uri text,
    source_urls text[] not null default '{}',
    status text not null check (status in ('pending', 'processing', 'completed', 'error')),
    stage text,
    progress real not null default 0,
    error_code text,
    error_message text,
    latest integer,
    served integer,
    languages text[] not null default '{}',
    -- Totals of the served edition: BM25's N and lengths, and the size of a search, without counting rows.
    chunks integer not null default 0,
    words bigint not null default 0,
    vectors integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (owner, folder, name)
);
create index document_totals on document (realm) include (chunks, words, vectors) where served is not null;
create index document_folder on document (folder text_pattern_ops);
create index document_source on document (source_uri) where source_uri is not null;

create table version (
    key integer generated always as identity primary key,
    id text not null,
    document_id text not null references document on delete cascade,
    realm integer not null references realm,
    checksum text not null,
    bytes bigint not null,
    mime text not null,
    state text not null default 'waiting' check (state in ('waiting', 'indexed', 'failed', 'overtaken')),
    text text,
    page_starts integer[] not null default '{}',
    body_start integer not null default 0,
    created_at timestamptz not null default now(),
    unique (document_id, id)
);

-- One indexing of a version. A document has one served edition; another one can be written meanwhile, unseen.
create table edition (
    key integer generated always as identity primary key,
    version integer not null references version on delete cascade,
    document_id text not null references document on delete cascade,
    realm integer not null references realm,
    state text not null default 'writing' check (state in ('writing', 'served', 'retired')),
    signature text not null
);
create index edition_version on edition (version);
create index edition_document on edition (document_id);
create index edition_hidden on edition (key) where state <> 'served';

create table chunk (
    key integer generated always as identity primary key,
    edition integer not null references edition on delete cascade,
    realm integer not null,
    ordinal integer not null,
    level smallint not null,
    parent integer,
    text text,  -- only at level 2; the text of sections and documents is a slice of the version's text
    header text not null default '',
    start_char integer not null,
    end_char integer not null,
    start_line integer not null,
    end_line integer not null,
    page integer,
    heading_path text[] not null,
    content_type text not null,
    language text not null,
    tokens integer not null,
    checksum text not null,
    vectorized_text text,
    unique (edition, ordinal)
);

create table embedding_model (
    id smallint generated always as identity primary key,
    name text not null unique,
    dimensions integer not null
);

-- Several windows per chunk. `hash` is that of the embedded text, so that equal text is embedded once.
create table vector (
    chunk integer not null,
    edition integer not null,
    realm integer not null,
    part smallint not null,
    model smallint not null,
    hash bytea not null,
    embedding halfvec not null
);
create index vector_edition on vector (edition, chunk);
create index vector_hash on vector (hash);

create table posting (
    term text collate "C" not null,
    chunk integer not null,
    edition integer not null,
    realm integer not null,
    frequency integer not null,
    words integer not null
);
create index posting_term on posting (term) include (chunk, edition, realm, frequency, words);
create index posting_edition on posting (edition);

create table job (
    id bigint generated always as identity primary key,
    owner text not null references person,
    document_id text not null references document on delete cascade,
    version integer not null references version on delete cascade,
    state text not null default 'ready' check (state in ('held', 'ready', 'running')),
    place text not null,  -- the data folder with the file: only its machine can do the job
    attempts integer not null default 0,
    holder text,  -- a token of each claim: without it, a worker may no longer change the document
    lease_until timestamptz,
    not_before timestamptz not null default '-infinity',
    created_at timestamptz not null default now(),
    unique (version)
);
create index job_next on job (id) where state in ('ready', 'running');

create table trace (
    id text primary key,
    owner text not null references person,
    kind text not null,
    question text,
    strategy text,
    started_at timestamptz not null,
    duration_ms real not null,
    error text,
    degraded jsonb not null default '[]'
);
create index trace_recent on trace (owner, started_at desc);

create table span (
    trace_id text not null references trace on delete cascade,
    number integer not null,
    parent integer,
    owner text not null,
    stage text not null,
    started_ms real not null,
    duration_ms real not null,
    error text,
    attributes jsonb not null default '{}',
    primary key (trace_id, number)
);

-- The person of this transaction. Empty or unset means nobody, who sees nothing.
create function me() returns text language sql stable as
$$ select nullif(current_setting('pincite.person', true), '') $$;

alter table api_key enable row level security;
alter table realm enable row level security;
alter table document enable row level security;
alter table version enable row level security;
alter table edition enable row level security;
alter table chunk enable row level security;
alter table vector enable row level security;
alter table posting enable row level security;
alter table job enable row level security;
alter table trace enable row level security;
alter table span enable row level security;
alter table api_key force row level security;
alter table realm force row level security;
alter table document force row level security;
alter table version force row level security;
alter table edition force row level security;
alter table chunk force row level security;
alter table vector force row level security;
alter table posting force row level security;
alter table job force row level security;
alter table trace force row level security;
alter table span force row level security;

create policy mine on api_key using (person = (select me()));
create policy mine on realm using (owner = (select me()));
create policy mine on document using (realm = any (array(select id from realm)));
create policy mine on version using (realm = any (array(select id from realm)));
create policy mine on edition using (realm = any (array(select id from realm)));
create policy mine on chunk using (realm = any (array(select id from realm)));
create policy mine on vector using (realm = any (array(select id from realm)));
create policy mine on posting using (realm = any (array(select id from realm)));
create policy mine on job using (owner = (select me()));
create policy mine on trace using (owner = (select me()));
create policy mine on span using (owner = (select me()));

-- The functions below run as the schema's owner, who need not be a superuser; the application never is the owner.
create policy owner_functions on api_key to current_user using (true);
create policy owner_functions on job to current_user using (true);
create policy owner_functions on document to current_user using (true);
create policy owner_functions on version to current_user using (true);
create policy owner_functions on edition to current_user using (true);
create policy owner_functions on trace to current_user using (true);

-- Functions that must work before, or regardless of, the person. Each returns ids, never content.
create function find_key(wanted bytea) returns table (key_id text, person text, role text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select id, person, role from api_key
    where hash = wanted and revoked_at is null and (expires_at is null or expires_at > now())
$$;

create function claim_job(new_holder text, here text, lease_s double precision)
returns table (job_id bigint, job_owner text, job_document text, job_version integer, job_attempts integer)
language sql volatile security definer set search_path = pincite, pg_temp as $$
    update job set state = 'running', holder = new_holder, attempts = attempts + 1,
           lease_until = now() + make_interval(secs => lease_s)
    where id = (
        select id from job
        where place = here
          and ((state = 'ready' and not_before <= now()) or (state = 'running' and lease_until < now()))
        order by id limit 1 for update skip locked
    )
    returning id, owner, document_id, version, attempts
$$;

create function known_versions() returns table (document_id text, version_id text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select document_id, id from version
$$;

-- Editions that are neither served nor being written.
create function abandoned_editions() returns table (owner text, edition integer)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select d.owner, e.key from edition e join document d on d.id = e.document_id
    where e.state = 'retired'
       or (e.state = 'writing' and not exists (select from job j where j.version = e.version))
$$;

create function forget_old_traces(days integer) returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with gone as (delete from trace where started_at < now() - make_interval(days => forget_old_traces.days) returning 1)
    select count(*) from gone
$$;

revoke all on all functions in schema pincite from public;
