-- Folders with something to say, where watched documents come from, what a model wrote about passages to find them by.

-- What happened to a document that its reader should know, though it can be asked about.
alter table document add column notes text[] not null default '{}';

-- A folder exists where documents lie in it; it has a row where somebody gave it a prompt or a label, or made it empty.
create table folder (
    owner text not null references person,
    path text not null,
    system_prompt text,
    category_label text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (owner, path)
);

-- Which file below which watched folder a document is kept in step with, on the machine that holds the data folder `place`.
create table origin (
    document_id text primary key references document on delete cascade,
    realm integer not null references realm,
    place text not null,
    root text not null,
    path text not null,
    unique (realm, place, root, path)
);

-- `hash` is that of the passage, the model and the prompt: an equal passage of the same owner is not asked about again.
-- It belongs to its document and goes with it.
create table enrichment (
    document_id text not null references document on delete cascade,
    realm integer not null references realm,
    hash bytea not null,
    summary text not null,
    questions text[] not null,
    primary key (document_id, hash)
);
create index enrichment_hash on enrichment (hash);

alter table folder enable row level security;
alter table origin enable row level security;
alter table enrichment enable row level security;
alter table folder force row level security;
alter table origin force row level security;
alter table enrichment force row level security;
create policy mine on folder using (owner = (select me()));
create policy mine on origin using (realm = any (array(select id from realm)));
create policy mine on enrichment using (realm = any (array(select id from realm)));
