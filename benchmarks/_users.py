"""Simulated users who search, ask and upload, each with their own nonce; they run in a separate process."""

import asyncio
import itertools
import json
import multiprocessing
import random
import re
import resource
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import httpx2

API = "/api/v1"
THINK_S = (1.0, 5.0)
SEARCHES, QUESTIONS = 0.80, 0.15
"""The shares of searches and of streamed questions; the rest are uploads."""
NONCE = re.compile(r"zq[0-9a-f]{10}")
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Person:
    """A user: their key, and the word that stands in their own documents only."""

    name: str
    key: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a crowd does, for how long: each thinks and does the next thing, or, with `rate`, so many searches come a second.

    `parallel` is how many requests the `abuser`, if there is one, has open at any time.
    """

    address: str
    people: tuple[Person, ...]
    questions: tuple[str, ...]
    seconds: float
    think_s: tuple[float, float] = THINK_S
    only_search: bool = False
    rate: float = 0.0
    abuser: Person | None = None
    parallel: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """One request: what it was, how it was answered, when it began and how long it took; `wrong` says what was not right."""

    kind: str
    status: int
    at: float
    ms: float
    first_ms: float = 0.0
    first_words: int = 0
    wrong: str = ""
    name: str = ""


@dataclass(slots=True)
class Crowd:
    """All that was done, and which share of one core doing it took."""

    done: list[Done] = field(default_factory=list)
    share: float = 0.0

    def ms(self, kind: str) -> list[float]:
        """How long those of a kind took that were answered."""
        return [one.ms for one in self.done if one.kind == kind and one.status in (200, 202)]


def send_out(plan: Plan) -> Crowd:
    """Let a crowd do what it means to, in a process of its own; blocks until all are done."""
    method = multiprocessing.get_context("spawn")
    ours, theirs = method.Pipe(duplex=False)
    process = method.Process(target=_drive, args=(plan, theirs), daemon=True)
    process.start()
    theirs.close()
    crowd: Crowd = ours.recv()
    process.join()
    return crowd


def _drive(plan: Plan, line: Connection) -> None:
    began = time.monotonic()
    done = asyncio.run(_Crowd(plan).run())
    used = resource.getrusage(resource.RUSAGE_SELF)
    line.send(Crowd(done, (used.ru_utime + used.ru_stime) / (time.monotonic() - began)))


class _Crowd:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._done: list[Done] = []
        self._asked = itertools.cycle(plan.questions)
        self._numbers = itertools.count(int(time.time() * 1000))

    async def run(self) -> list[Done]:
        """Begin together, and let everybody finish what they began."""
        self._until = time.monotonic() + self._plan.seconds
        if self._plan.rate:
            await self._arrive()
        else:
            people = [self._person(one) for one in self._plan.people]
            abusers = [self._hammer() for _ in range(self._plan.parallel)] if self._plan.abuser else []
            await asyncio.gather(*people, *abusers)
        return self._done

    async def _person(self, person: Person) -> None:
        dice = random.Random(person.nonce)
        async with self._client(person) as client:
            await asyncio.sleep(dice.uniform(0, self._plan.think_s[0]))
            while time.monotonic() < self._until:
                await self._note(self._next(client, person, dice.random()))
                await asyncio.sleep(dice.uniform(*self._plan.think_s))

    async def _hammer(self) -> None:
        """One of the abuser's many: the next request goes out as soon as the last is answered, whatever it said."""
        assert self._plan.abuser is not None
        async with self._client(self._plan.abuser) as client:
            while time.monotonic() < self._until:
                done = await self._answered(self._search(client, self._plan.abuser))
                self._done.append(Done("abuse", done.status, done.at, done.ms))

    async def _arrive(self) -> None:
        """Searches that come whether or not those before were answered, from everybody in turn."""
        clients = [(self._client(one), one) for one in self._plan.people]
        under_way: set[asyncio.Task[None]] = set()
        began, people = time.monotonic(), itertools.cycle(clients)
        for number in range(int(self._plan.rate * self._plan.seconds)):
            await asyncio.sleep(max(0.0, began + number / self._plan.rate - time.monotonic()))
            client, person = next(people)
            under_way.add(asyncio.create_task(self._note(self._search(client, person))))
        await asyncio.gather(*under_way)
        for client, _ in clients:
            await client.aclose()

    def _client(self, person: Person) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self._plan.address,
            headers={"Authorization": f"Bearer {person.key}"},
            timeout=PATIENCE_S,
            limits=httpx2.Limits(max_connections=None),
            verify=False,  # plain HTTP: reading certificates for everybody would take seconds
        )

    def _next(self, client: httpx2.AsyncClient, person: Person, dice: float) -> Coroutine[Any, Any, Done]:
        if self._plan.only_search or dice < SEARCHES:
            return self._search(client, person)
        if dice < SEARCHES + QUESTIONS:
            return self._ask(client, person)
        return self._upload(client, person)

    async def _note(self, work: Coroutine[Any, Any, Done]) -> None:
        self._done.append(await self._answered(work))

    async def _answered(self, work: Coroutine[Any, Any, Done]) -> Done:
        began = time.monotonic()
        try:
            return await work
        except httpx2.HTTPError as error:
            return Done("lost", 0, began, (time.monotonic() - began) * 1000, wrong=f"lost: {type(error).__name__}")

    async def _search(self, client: httpx2.AsyncClient, person: Person) -> Done:
        words, clock = next(self._asked), _Clock()
        response = await client.post(f"{API}/search", json={"query": f"{words} {person.nonce}"})
        wrong = _judged(response.text, person) if response.status_code == 200 else ""
        return Done("search", response.status_code, clock.began, clock.ms(), wrong=wrong)

    async def _upload(self, client: httpx2.AsyncClient, person: Person) -> Done:
        number, clock = next(self._numbers), _Clock()
        name, text = f"{person.nonce}-{number}.md", note(person.nonce, number, next(self._asked))
        response = await client.post(f"{API}/documents/upload", files={"file": (name, text)})
        return Done("upload", response.status_code, clock.began, clock.ms(), name=name)

    async def _ask(self, client: httpx2.AsyncClient, person: Person) -> Done:
        clock, first, words, tokens, answers, ended = _Clock(), 0.0, 0, "", list[dict[str, Any]](), 0
        asked = {"query": f"What does the note say about {person.nonce}?", "stream": True, "no_cache": True}
        async with client.stream("POST", f"{API}/query", json=asked) as response:
            if response.status_code != 200:
                await response.aread()
                return Done("question", response.status_code, clock.began, clock.ms())
            async for event, data in _events(response.aiter_lines()):
                if event == "token":
                    first, words = first or clock.ms(), words or len(data["text"].split())
                    tokens += data["text"]
                elif event == "answer":
                    answers.append(data)
                elif event in ("done", "error"):
                    ended += event == "done"
        wrong = _judged(json.dumps(answers), person, needed=True)
        if len(answers) != 1 or ended != 1:
            wrong = "lost: the stream was cut" if len(answers) + ended < 2 else "duplicated: more than one answer"
        elif tokens != answers[0]["answer"]:
            wrong = "duplicated: the tokens are not the answer"
        return Done("question", 200, clock.began, clock.ms(), first, words, wrong)


class _Clock:
    def __init__(self) -> None:
        self.began = time.monotonic()

    def ms(self) -> float:
        return (time.monotonic() - self.began) * 1000


def note(nonce: str, number: int, words: str) -> str:
    """A document that only its owner has."""
    return f"# Note {number}\n\nThis note is about {nonce}. It has the number {number} and says {words}.\n"


def _judged(text: str, person: Person, *, needed: bool = False) -> str:
    """Whether a text names anybody else's nonce, or not one's own where that is needed."""
    found = set(NONCE.findall(text))
    if found - {person.nonce}:
        return "crossed: somebody else's nonce"
    return "crossed: without its asker's nonce" if needed and not found else ""


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, Any]]:
    event = ""
    async for line in lines:
        if line.startswith("event: "):
            event = line[7:]
        elif line.startswith("data: "):
            yield event, json.loads(line[6:])


def faults(done: list[Done], what: str) -> list[Done]:
    """Those that went wrong in one way: lost, duplicated or crossed."""
    return [one for one in done if one.wrong.startswith(what)]
