-- A worker claims small files in batches, so that the fixed cost besides the embedding is shared.

drop function claim_job(text, text, double precision);

-- The next job: by priority, then the owner with the fewest running jobs, then the oldest. If its file has at most
-- `small` bytes, further such jobs of the same owner are claimed with it, of `small` bytes and `most` in number in
-- total. A worker with running jobs requests `only_small` ones, and `only_sound` ones, which were never attempted
-- before: a job that may end its worker runs alone. No job overtakes the next one, which waits for a free worker.
-- If the database's clock was set back, leases and pauses would last too long: they begin again.
create function claim_jobs(
    new_holder text, here text, lease double precision, most integer, small integer, only_small boolean, only_sound boolean
) returns table (
    job_id bigint, job_owner text, job_document text, job_version integer, job_attempts integer, job_bytes bigint
)
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    whose text;
    next record;
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
        select j.id, j.priority, j.attempts, v.bytes, j.attempts = 0 and v.bytes <= small as many into next
        from job j join version v on v.key = j.version
        where j.owner = whose and j.place in ('', here)
          and ((j.state = 'ready' and j.not_before <= now()) or (j.state = 'running' and j.lease_until < now()))
        order by j.priority, j.id limit 1 for update of j skip locked;
        continue when not found;
        if (only_small and not next.many) or (only_sound and next.attempts > 0) then
            return;
        end if;
        return query
            update job set state = 'running', holder = new_holder, attempts = attempts + 1, lease_s = lease,
                   started_at = now(), lease_until = now() + make_interval(secs => lease)
            where id = any (next.id || array(
                select few.id from (
                    select s.id, sum(s.bytes) over (order by s.id) as so_far from (
                        select j.id, v.bytes from job j join version v on v.key = j.version
                        where next.many and j.owner = whose and j.place in ('', here) and j.id <> next.id
                          and j.priority = next.priority and j.attempts = 0 and v.bytes <= small
                          and j.state = 'ready' and j.not_before <= now()
                        order by j.id limit most - 1 for update of j skip locked
                    ) s
                ) few where few.so_far + next.bytes <= small
            ))
            returning id, owner, document_id, version, attempts, (select v.bytes from version v where v.key = version);
        return;
    end loop;
    update job set not_before = now() where state = 'ready' and not_before > now() + interval '301 seconds';
end
$$;
revoke all on function claim_jobs(text, text, double precision, integer, integer, boolean, boolean) from public;

-- The running jobs of the workers of one process.
create function jobs_of(who text) returns setof job
language sql stable security definer set search_path = pincite, pg_temp as $$
    select * from job where state = 'running' and starts_with(holder, who || ':') order by document_id
$$;
revoke all on function jobs_of(text) from public;
