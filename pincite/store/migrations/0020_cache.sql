-- Answers that are given again when the same is asked.

-- Which state all that somebody may read is in: the same as long as it is the same documents, unchanged. Null for whoever
-- may read nothing, and where that is not what was `asked` about any more.
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

-- What is lost in a crash can be asked again, and what is in no log need not be purged from it.
create unlogged table cached_answer (
    id bigint generated always as identity primary key,
    owner text not null references person on delete cascade,
    key bytea not null,         -- everything but the question's words that decides about its answer
    state text not null,        -- reading_state() when it was answered
    question text not null,
    embedding halfvec not null,
    answer text not null,
    digest bytea not null,      -- of question and answer
    documents text[] not null,  -- what it stands on or names
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);
create index cached_answer_key on cached_answer (owner, key);
create index cached_answer_documents on cached_answer using gin (documents);
create index cached_answer_expires on cached_answer (expires_at);

-- There is no entry for anybody but whose question it was, none from before anything they may read changed, and none that
-- is too old, or from a time yet to come, as after the clock was put back.
alter table cached_answer enable row level security;
alter table cached_answer force row level security;
create policy owner_functions on cached_answer to current_user using (true);
create policy still_true on cached_answer for select
    using (owner = (select me()) and state = (select reading_state())
           and clock_timestamp() >= created_at and clock_timestamp() < expires_at);
create policy mine_now on cached_answer for insert
    with check (owner = (select me()) and state = (select reading_state()));

-- Whoever removes a document removes what anybody was told from it. Numbers, never content. Locked in one order, for two
-- documents of one answer may be removed at the same time.
create function forget_cached(wanted text) returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with held as (select c.id from cached_answer c where c.documents @> array[wanted] order by c.id for update),
         gone as (delete from cached_answer c using held where c.id = held.id returning 1)
    select count(*) from gone
$$;
create function cached_from(wanted text) returns bigint
language sql stable security definer set search_path = pincite, pg_temp as
$$ select count(*) from cached_answer where documents @> array[wanted] $$;

-- What is beyond one's own `most`, the oldest first; what somebody else removes at this moment is theirs to remove.
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
