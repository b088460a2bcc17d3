-- Evaluation: sets of questions made from a person's own documents, and the outcomes of their runs.

create table evaluation_set (
    id text primary key,
    owner text not null references person,
    version integer not null,
    made_by text not null check (made_by in ('words', 'model')),
    seed bigint not null,
    created_at timestamptz not null default now(),
    unique (owner, version)
);

-- A question contains words of its document: it is removed with the document, or with the right to read it.
create table evaluation_question (
    id bigint generated always as identity primary key,
    set_id text not null references evaluation_set on delete cascade,
    owner text not null references person,
    document_id text not null references document on delete cascade,
    version text not null,
    chunk integer not null,
    kind text not null check (kind in ('heading', 'definition', 'phrase', 'cloze', 'written')),
    language text not null,
    text text not null,
    start_char integer not null,
    end_char integer not null,
    twins jsonb not null default '[]'  -- places with the same text: ids and offsets, no words
);
create index evaluation_question_set on evaluation_question (set_id, id);
create index evaluation_question_document on evaluation_question (document_id);

create table evaluation (
    id text primary key,
    owner text not null references person,
    set_id text references evaluation_set on delete cascade,  -- null while its questions are being made
    state text not null default 'running' check (state in ('running', 'done', 'failed')),
    progress real not null default 0,
    revision bigint not null,
    settings jsonb not null,
    error text,
    outcome jsonb,  -- measures, the rank of each question by its id, times
    started_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp(),  -- the last report of the process that runs it
    finished_at timestamptz
);
create index evaluation_recent on evaluation (owner, started_at desc, id desc);

alter table evaluation_set enable row level security;
alter table evaluation_question enable row level security;
alter table evaluation enable row level security;
alter table evaluation_set force row level security;
alter table evaluation_question force row level security;
alter table evaluation force row level security;

create policy mine on evaluation_set using (owner = (select me()));
create policy mine on evaluation_question
    using (owner = (select me()) and exists (select from document d where d.id = document_id));
create policy mine on evaluation using (owner = (select me()));
