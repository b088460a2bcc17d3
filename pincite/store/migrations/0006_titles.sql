-- The name that texts use for a document: its title without a trailing part in brackets. A column, because row-level
-- security prevents the use of an index on an expression.

alter table document add column called text collate "C" not null
    generated always as (left(regexp_replace(title, '\s*\([^()]*\)\s*$', ''), 200)) stored;
create index document_called on document (called);
