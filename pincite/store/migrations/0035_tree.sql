-- The tree of summaries: nodes over the passages of an edition, and nodes over the documents of a folder in one realm.
create table tree_node (
    key integer generated always as identity primary key,
    edition integer references edition on delete cascade,  -- null: a node over several documents
    realm integer not null,
    folder text,  -- of a node over several documents
    level smallint not null,
    top boolean not null,  -- no node of the same document or folder is above it
    model smallint not null,
    language text not null,
    text text not null,  -- the summary
    headings text[] not null,
    sentences integer[] not null,  -- of an extractive summary: passage, start and end of each sentence
    passages integer[] not null,  -- the chunks below it
    terms jsonb not null,  -- index term → frequency in the headings and the summary
    words integer not null,
    embedding halfvec not null
);
-- A search compares all vectors: they stay in the rows, and the texts, which it does not read, go elsewhere.
alter table tree_node alter column embedding set storage plain;
alter table tree_node alter column text set storage external;
create index tree_node_edition on tree_node (edition);
create index tree_node_folder on tree_node (realm, folder) where edition is null;
create index tree_node_terms on tree_node using gin (terms);
select protect_engine_table('tree_node');

-- The editions below a node over several documents.
create table tree_member (
    node integer not null references tree_node on delete cascade,
    edition integer not null references edition on delete cascade,
    realm integer not null,
    primary key (node, edition)
);
create index tree_member_edition on tree_member (edition);
select protect_engine_table('tree_member');

-- A node over several documents goes with any one of them: with a document that is removed, and with one whose readers
-- change.
create function remove_tree_node() returns trigger language plpgsql as $$
begin
    with gone as (delete from tree_node where key = old.node returning realm, folder)
    delete from tree_folder f using gone g where f.realm = g.realm and f.folder = g.folder;
    return null;
end $$;
create trigger member_gone after delete on tree_member for each row execute function remove_tree_node();
create trigger member_moved after update of realm on tree_member for each row
    when (old.realm <> new.realm) execute function remove_tree_node();

-- The editions that the tree of a folder was built from, as a digest.
create table tree_folder (
    realm integer not null references realm on delete cascade,
    folder text not null,
    digest text not null,
    primary key (realm, folder)
);
select protect_engine_table('tree_folder');
create policy owner_functions on tree_folder to current_user using (true);

-- Folders whose documents are not those that their tree was built from. Only documents with a tree of their own count.
-- Ids and a digest, never content.
create function tree_folders_to_build(wanted text)
returns table (owner text, realm integer, folder text, digest text)
language sql stable security definer set search_path = pincite, pg_temp as $$
    with built as (
        select d.owner, d.realm, d.folder,
               md5(wanted || string_agg(d.served::text, ',' order by d.served)) as digest
        from document d join engine_edition b on b.edition = d.served and b.engine = 'tree' and b.signature = wanted
             join edition e on e.key = d.served and not e.astray
        group by d.owner, d.realm, d.folder
    )
    select b.owner, b.realm, b.folder, b.digest from built b
    left join tree_folder f on f.realm = b.realm and f.folder = b.folder where f.digest is distinct from b.digest
    union all
    select r.owner, f.realm, f.folder, '' from tree_folder f join realm r on r.id = f.realm
    where f.digest <> '' and not exists (select from built b where b.realm = f.realm and b.folder = f.folder)
$$;
revoke all on function tree_folders_to_build(text) from public;
revoke all on function remove_tree_node() from public;
