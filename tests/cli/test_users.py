"""The commands for users, groups and sharing."""

from pathlib import Path

from .terminal import Call


def test_users_are_added_listed_suspended_and_removed(pincite: Call) -> None:
    assert "added carla (editor)" in pincite("user", "add", "carla", "--role", "editor").out
    assert "carla" in pincite("user", "list").out
    [listed] = [one for one in pincite("user", "list", "--json").json["items"] if one["id"] == "carla"]
    assert (listed["role"], listed["suspended"], listed["documents"]) == ("editor", False, 0)
    made = pincite("key", "create", "--user", "carla", "--name", "laptop", "--json").json
    [key] = [one for one in pincite("key", "list", "--json").json["items"] if one["id"] == made["id"]]
    assert (key["user"], key["role"]) == ("carla", "editor")
    assert "carla is suspended" in pincite("user", "suspend", "carla").out
    assert "suspended" in pincite("user", "list").out
    assert pincite("user", "resume", "carla", "--json").json == {"id": "carla", "suspended": False}
    assert pincite("user", "role", "carla", "reader").out == "carla has the role reader now\n"
    assert pincite("user", "remove", "carla").out == "removed carla\n"
    assert pincite("user", "remove", "carla").failed_with(1) == "there is no user 'carla'"
    assert "there is no role 'king'" in pincite("user", "add", "dora", "--role", "king").failed_with(2)
    assert "owns the data folder" in pincite("user", "suspend", "local").failed_with(1)


def test_a_removed_users_documents_are_transferred(pincite: Call) -> None:
    pincite("user", "add", "gustav")
    assert (
        pincite("user", "remove", "gustav", "--to", "gustav").failed_with(2)
        == "'gustav' owns these documents already; name another user"
    )
    assert pincite("user", "remove", "gustav", "--to", "nobody here").failed_with(1) == "there is no user 'nobody here'"
    assert (
        pincite("user", "remove", "gustav", "--to", "local").out == "removed gustav; local has 0 documents of theirs\n"
    )


def test_a_user_is_shown_with_what_they_use_and_may_use(pincite: Call) -> None:
    pincite("user", "add", "lena", "--role", "editor")
    assert pincite("user", "limit", "lena", "storage_mb", "500").out == "lena: storage_mb is 500\n"
    assert pincite("user", "limit", "lena", "streams", "0").out == "lena: streams is unlimited\n"
    shown = pincite("user", "show", "lena", "--json").json
    assert (shown["id"], shown["limits"]["storage_mb"], shown["own"]) == ("lena", 500, ["storage_mb", "streams"])
    assert shown["usage"]["documents"] == 0
    told = pincite("user", "show", "lena").out
    assert "lena (editor)" in told
    assert [line.split() for line in told.splitlines() if "storage_mb" in line] == [["storage_mb", "0.0", "500", "own"]]
    assert "the value of the settings" in pincite("user", "limit", "lena", "streams", "default").out
    assert pincite("user", "show", "lena", "--json").json["limits"]["streams"] == 64
    assert "there is no limit 'nosuch'" in pincite("user", "limit", "lena", "nosuch", "1").failed_with(2)
    assert "as a number" in pincite("user", "limit", "lena", "streams", "many").failed_with(2)
    pincite("user", "remove", "lena")


def test_a_document_and_a_folder_are_shared(pincite: Call, papers: Path) -> None:
    pincite("user", "add", "emil")
    pincite("group", "add", "readers")
    assert pincite("group", "join", "readers", "emil").out == "readers: 1 member\n"
    assert "emil" in pincite("group", "list").out
    pincite("add", str(papers), "--folder", "shared")
    [document] = [
        d
        for d in pincite("list", "--json").json["items"]
        if d["name"] == "notes.txt" and d["folder"].startswith("shared")
    ]
    told = pincite("share", document["id"], "--group", "readers", "--user", "emil")
    assert told.out == f"{document['id']}: emil, group readers may read it\n"
    assert pincite("share", document["id"], "--everyone", "--json").json["access"]["everyone"] is True
    short = document["id"][:8]
    assert pincite("share", short).out == f"{document['id']}: everyone may read it\n"  # shown, not changed
    assert "everyone may read it" in pincite("show", short).out
    assert pincite("share", short, "--user", "emil").out == f"{document['id']}: emil may read it\n"
    assert "emil may read it" in pincite("show", short).out
    assert pincite("share", short, "--nobody").out == f"{document['id']}: nobody else may read it\n"
    assert "nobody else may read it" in pincite("show", short).out
    assert pincite("share", "shared", "--folder", "--user", "emil").out == "shared: emil may read it\n"
    assert pincite("share", "shared", "--folder").out == "shared: emil may read it\n"
    assert pincite("share", document["id"], "--inherit", "--json").json["access"]["users"] == ["emil"]
    assert (
        pincite("share", "shared", "--folder", "--inherit").out == "shared: inherits the access of the folder above\n"
    )
    for both in (["--inherit", "--everyone"], ["--nobody", "--user", "emil"], ["--nobody", "--inherit"]):
        assert "cannot be combined with" in pincite("share", document["id"], *both).failed_with(2)
    assert "there is no user 'nobody'" in pincite("share", document["id"], "--user", "nobody").failed_with(2)
    assert pincite("group", "leave", "readers", "emil", "--json").json["members"] == []
    assert pincite("group", "remove", "readers").out == "removed readers\n"
    assert "There are no groups" in pincite("group", "list").out
