-- Usage of persons and addresses, and its limits.

-- The limits of one person, instead of those in the settings; 0 means no limit.
create table allowance (
    person text not null references person on delete cascade,
    name text not null,
    most bigint not null check (most >= 0),
    primary key (person, name)
);

-- The used part of a budget since the start of a minute or a day, by a person or an address.
create table spent (
    subject text not null,
    name text not null,
    since timestamptz not null,
    amount bigint not null,
    primary key (subject, name, since)
);

-- Running answers; one whose server died expires.
create table streaming (
    id text primary key,
    person text not null references person on delete cascade,
    until timestamptz not null
);
create index streaming_person on streaming (person);

alter table allowance enable row level security;
alter table spent enable row level security;
alter table streaming enable row level security;
alter table allowance force row level security;
alter table spent force row level security;
alter table streaming force row level security;
create policy owner_functions on allowance to current_user using (true);
create policy owner_functions on spent to current_user using (true);
create policy owner_functions on streaming to current_user using (true);
create policy mine on allowance for select using (person = (select me()));
create policy administrators on allowance
    using ((select am_administrator())) with check ((select am_administrator()));

-- The limit of this person or, without one, of anyone. The owner of the data folder has no limit on storage.
create function most_of(what text, otherwise bigint) returns bigint
language sql stable security definer set search_path = pincite, pg_temp as $$
    select coalesce((select a.most from allowance a where a.person = me() and a.name = what),
                    case when me() = 'local' and what in ('documents', 'storage_mb', 'jobs') then 0 else otherwise end)
$$;

-- Take a part of a budget that resets every so many seconds: at least `wanted`, and, if given, a `share` of
-- the whole, so that one call covers many requests. Nothing is granted if less than wanted is left.
create function spend(address text, what text, seconds integer, wanted bigint, share integer, otherwise bigint)
returns table (granted bigint, used bigint, most bigint, left_s double precision)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    who text := coalesce('user:' || me(), 'address:' || address);
    clock double precision := extract(epoch from clock_timestamp());
    begun timestamptz := to_timestamp(floor(clock / seconds) * seconds);
begin
    most := most_of(what, otherwise);
    left_s := seconds - (clock - floor(clock / seconds) * seconds);
    granted := 0;
    used := 0;
    if most > 0 then
        insert into spent as s values (who, what, begun, 0) on conflict do nothing;
        select s.amount into used from spent s where s.subject = who and s.name = what and s.since = begun for update;
        if used + wanted <= most then
            granted := least(greatest(wanted, most / coalesce(share, most)), most - used);
            update spent s set amount = s.amount + granted where s.subject = who and s.name = what and s.since = begun;
        end if;
    end if;
    return next;
end $$;

-- Correct the taken amount by a difference.
create function settle(what text, seconds integer, difference bigint) returns void
language sql volatile security definer set search_path = pincite, pg_temp as $$
    insert into spent as s
        select 'user:' || me(), what, to_timestamp(floor(extract(epoch from clock_timestamp()) / seconds) * seconds),
               greatest(0, difference)
        where me() is not null
    on conflict (subject, name, since) do update set amount = greatest(0, s.amount + difference)
$$;

create function forget_spent() returns void
language sql volatile security definer set search_path = pincite, pg_temp as $$
    delete from spent where since < clock_timestamp() - interval '2 days';
    delete from streaming where until < clock_timestamp();
$$;

-- Start a running answer of a person, with a maximum duration.
create function begin_streaming(which text, seconds double precision, otherwise bigint)
returns table (begun boolean, used bigint, most bigint)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
begin
    most := most_of('streams', otherwise);
    perform pg_advisory_xact_lock(hashtextextended('streaming ' || me(), 0));
    select count(*) into used from streaming s where s.person = me() and s.until > clock_timestamp();
    begun := most = 0 or used < most;
    if begun then
        insert into streaming values (which, me(), clock_timestamp() + make_interval(secs => seconds));
    end if;
    return next;
end $$;
create function end_streaming(which text) returns void
language sql volatile security definer set search_path = pincite, pg_temp as
$$ delete from streaming where id = which and person = me() $$;

-- A person's stored documents and running work: numbers, for that person and for administrators.
create function usage_of(whose text)
returns table (documents bigint, storage bigint, jobs bigint, streams bigint, tokens bigint)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select (select count(*) from document d where d.owner = whose),
           (select coalesce(sum(v.bytes), 0)::bigint from document d join version v on v.document_id = d.id
            where d.owner = whose),
           (select count(*) from job j where j.owner = whose and j.generation is null),
           (select count(*) from streaming s where s.person = whose and s.until > clock_timestamp()),
           (select coalesce(sum(s.amount), 0)::bigint from spent s where s.subject = 'user:' || whose
            and s.name = 'tokens_per_day' and s.since > clock_timestamp() - interval '1 day')
    where whose = me() or am_administrator()
$$;

-- The quota that an upload would exceed. Until the transaction ends, no concurrent upload of this person counts, so
-- that of concurrent uploads exactly those are accepted that fit.
create function over_quota(more_documents bigint, more_bytes bigint, more_jobs bigint, quotas jsonb)
returns table (name text, used bigint, most bigint)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    limits jsonb := (select jsonb_object_agg(key, most_of(key, value::bigint)) from jsonb_each_text(quotas));
begin
    if not exists (select from jsonb_each_text(limits) l where l.value::bigint > 0) then
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('quota ' || me(), 0));
    return query
        select l.key, w.used, l.value::bigint
        from usage_of(me()) u
        cross join lateral (values ('documents', u.documents, u.documents + more_documents, 1),
                                   ('storage_mb', u.storage, u.storage + more_bytes, 1048576),
                                   ('jobs', u.jobs, u.jobs + more_jobs, 1)) w (name, used, wanted, unit)
        join jsonb_each_text(limits) l on l.key = w.name
        where l.value::bigint > 0 and w.wanted > l.value::bigint * w.unit;
end $$;

revoke all on all functions in schema pincite from public;
