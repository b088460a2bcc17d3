-- Evaluation sets of answers: questions that a person wrote, with the strings and sources that their answers must have.

alter table evaluation_set drop constraint evaluation_set_made_by_check;
alter table evaluation_set add constraint evaluation_set_made_by_check
    check (made_by in ('words', 'model', 'hand', 'import'));
alter table evaluation_set add column asked jsonb;  -- the questions of an imported set, in their order
alter table evaluation_set add constraint evaluation_set_asked check ((asked is not null) = (made_by = 'import'));

-- A tuning is an evaluation of several settings; its outcome holds what was tried and what is proposed.
alter table evaluation add column purpose text not null default 'run' check (purpose in ('run', 'tune'));
