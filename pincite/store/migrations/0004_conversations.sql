-- Conversations: sessions, their turns, and which documents each turn stands on.

create table session (
    id text primary key,
    owner text not null references person,
    title text not null default '',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);
create index session_recent on session (owner, updated_at desc, id desc);

create table turn (
    id bigint generated always as identity primary key,
    session_id text not null references session on delete cascade,
    owner text not null references person,
    question text not null,
    standalone text not null,
    words text not null,  -- what the answer says; of a cut one, what it had said so far
    answer jsonb,         -- the whole answer, where there is one
    complete boolean not null,
    removed boolean not null default false,  -- stands on a document that was removed since
    trace_id text not null,
    created_at timestamptz not null default now()
);
create index turn_session on turn (session_id, id);

-- What a turn quotes, so that removing a document finds its quotes without reading every conversation.
create table turn_document (
    document_id text not null,
    turn_id bigint not null references turn on delete cascade,
    owner text not null references person,
    primary key (document_id, turn_id)
);
create index turn_document_turn on turn_document (turn_id);

alter table session enable row level security;
alter table turn enable row level security;
alter table turn_document enable row level security;
alter table session force row level security;
alter table turn force row level security;
alter table turn_document force row level security;

create policy mine on session using (owner = (select me()));
create policy mine on turn using (owner = (select me()));
create policy mine on turn_document using (owner = (select me()));
create policy owner_functions on turn_document to current_user using (true);

-- Whoever removes a document removes its quotes from everybody's history. Ids and owners, never content.
create function turns_quoting(wanted text) returns table (turn_id bigint, owner text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select t.turn_id, t.owner from turn_document t where t.document_id = wanted order by t.turn_id
$$;

revoke all on function turns_quoting(text) from public;
