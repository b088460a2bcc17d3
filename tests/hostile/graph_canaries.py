"""Canary names in other people's graphs: whatever somebody asks of the graph, the names of others never come back."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.documents.document import Upload
from pincite.core.query.question import Question
from pincite.errors import NotFound

PEOPLE = ("Mira Okafor", "Jonas Brandt", "Anna Berg", "Carl Lund", "Olaf Krog", "Ines Duarte")
WORKS = ("Tidal Song", "Northern Lamp", "Glass Harbour", "Silent Mill")
TOWNS = ("Lagos", "Lisbon", "Oslo", "Rome", "Vienna", "Dublin")
CANARIES = ("Quixby", "Zorblatt", "Fenwyck", "Yarrowgate", "Tremblox", "Ostravick")
"""Last names that only other people's documents have."""
WARM_UP = 20
ON = (("rag.knowledge_graph_enabled", True),)


def own_documents() -> list[str]:
    """The asker's own documents: works, people and towns."""
    chosen = random.Random(1)
    works = [
        f"# {work}\n\n{work} was directed by {chosen.choice(PEOPLE)}. It was shown in {chosen.choice(TOWNS)}."
        for work in WORKS
    ]
    people = [
        f"# {one}\n\n{one} was born in {chosen.choice(TOWNS)}. {one} worked with {chosen.choice(PEOPLE)}."
        for one in PEOPLE
    ]
    return [*works, *people]


def hidden_documents(number: int) -> list[str]:
    """Documents of somebody else, which join the canaries to every name of the asker's documents."""
    chosen, made = random.Random(2), list[str]()
    for n in range(number):
        canary = f"Zelda {CANARIES[n % len(CANARIES)]}"
        person, work, town = chosen.choice(PEOPLE), chosen.choice(WORKS), chosen.choice(TOWNS)
        made.append(
            f"# {person}\n\n{person} was managed by {canary}. {work} was financed by {canary}."
            f" {canary} was born in {town}. {work} was shown in {town}."
        )
    return made


async def add(pincite: Any, texts: Sequence[str], name: str, caller: Caller = LOCAL) -> None:
    """Add documents and wait until their graph is built."""
    uploads = [
        await pincite.documents.upload(Upload(f"{name}-{n}.md", text.encode()), caller=caller)
        for n, text in enumerate(texts)
    ]
    pincite.services.workers.start()
    await asyncio.wait_for(pincite.documents.wait([one.document.id for one in uploads], caller=caller), 300)
    await asyncio.wait_for(pincite.admin.wait_until_built(caller=caller), 300)


async def ask(pincite: Any, chosen: random.Random) -> Any:
    """One question of the asker, with canaries among its words, through one of the doors; None where nothing is found."""
    canary, person = f"Zelda {chosen.choice(CANARIES)}", chosen.choice(PEOPLE)
    work, town = chosen.choice(WORKS), chosen.choice(TOWNS)
    text = chosen.choice(
        [
            f"Who manages the director of {work}, {canary} or {person}?",
            f"Where was {canary}, who financed {work}, born?",
            f"What joins {canary} to {person} and {town}?",
            f"Which works of {person} were shown in {town}?",
        ]
    )
    names = [canary, canary.split()[1], person, work, town]
    door = chosen.randrange(5)
    with suppress(NotFound):
        if door < 2:
            changes = ON if door else (*ON, ("rag.strategy", "fusion"))
            return [asdict(hit) for hit in (await pincite.search(Question(text, changes=changes))).hits]
        if door == 2:
            return [asdict(one) for one in await pincite.find_entities(chosen.choice(names))]
        if door == 3:
            return asdict(await pincite.entity(chosen.choice(names)))
        return [asdict(one) for one in await pincite.graph_path(*chosen.sample(names, 2))]
    return None


async def sweep(pincite: Any, queries: int, seed: int = 7) -> tuple[list[Any], int]:
    """Ask so many questions; return the results, and how many of them have a canary in them.

    The first searches are not counted: they run in PostgreSQL, whose cosines are rounded otherwise than those in memory.
    """
    for _ in range(WARM_UP):
        await pincite.search(Question(f"Who directed {WORKS[0]}?", changes=ON))
        await asyncio.sleep(0.05)
    chosen = random.Random(seed)
    results = [await ask(pincite, chosen) for _ in range(queries)]
    return results, sum(any(canary in repr(one) for canary in CANARIES) for one in results)


async def compare(pincite: Any, queries: int, hidden: int) -> tuple[int, int, int, int]:
    """Ask before and after somebody else adds documents.

    Return the results that differ, those with a canary, those that found something, and how many of the other's own
    questions for the canaries found them.
    """
    await add(pincite, own_documents(), "own")
    before, _ = await sweep(pincite, queries)
    berta = Caller((await pincite.services.users.add("local", "berta", "editor")).id, "editor")
    await add(pincite, hidden_documents(hidden), "hidden", berta)
    after, leaks = await sweep(pincite, queries)
    control = [await pincite.find_entities(canary, caller=berta) for canary in CANARIES]
    differ = sum(one != other for one, other in zip(before, after, strict=True))
    return differ, leaks, sum(bool(one) for one in after), sum(map(bool, control))
