-- The positions of a version's text in its file: pages, slides, sheets, parts of a mail.

-- A long page is stored in parts, so that few marks are read to locate a few words. The text of a part, and of a page,
-- ends where the next one begins. `marks` are packed; they are unpacked outside the database.
create table page (
    version integer not null references version on delete cascade,
    realm integer not null references realm,
    number integer not null,
    part integer not null,
    kind text not null check (kind in ('page', 'slide', 'sheet', 'part', 'text')),
    name text not null,
    width real not null,
    height real not null,
    start_char integer not null,
    end_char integer not null,
    marks bytea not null,
    primary key (version, number, part)
);
alter table page enable row level security;
alter table page force row level security;
create policy mine on page using (realm = any (array(select id from realm)));

-- The position of a chunk as text: `page 3`, `sheet Prices, B2:D9`.
alter table chunk add column place text;
