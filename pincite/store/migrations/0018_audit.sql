-- The audit log: an append-only chain of events with person and origin; the traces that
-- administrators see of others; and users of identity providers.

-- A time as events contain it, always with its offset, so that it is unambiguous.
create function audit_moment(content text) returns timestamptz
language sql immutable strict as $$ select (content::jsonb ->> 'at')::timestamptz $$;

-- `hash` covers the previous hash, the number and the stored content. The columns for filters are generated from
-- the content, so that neither can be changed without the other.
create table audit_event (
    number bigint primary key,
    content text not null,
    hash bytea not null,
    at timestamptz not null generated always as (audit_moment(content)) stored,
    event text not null generated always as (content::jsonb ->> 'event') stored,
    person text generated always as (content::jsonb ->> 'person') stored,
    subject text generated always as (content::jsonb ->> 'subject') stored
);
create index audit_event_at on audit_event (at);

-- The length and the end of the chain, which reveals events cut off at the end. A transaction that adds events locks
-- the row as its last step, so that there is one order.
create table audit_head (
    id boolean primary key default true check (id),
    number bigint not null,
    hash bytea not null
);
insert into audit_head (number, hash) values (0, decode(repeat('00', 32), 'hex'));

alter table audit_event enable row level security;
alter table audit_head enable row level security;
alter table audit_event force row level security;
alter table audit_head force row level security;
create policy administrators_read on audit_event for select using ((select am_administrator()));
create policy administrators_read on audit_head for select using ((select am_administrator()));
-- Even the owner's functions only append: no policy allows changing or removing an event.
create policy owner_functions on audit_event for select to current_user using (true);
create policy owner_adds on audit_event for insert to current_user with check (true);
create policy owner_functions on audit_head to current_user using (true);

-- Append events to the chain, with the current person and time.
create function note_events(told jsonb) returns void
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    head audit_head;
    one jsonb;
    words text;
begin
    -- A transaction that stops here, while others wait, is ended before these time out.
    perform set_config('idle_in_transaction_session_timeout', '10s', true);
    select * into head from audit_head for update;
    for one in select * from jsonb_array_elements(told) loop
        words := (one || jsonb_build_object(
            'person', me(), 'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))::text;
        head.number := head.number + 1;
        head.hash := sha256(head.hash || int8send(head.number) || convert_to(words, 'UTF8'));
        insert into audit_event (number, content, hash) values (head.number, words, head.hash);
    end loop;
    update audit_head set number = head.number, hash = head.hash;
end $$;

-- The identity of a user at an identity provider. A user with a password logs in with it, and `local` owns the data
-- folder: neither is assigned to an identity of the same name.
create table identity (
    issuer text not null,
    subject text not null,
    person text not null references person on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject),
    unique (issuer, person)
);
alter table identity enable row level security;
alter table identity force row level security;
create policy owner_functions on identity to current_user using (true);
create policy administrators on identity
    using ((select am_administrator())) with check ((select am_administrator()));
create function take_identity(whose text, known_as text, called text) returns text
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    found_person text;
begin
    insert into identity (issuer, subject, person)
        select whose, known_as, p.id from person p
        where lower(p.name) = lower(called) and p.id <> 'local' and p.removed_at is null and p.suspended_at is null
          and not exists (select from password w where w.person = p.id)
          and not exists (select from identity i where i.issuer = whose and i.subject = known_as)
        on conflict do nothing;
    select p.id into found_person from identity i join person p on p.id = i.person
        where i.issuer = whose and i.subject = known_as and p.removed_at is null and p.suspended_at is null;
    return found_person;
end $$;

-- Traces of all requests, for administrators; texts and options are visible to their owner only.
create policy owner_functions on span to current_user using (true);
create view told_trace as
    select id, owner, kind, started_at, duration_ms, strategy, error, code, degraded, request_id, remote,
           case when owner = (select me()) then options else '{}' end as options,
           case when owner = (select me()) then settings else settings - 'category_labels' end as settings, outcome,
           case when owner = (select me()) then content end as content, documents
    from trace where owner = (select me()) or (select am_administrator());
create view told_span as
    select * from span where owner = (select me()) or (select am_administrator());

revoke all on function audit_moment(text), note_events(jsonb), take_identity(text, text, text) from public;
