"""The audit log: written in the transaction of its event, read by administrators, changed by nobody."""

import asyncio
from typing import Any

import psycopg
import pytest

from pincite.core.accounts.audit import Anchor, AuditEntry, AuditFilter, read_anchor
from pincite.core.request_context import RequestOrigin
from pincite.errors import Invalid, NotAllowed
from pincite.store.access import audit_log
from pincite.store.access.api_keys import ApiKeys
from pincite.store.access.audit_log import AuditLog, record, record_from
from pincite.store.access.users import Users
from pincite.store.database import fetch_all


def test_events_record_person_action_and_subject(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people, audit = Users(store.database), AuditLog(store.database)
        await people.add("local", "anna", "administrator")
        await people.add("local", "bob", "reader")
        await people.change_role("anna", "bob", "editor")
        _, key_id = await ApiKeys(store.database).create("anna", "k", "reader", None, by="local")
        events, following = await audit.list("local", AuditFilter())
        told = [(one.event, one.person, one.subject, one.outcome) for one in events]
        assert told == [
            ("key.create", "local", f"key:{key_id}", "done"),
            ("user.role", "anna", "user:bob", "done"),
            ("user.add", "local", "user:bob", "done"),
            ("user.add", "local", "user:anna", "done"),
        ]
        assert events[1].details == {"before": "reader", "after": "editor"}
        assert following is None
        assert [one.number for one in events] == [4, 3, 2, 1]

    with_store(test)


def test_the_list_is_filtered_and_paged(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people, audit = Users(store.database), AuditLog(store.database)
        for name in ("anna", "bob"):
            await people.add("local", name, "reader")
        await people.suspend("local", "bob", suspended=True)
        first, cursor = await audit.list("local", AuditFilter(limit=2))
        rest, end = await audit.list("local", AuditFilter(limit=2, cursor=cursor))
        assert [[one.event for one in page] for page in (first, rest)] == [["user.suspend", "user.add"], ["user.add"]]
        assert end is None
        for wanted, number in (
            (AuditFilter(event="user"), 3),
            (AuditFilter(event="user.add"), 2),
            (AuditFilter(event="use"), 0),
            (AuditFilter(person="bob"), 2),
            (AuditFilter(person="local", event="user.suspend"), 1),
            (AuditFilter(since=first[0].at), 1),
        ):
            assert len((await audit.list("local", wanted))[0]) == number, wanted
        with pytest.raises(Invalid, match="cursor"):
            await audit.list("local", AuditFilter(cursor="x"))

    with_store(test)


def test_an_event_of_a_rolled_back_transaction_is_not_recorded(with_store: Any) -> None:
    async def test(store: Any) -> None:
        async def half() -> None:
            async with store.database.transaction("local") as connection:
                await record(connection, AuditEntry("logout"))
                await connection.execute("select 1 / 0")

        with pytest.raises(psycopg.errors.DivisionByZero):
            await half()
        assert await AuditLog(store.database).list("local", AuditFilter()) == ([], None)
        assert (await AuditLog(store.database).verify("local")).fault is None

    with_store(test)


def test_only_administrators_read_the_audit_log_and_nobody_changes_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        audit = AuditLog(store.database)
        await Users(store.database).add("local", "bob", "editor")
        for by in ("bob", "", "nobody"):
            assert (await audit.list(by, AuditFilter()))[0] == []
            with pytest.raises(NotAllowed):
                await audit.verify(by)
        for statement in (
            "update audit_event set content = '{}'",
            "delete from audit_event",
            "truncate audit_event",
            "insert into audit_event (number, content, hash) values (9, '{}', '')",
            "update audit_head set number = 0",
            "delete from audit_head",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                async with store.database.transaction("local") as connection:
                    await connection.execute(statement)

    with_store(test)


def test_an_event_cannot_be_recorded_for_another_person(with_store: Any) -> None:
    async def test(store: Any) -> None:
        async with store.database.transaction("local") as connection:
            await connection.execute(
                """select note_events('[{"event": "logout", "person": "eve", "at": "1999-01-01", "outcome": "done",
                "subject": null, "address": "", "key_id": null, "request_id": "", "details": {}}]')"""
            )
        [event], _ = await AuditLog(store.database).list("local", AuditFilter())
        assert (event.person, event.at.year > 2000) == ("local", True)

    with_store(test)


@pytest.mark.parametrize(
    ("tampering", "fault"),
    [
        ("update audit_event set content = replace(content, 'user.add', 'user.eat') where number = 2", "event 2 was"),
        ("update audit_event set hash = sha256('x') where number = 3", "event 3 was"),
        ("delete from audit_event where number = 1", "event 1 is missing"),
        ("delete from audit_event where number = 2", "event 2 is missing"),
        ("delete from audit_event where number = 4", "the log ends after event 3, but 4 events were written"),
        ("delete from audit_event", "the log ends after event 0, but 4 events were written"),
        (
            "insert into audit_event (number, content, hash) select 5, content, hash from audit_event where number = 4",
            "event 5 was",
        ),
        (
            "update audit_head set number = 3, hash = (select hash from audit_event where number = 3)",
            "the log continues after event 3",
        ),
    ],
)
def test_manual_changes_of_the_audit_log_are_detected(with_store: Any, tampering: str, fault: str) -> None:
    async def test(store: Any) -> None:
        audit = AuditLog(store.database)
        for name in ("a", "b", "c", "d"):
            await Users(store.database).add("local", name, "reader")
        held = await audit.verify("local")
        assert (held.fault, held.reached.number) == (None, 4)
        async with store.database.administrator() as admin:
            await admin.execute("set search_path = pincite")
            await admin.execute("set row_security = off")
            await admin.execute(tampering)
        assert fault in ((await audit.verify("local")).fault or "")
        assert (await audit.verify("local", read_anchor(str(held.reached)))).fault

    with_store(test)


def test_concurrent_events_form_one_chain(with_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "EVENTS_PER_PAGE", 7)

    async def test(store: Any) -> None:
        audit = AuditLog(store.database)
        await asyncio.gather(*(audit.record("local", AuditEntry("logout", f"user:{n}")) for n in range(50)))
        verdict = await audit.verify("local")
        assert (verdict.fault, verdict.reached.number) == (None, 50)
        async with store.database.transaction("local") as connection:
            subjects = {subject for (subject,) in await fetch_all(connection, "select subject from audit_event")}
        assert subjects == {f"user:{n}" for n in range(50)}

    with_store(test)


def test_an_idle_transaction_that_recorded_an_event_times_out(with_store: Any) -> None:
    async def test(store: Any) -> None:
        async with store.database.transaction("local") as connection:
            await record(connection, AuditEntry("logout"))
            patience = "select current_setting('idle_in_transaction_session_timeout'), current_setting('lock_timeout')"
            assert await fetch_all(connection, patience) == [("10s", "15s")]
        async with store.database.transaction("local") as connection:
            assert await fetch_all(connection, "select current_setting('idle_in_transaction_session_timeout')") == [
                ("0",)
            ]

    with_store(test)


def test_concurrent_uploads_are_one_audit_event(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = await asyncio.gather(*(store.accept(f"{n}.md", f"number {n}") for n in range(20)))
        events, _ = await AuditLog(store.database).list("local", AuditFilter(event="document.add"))
        assert len(events) < 20
        assert sorted(one for event in events for one in event.details["documents"]) == sorted(ids)
        await store.accept("0.md", "another text")
        [changed], _ = await AuditLog(store.database).list("local", AuditFilter(event="document.change"))
        assert (changed.subject, changed.details) == (f"document:{ids[0]}", {"changed": ["file"]})

    with_store(test)


def test_events_of_several_requests_keep_their_origins(with_store: Any) -> None:
    async def test(store: Any) -> None:
        places = [RequestOrigin("10.0.0.1", "k1", "r1"), RequestOrigin("10.0.0.2")]
        async with store.database.transaction("local") as connection:
            await record_from(connection, [(place, AuditEntry("logout")) for place in places])
        events, _ = await AuditLog(store.database).list("local", AuditFilter())
        assert [RequestOrigin(one.address, one.key_id, one.request_id) for one in reversed(events)] == places

    with_store(test)


def test_an_anchor_is_parsed_as_it_is_printed() -> None:
    anchor = Anchor(12, bytes(range(32)))
    assert read_anchor(str(anchor)) == anchor
    for wrong in ("", "12", "12:", "x:00", "-1:" + "00" * 32, "1:" + "00" * 31, "1:zz"):
        with pytest.raises(Invalid, match="64 hexadecimal digits"):
            read_anchor(wrong)
