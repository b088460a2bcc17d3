-- The words documents are written with, as they stand, so that a misspelt one can be corrected to one that is there.
-- A hint and no more: whether a word is in what somebody may search is asked of the postings, by its term.

create table vocabulary (
    realm integer not null references realm,
    word text collate "C" not null,
    term text collate "C" not null,
    primary key (realm, word, term)
);
create index vocabulary_term on vocabulary (realm, term);

alter table vocabulary enable row level security;
alter table vocabulary force row level security;
create policy mine on vocabulary using (realm = any (array(select id from realm)));
