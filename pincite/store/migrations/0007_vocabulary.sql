-- The words of the documents in their written form, so that a misspelt word can be corrected to an existing one.
-- Only a hint: whether a word occurs in the readable documents is looked up in the postings, by its term.

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
