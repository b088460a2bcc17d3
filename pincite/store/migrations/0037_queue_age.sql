-- How long the oldest document that could be processed waits: a queue that grows is seen before anyone complains.
create or replace function library_sizes() returns table (thing text, state text, amount bigint)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select 'documents', status, count(*) from (select status_now(d) as status from document d) d group by status
    union all select 'jobs', state, count(*) from (
        select case when j.stalled_since is not null and standing(j) = 'waiting' then 'stalled' else standing(j) end
        from job j) j (state) group by state
    union all select 'chunks', 'served', coalesce(sum(chunks), 0) from document where served is not null
    union all select 'queue', 'oldest', coalesce(extract(epoch from now() - min(created_at)), 0)::bigint
        from job where state = 'ready'
$$;
