-- Traces that can be replayed: options and outcome of a request, and its texts only where they may be stored.

alter table trace
    add column code text,
    add column request_id text not null default '',
    add column remote text,
    add column options jsonb not null default '{}',
    add column settings jsonb not null default '{}',
    add column outcome jsonb,
    add column content jsonb,
    add column documents text[] not null default '{}';
update trace set content = jsonb_build_object('question', question) where question is not null;
alter table trace drop column question;
drop index trace_recent;
create index trace_recent on trace (owner, started_at desc, id desc);
create index trace_remote on trace (left(remote, 32)) where remote is not null;
create index trace_documents on trace using gin (documents) where content is not null;

alter table span rename column stage to name;
alter table span add column id text not null default '';

-- An answer may quote a document: when a document is removed, the answers are removed from its traces.
create function forget_answers() returns trigger
language plpgsql security definer set search_path = pincite, pg_temp as $$
begin
    update trace set content = content - 'answer' where content is not null and documents @> array[old.id];
    return null;
end $$;
create trigger forget_answers after delete on document for each row execute function forget_answers();

-- An API key for metrics collectors: it may read metrics and nothing else.
alter table api_key drop constraint api_key_role_check;
alter table api_key add constraint api_key_role_check
    check (role in ('administrator', 'editor', 'reader', 'metrics'));

-- The size of the library, of all owners: numbers only.
create function library_sizes() returns table (thing text, state text, amount bigint)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select 'documents', status, count(*) from document group by status
    union all select 'jobs', state, count(*) from job group by state
    union all select 'chunks', 'served', coalesce(sum(chunks), 0) from document where served is not null
$$;

revoke all on function forget_answers(), library_sizes() from public;
