-- Packed postings: the postings of a term in editions that no longer change are one row, so that a search reads a few
-- rows instead of tens of thousands. `posting` stays authoritative: a pack can be deleted and made again.

-- A pack covers a range of editions of a realm: those served at that time, some of which may have been removed since.
-- Packs of a realm never overlap; the editions between them are searched posting by posting.
create table pack (
    id integer generated always as identity primary key,
    realm integer not null references realm,
    first integer not null,
    last integer not null,
    chunks integer not null,
    gone integer not null default 0,  -- chunks removed from the pack
    state text not null default 'making' check (state in ('making', 'ready', 'spoilt'))
);
create index pack_realm on pack (realm, first);

-- Eight bytes per posting, big-endian: the chunk's key in four, its frequency and the chunk's words in two each.
create table packed (
    realm integer not null,
    term text collate "C" not null,
    pack integer not null references pack on delete cascade,
    postings bytea not null,
    primary key (realm, term, pack)
);
alter table packed alter column postings set storage external;
create index packed_pack on packed (pack);

-- The revision of a realm's served documents: increased as the last step of a transaction that changes them.
create table corpus (
    realm integer primary key references realm,
    revision bigint not null default 1
);

alter table pack enable row level security;
alter table packed enable row level security;
alter table corpus enable row level security;
alter table pack force row level security;
alter table packed force row level security;
alter table corpus force row level security;
create policy mine on pack using (realm = any (array(select id from realm)));
create policy mine on packed using (realm = any (array(select id from realm)));
create policy mine on corpus using (realm = any (array(select id from realm)));

create policy owner_functions on pack to current_user using (true);

-- Owners with enough unpacked chunks for a new pack. Ids, never content.
create function whose_words_pile_up(enough bigint) returns table (owner text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    select d.owner from document d where d.served is not null group by d.owner, d.realm
    having sum(d.chunks) - coalesce((select sum(p.chunks - p.gone) from pack p where p.realm = d.realm and p.state = 'ready'), 0)
           >= whose_words_pile_up.enough
$$;
revoke all on function whose_words_pile_up(bigint) from public;

-- By realm first: no search reads other people's postings; then by edition: unpacked postings are found directly.
drop index posting_term;
create index posting_term on posting (realm, term, edition) include (chunk, frequency, words);
drop index document_totals;
create index document_totals on document (realm, served) include (chunks, words, vectors) where served is not null;
