-- The reasoning of a model may quote a document, as its answer may: both are removed with the document.
create or replace function forget_answers() returns trigger
language plpgsql security definer set search_path = pincite, pg_temp as $$
begin
    update trace set content = content - array['answer', 'thoughts']
    where content is not null and documents @> array[old.id];
    return null;
end $$;
