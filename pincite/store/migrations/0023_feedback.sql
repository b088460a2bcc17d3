-- Feedback on answers: one rating per answer, with an optional comment.

create table feedback (
    turn_id bigint primary key references turn on delete cascade,
    owner text not null references person,
    trace_id text not null,  -- the trace of the answer, for those who may read it
    rating text not null check (rating in ('up', 'down')),
    comment text not null default '',
    created_at timestamptz not null default now()
);
create index feedback_time on feedback (created_at desc, turn_id desc);

alter table feedback enable row level security;
alter table feedback force row level security;
-- People rate their own answers; administrators see the ratings without the conversation.
create policy mine on feedback using (owner = (select me()))
    with check (owner = (select me()) and exists (select from turn t where t.id = turn_id and t.owner = (select me())));
create policy administrators_see on feedback for select using ((select am_administrator()));
