-- Ended jobs, for a limited time; the queue counted by the states that people see; equal files.

create index version_checksum on version (checksum);

create table ended_job (
    id bigint primary key,
    owner text not null references person,
    version integer not null references version on delete cascade,
    status text not null check (status in ('completed', 'error', 'overtaken')),
    error_code text,
    error_message text,
    attempts integer not null,
    created_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz not null default clock_timestamp()
);
create index ended_job_recent on ended_job (owner, ended_at desc, id desc);
create index ended_job_version on ended_job (version);
alter table ended_job enable row level security;
alter table ended_job force row level security;
create policy mine on ended_job using (owner = (select me()));
create policy owner_functions on ended_job to current_user using (true);

-- When its transaction ends, a removed job is stored with the status of its document; without a document, it is not.
create function remember_job() returns trigger
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
begin
    insert into ended_job (id, owner, version, status, error_code, error_message, attempts, created_at, started_at)
    select old.id, old.owner, v.key, e.status, case when e.status = 'error' and d.latest = v.key then d.error_code end,
           case when e.status = 'error' and d.latest = v.key then d.error_message end, old.attempts, old.created_at,
           old.started_at
    from version v join document d on d.id = v.document_id cross join lateral (
        select case when v.state = 'overtaken' then 'overtaken'
                    when v.state = 'failed' or (d.latest = v.key and d.status = 'error') then 'error'
                    else 'completed' end) e (status)
    where v.key = old.version
    on conflict do nothing;
    return null;
end $$;
create constraint trigger job_ended after delete on job deferrable initially deferred
    for each row when (old.generation is null) execute function remember_job();

create function forget_ended_jobs(hours integer) returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with gone as (
        delete from ended_job where ended_at < now() - make_interval(hours => forget_ended_jobs.hours) returning 1
    )
    select count(*) from gone
$$;

create or replace function library_sizes() returns table (thing text, state text, amount bigint)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select 'documents', status, count(*) from (select status_now(d) as status from document d) d group by status
    union all select 'jobs', state, count(*) from (
        select case when j.stalled_since is not null and standing(j) = 'waiting' then 'stalled' else standing(j) end
        from job j) j (state) group by state
    union all select 'chunks', 'served', coalesce(sum(chunks), 0) from document where served is not null
$$;
revoke all on all functions in schema pincite from public;
