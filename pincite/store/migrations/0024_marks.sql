-- Evaluation sets made by hand: questions with the passages that were marked as their answers.

alter table evaluation_set drop constraint evaluation_set_made_by_check;
alter table evaluation_set add constraint evaluation_set_made_by_check check (made_by in ('words', 'model', 'hand'));
alter table evaluation_question drop constraint evaluation_question_kind_check;
alter table evaluation_question add constraint evaluation_question_kind_check
    check (kind in ('heading', 'definition', 'phrase', 'cloze', 'written', 'marked'));
create unique index evaluation_question_marked on evaluation_question (set_id, md5(text)) where kind = 'marked';

-- The prompt of a model contains passages: it is removed from traces with a document, as the answer is.
create or replace function forget_answers() returns trigger
language plpgsql security definer set search_path = pincite, pg_temp as $$
begin
    update trace set content = content - array['answer', 'thoughts', 'prompt']
        where content is not null and documents @> array[old.id];
    return null;
end $$;
