-- Share links: the hash of a link, and the turn it shows.

create table share (
    id text primary key,
    hash bytea not null unique,
    owner text not null references person,
    turn_id bigint not null references turn on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
);
create index share_owner on share (owner, created_at desc);
create index share_turn on share (turn_id);
create index turn_answer on turn ((answer ->> 'id'));

alter table share enable row level security;
alter table share force row level security;
-- A person sees own links; administrators see all links, and may remove them.
create policy mine on share using (owner = (select me()))
    with check (owner = (select me()) and exists (select from turn t where t.id = turn_id and t.owner = (select me())));
create policy administrators_see on share for select using ((select am_administrator()));
create policy administrators_end on share for delete using ((select am_administrator()));
create policy owner_functions on share to current_user using (true);
create policy owner_functions on turn to current_user using (true);

-- The turn of a link, for a person with the link who may log in; none if its owner may not.
create function shared_turn(wanted bytea) returns table (
    id text, owner text, name text, created_at timestamptz, expires_at timestamptz,
    question text, answer jsonb, documents text[], answered_at timestamptz)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select s.id, s.owner, p.name, s.created_at, s.expires_at, t.question, t.answer,
           array(select d.document_id from turn_document d where d.turn_id = t.id order by 1), t.created_at
    from share s join turn t on t.id = s.turn_id join person p on p.id = s.owner
    where s.hash = wanted and s.expires_at > now() and p.suspended_at is null and p.removed_at is null and not shut_out()
$$;

create function forget_expired_shares() returns void
language sql volatile security definer set search_path = pincite, pg_temp as
$$ delete from share where expires_at < now() $$;

revoke all on function shared_turn(bytea), forget_expired_shares() from public;

-- A person's readable realms, computed once where many policies need them in one short transaction that requests it
-- (`pincite.remember`), such as a search: for a member of many groups it takes as many lookups. The cached value is
-- for that person and ends with the transaction. Otherwise each statement computes it, because permissions change.
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
            union all select 'group:' || m.group_id from membership m where m.person = me()) i (principal)
        join reader r on r.principal = i.principal);
    if current_setting('pincite.remember', true) = 'on' then
        perform set_config('pincite.readable', asker || e'\x1f' || found::text, true);
    end if;
    return found;
end $$;
revoke all on function readable() from public;

-- Transfer all documents of a person to another one, below a separate folder; for the owner of the data folder, who
-- could read them anyway. Realms keep their readers, marked to differ from the heir's; documents then leave them.
create function hand_over(whose text, heir text, below text) returns bigint
language plpgsql volatile security definer set search_path = pincite, pg_temp as $$
declare
    handed bigint;
begin
    if me() is distinct from 'local' then
        raise insufficient_privilege using message = 'only whoever owns the data folder hands documents over';
    end if;
    perform from document where owner = whose order by id for update;
    if exists (select from job where owner = whose and state = 'running' and lease_until > now()) then
        raise check_violation using message = 'documents are being processed';
    end if;
    if exists (select from document where owner = heir and (folder = below or starts_with(folder, below || '/')))
       or exists (select from folder where owner = heir and (path = below or starts_with(path, below || '/'))) then
        raise duplicate_object using message = 'there is such a folder';
    end if;
    update document set owner = heir, folder = rtrim(below || '/' || folder, '/'), updated_at = now() where owner = whose;
    get diagnostics handed = row_count;
    update job set owner = heir where owner = whose;
    update ended_job set owner = heir where owner = whose;
    update folder set owner = heir, path = below || '/' || path where owner = whose;
    update realm set owner = heir, readers = readers || ('was:' || id) where owner = whose;
    return handed;
end $$;
revoke all on function hand_over(text, text, text) from public;
