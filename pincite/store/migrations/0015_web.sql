-- Where on the web a document was fetched, and what its server said to tell the page's state by: it is shown when the page
-- is asked for again. It counts only while the document's newest bytes are those that were fetched.
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
