-- Flows: stored definitions, each change a new version; a flow belongs to the person who stored it.

create table flow (
    id bigint generated always as identity primary key,
    owner text not null references person,
    name text not null,
    version integer not null,
    definition json not null,  -- as it was written, with its fields in their order
    created_at timestamptz not null default now(),
    unique (owner, name, version)
);

alter table flow enable row level security;
alter table flow force row level security;
create policy mine on flow using (owner = (select me()));
