-- The times of backups, so that an old backup can be reported. No texts, no paths.

create table backup (
    id integer generated always as identity primary key,
    made_at timestamptz not null default now(),
    documents bigint not null,
    bytes bigint not null,
    traces boolean not null
);

alter table backup enable row level security;
alter table backup force row level security;
create policy everyone_reads on backup for select using (true);
create policy owner_functions on backup to current_user using (true);
