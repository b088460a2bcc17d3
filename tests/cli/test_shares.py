"""The commands for share links."""

import asyncio
from dataclasses import replace

from pincite.core.accounts.conversations import KeptTurn
from pincite.engine.app import AsyncPincite
from tests.builders import answer

from .terminal import Call


async def shared() -> str:
    async with AsyncPincite() as engine:
        scope = await engine.scope()
        session = await engine.services.sessions.create(scope)
        kept = replace(answer("Behind the cup."), id="a_shared")
        await engine.services.sessions.save_turn(scope, session.id, KeptTurn("q", "q", kept.text, kept, True, "t", ()))
        _, made = await engine.services.share_links.create(scope, "a_shared", 1)
        await engine.services.sessions.close()
        return made.id


def test_links_are_listed_and_removed_by_their_reference(pincite: Call) -> None:
    assert "There are no share links" in pincite("shares", "list").out
    reference = asyncio.run(shared())
    [listed] = pincite("shares", "list", "--json").json["items"]
    assert (listed["reference"], listed["owner"], listed["answer_id"]) == (reference, "local", "a_shared")
    assert reference in pincite("shares", "list").out
    assert pincite("shares", "remove", reference[:6]).out == f"removed {reference}\n"
    assert pincite("shares", "list", "--json").json["items"] == []
    assert pincite("shares", "remove", "beef").failed_with(1) == "there is no share 'beef'; see: pincite shares list"
