-- Folders with prompts and labels, files of watched folders, and enrichments of chunks.

-- Notes about a document for its readers, although it can be searched.
alter table document add column notes text[] not null default '{}';

-- A folder exists if it contains documents; it has a row if it has a prompt or a label, or was created empty.
create table folder (
    owner text not null references person,
    path text not null,
    system_prompt text,
    category_label text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (owner, path)
);

-- The file of a watched folder that a document is synchronised with, on the machine with the data folder `place`.
create table origin (
    document_id text primary key references document on delete cascade,
    realm integer not null references realm,
    place text not null,
    root text not null,
    path text not null,
    unique (realm, place, root, path)
);

-- `hash` is that of the chunk, the model and the prompt: an equal chunk of the same owner is not enriched again.
-- It belongs to its document and is removed with it.
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
