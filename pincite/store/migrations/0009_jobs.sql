-- Priorities of jobs, stalled jobs, and the files of a library that several machines share.

alter table job
    add column priority smallint not null default 0,  -- 0: somebody waits for it, 1: part of a bulk load
    add column started_at timestamptz,  -- the current attempt, or the last one
    add column lease_s double precision not null default 0,  -- as granted: a lease cannot end later than that
    add column stalled_since timestamptz,  -- since when a service that it needs is down
    add column error_code text,  -- the error of the last attempt
    add column error_message text;

drop index job_next;
create index job_turn on job (owner, priority, id) where state in ('ready', 'running');
create index job_running on job (id) where state = 'running';
create index document_recent on document (owner, updated_at);

-- The files of versions in a database that machines without a common disk share; their jobs have the place ''.
create table piece (
    version integer not null references version on delete cascade,
    number integer not null,
    realm integer not null,
    bytes bytea not null,
    primary key (version, number)
);
alter table piece enable row level security;
alter table piece force row level security;
create policy mine on piece using (realm = any (array(select id from realm)));

-- Whether a live worker processes a version.
create function in_hand(wanted integer) returns boolean
language sql stable security definer set search_path = pincite, pg_temp as $$
    select exists (select from job where version = wanted and state = 'running' and lease_until > now())
$$;

-- The status of a document: it is processing only while a live worker has it.
create function status_now(d document) returns text language sql stable as $$
    select case when d.status = 'processing' and not in_hand(d.latest) then 'pending' else d.status end
$$;

-- A job is running only while its lease lasts; one whose worker died waits.
create function standing(j job) returns text language sql stable as $$
    select case when j.state = 'running' and j.lease_until > now() then 'running'
                when j.state = 'held' then 'held' else 'waiting' end
$$;

-- The next job: by priority, then the owner with the fewest running jobs, then the oldest.
-- If the database's clock was set back, leases and pauses would last too long: they begin again.
drop function claim_job(text, text, double precision);
create function claim_job(new_holder text, here text, lease double precision)
returns table (job_id bigint, job_owner text, job_document text, job_version integer, job_attempts integer)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    whose text;
begin
    update job set lease_until = now() + make_interval(secs => job.lease_s)
    where state = 'running' and lease_until > now() + make_interval(secs => job.lease_s + 1);
    for whose in
        select p.id from person p cross join lateral (
            select j.id, j.priority from job j
            where j.owner = p.id and j.place in ('', here)
              and ((j.state = 'ready' and j.not_before <= now()) or (j.state = 'running' and j.lease_until < now()))
            order by j.priority, j.id limit 1
        ) first
        order by first.priority,
                 (select count(*) from job r where r.owner = p.id and r.state = 'running' and r.lease_until > now()),
                 first.id
    loop
        return query
            update job set state = 'running', holder = new_holder, attempts = attempts + 1, lease_s = lease,
                   started_at = now(), lease_until = now() + make_interval(secs => lease)
            where id = (
                select j.id from job j
                where j.owner = whose and j.place in ('', here)
                  and ((j.state = 'ready' and j.not_before <= now()) or (j.state = 'running' and j.lease_until < now()))
                order by j.priority, j.id limit 1 for update skip locked
            )
            returning id, owner, document_id, version, attempts;
        if found then
            return;
        end if;
    end loop;
    update job set not_before = now() where state = 'ready' and not_before > now() + interval '301 seconds';
end
$$;

-- A service is up again: the other stalled jobs are tried now.
create function wake_stalled() returns bigint
language sql volatile security definer set search_path = pincite, pg_temp as $$
    with woken as (
        update job set not_before = now() where state = 'ready' and stalled_since is not null and not_before > now()
        returning 1
    )
    select count(*) from woken
$$;

revoke all on all functions in schema pincite from public;
