-- The answer cache.

-- The state of a person's readable documents: the same as long as the documents are unchanged. Null for a person
-- who may read nothing, and if the `asked` realms are no longer the readable ones.
create function reading_state(asked integer[] default null) returns text
language plpgsql stable security definer set search_path = pincite, pg_temp as $$
declare
    mine integer[] := array(select r from unnest(readable()) r order by r);
begin
    if shut_out() or asked <> mine then
        return null;
    end if;
    return (select md5(string_agg(r || ':' || coalesce(c.revision, 0), ',' order by r))
            from unnest(mine) r left join corpus c on c.realm = r);
end $$;

-- Unlogged: entries lost in a crash can be computed again, and need not be purged from the WAL.
create unlogged table cached_answer (
    id bigint generated always as identity primary key,
    owner text not null references person on delete cascade,
    key bytea not null,         -- everything that determines the answer, except the question's text
    state text not null,        -- reading_state() at the time of the answer
    question text not null,
    embedding halfvec not null,
    answer text not null,
    digest bytea not null,      -- of question and answer
    documents text[] not null,  -- the documents that it cites or names
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);
create index cached_answer_key on cached_answer (owner, key);
create index cached_answer_documents on cached_answer using gin (documents);
create index cached_answer_expires on cached_answer (expires_at);

-- Only the person's own entries are visible, and only those of the current state that are not expired, nor from the
-- future, as after the clock was set back.
alter table cached_answer enable row level security;
alter table cached_answer force row level security;
create policy owner_functions on cached_answer to current_user using (true);
create policy still_true on cached_answer for select
    using (owner = (select me()) and state = (select reading_state())
           and clock_timestamp() >= created_at and clock_timestamp() < expires_at);
create policy mine_now on cached_answer for insert
    with check (owner = (select me()) and state = (select reading_state()));

-- Removing a document removes everyone's answers from it. Numbers, never content. Locked in one order, because two
-- documents of one answer may be removed concurrently.
create function forget_cached(wanted text) returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with held as (select c.id from cached_answer c where c.documents @> array[wanted] order by c.id for update),
         gone as (delete from cached_answer c using held where c.id = held.id returning 1)
    select count(*) from gone
$$;
create function cached_from(wanted text) returns bigint
language sql stable security definer set search_path = pincite, pg_temp as
$$ select count(*) from cached_answer where documents @> array[wanted] $$;

-- Remove the person's oldest entries beyond `most`; entries that another transaction removes are skipped.
create function trim_cached(most integer) returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with held as (
        select c.id from cached_answer c where c.owner = me()
          and c.id <= (select k.id from cached_answer k where k.owner = me() order by k.id desc offset most limit 1)
        for update skip locked),
         gone as (delete from cached_answer c using held where c.id = held.id returning 1)
    select count(*) from gone
$$;
create function forget_expired() returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with held as (
        select c.id from cached_answer c where c.expires_at <= clock_timestamp() or c.created_at > clock_timestamp()
        for update skip locked),
         gone as (delete from cached_answer c using held where c.id = held.id returning 1)
    select count(*) from gone
$$;

revoke all on all functions in schema pincite from public;
