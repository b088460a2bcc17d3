-- Conversations: sessions, their turns, and the documents that each turn cites.

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
    words text not null,  -- the text of the answer; of an incomplete one, its text so far
    answer jsonb,         -- the complete answer, if there is one
    complete boolean not null,
    removed boolean not null default false,  -- cites a document that was removed since
    trace_id text not null,
    created_at timestamptz not null default now()
);
create index turn_session on turn (session_id, id);

-- The documents that a turn quotes, so that a removal finds the quotes without reading every conversation.
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

-- Removing a document removes its quotes from everyone's sessions. Ids and owners, never content.
create function turns_quoting(wanted text) returns table (turn_id bigint, owner text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select t.turn_id, t.owner from turn_document t where t.document_id = wanted order by t.turn_id
$$;

revoke all on function turns_quoting(text) from public;
