-- The URL that a document was fetched from, and the validators of its server (ETag, Last-Modified), which are sent when
-- the page is fetched again. They apply only while the document's newest bytes are the fetched ones.
create table fetched (
    document_id text primary key references document on delete cascade,
    realm integer not null references realm,
    url text not null,
    checksum text not null,
    etag text not null,
    modified text not null
);
create index fetched_url on fetched (url);
alter table fetched enable row level security;
alter table fetched force row level security;
create policy mine on fetched using (realm = any (array(select id from realm)));
