-- Readers may name a role: 'role:reader', 'role:editor' or 'role:administrator' are all users with exactly that role.

create or replace function readable() returns integer[]
language plpgsql stable security definer set search_path = pincite, pg_temp as $$
declare
    kept text := current_setting('pincite.readable', true);
    asker text := coalesce(me(), '');
    found integer[];
begin
    if kept <> '' and split_part(kept, e'\x1f', 1) = asker then
        return split_part(kept, e'\x1f', 2)::integer[];
    end if;
    found := array(
        select distinct r.realm from (
            select 'everyone' where me() is not null union all select 'user:' || me()
            union all select 'role:' || p.role from person p where p.id = me() and p.removed_at is null
            union all select 'group:' || m.group_id from membership m where m.person = me()) i (principal)
        join reader r on r.principal = i.principal);
    if current_setting('pincite.remember', true) = 'on' then
        perform set_config('pincite.readable', asker || e'\x1f' || found::text, true);
    end if;
    return found;
end $$;
revoke all on function readable() from public;

create or replace function shown(readers text[]) returns text[]
language sql stable strict security definer set search_path = pincite, pg_temp as $$
    select array(
        select 'group:' || g.name from unnest(readers) r join people_group g on r = 'group:' || g.id
        union all
        select r from unnest(readers) r left join person p on r = 'user:' || p.id
        where r = 'everyone' or r like 'role:%' or (p.id is not null and p.removed_at is null)
        order by 1)
$$;
