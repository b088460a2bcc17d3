-- What texts call a document: its title without what stands in brackets behind it. A column, because row-level
-- security keeps an index on an expression from being used.

alter table document add column called text collate "C" not null
    generated always as (left(regexp_replace(title, '\s*\([^()]*\)\s*$', ''), 200)) stored;
create index document_called on document (called);
