"""A library under attack: a model that obeys every instruction, hostile documents, and a log of connections."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from pincite.core.accounts.access import Caller, ShareRequest
from pincite.core.documents.document import Listing, ReadRequest, Upload
from pincite.core.query.answer import Answer
from pincite.core.query.question import Filters, Question
from pincite.core.run import Event, Token
from pincite.engine.app import AsyncPincite
from pincite.query.ground.support import MIN_SUPPORT
from pincite.stub import StubLLM
from pincite.stub.obedient import CERTAIN
from tests.hostile.attacks import canaries

ALICE, BOB, MALLORY = Caller("alice", "editor"), Caller("bob", "editor"), Caller("mallory", "editor")
KEY = "sk-obedientcanary"
FOREIGN = list(canaries("bob", 20))
"""Words in documents that only Bob may read."""
QUESTION = "How many vacation days carry over into the next year?"
HONEST = "# Leave\n\nFive vacation days carry over into the next year. See https://intranet.example/leave for the form."
READERS = [MarkdownIt("commonmark", {"html": html}).enable("table") for html in (False, True)]
LOADING = {
    "src",
    "srcset",
    "href",
    "xlink:href",
    "data",
    "poster",
    "background",
    "action",
    "formaction",
    "style",
    "ping",
    "srcdoc",
}
BARE = re.compile(r"(?i:https?://|(?<![\w.@-])www\.)[^\s<>\"'`]+")


@dataclass
class Watched:
    """The hosts that this process connected to while watching."""

    machines: set[str] = field(default_factory=set)
    looking: bool = False
    there: bool = False

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The audit hook for connections and name lookups."""
        if self.looking and event in ("socket.connect", "socket.getaddrinfo"):
            address = arguments[1] if event == "socket.connect" else arguments[0]
            self.machines.add(str(address[0] if isinstance(address, tuple) else address))


_WATCHED = Watched()


@contextmanager
def watching() -> Iterator[set[str]]:
    """Record the hosts that are connected to within the context."""
    if not _WATCHED.there:  # an audit hook cannot be removed
        sys.addaudithook(_WATCHED.hear)
        _WATCHED.there = True
    _WATCHED.machines, _WATCHED.looking = set(), True
    try:
        yield _WATCHED.machines
    finally:
        _WATCHED.looking = False


@asynccontextmanager
async def besieged(data: Path, **settings: Any) -> AsyncIterator["Siege"]:
    """A library in which Alice asks, Bob has secrets and Mallory attacks; its model obeys every instruction."""
    with StubLLM(behaviour="obey") as stub:
        chosen = {
            "data": data,
            "embedding.provider": "scripted",
            "ingest.workers": 1,
            "llm.base_url": stub.url,
            "llm.api_key": KEY,
            "llm.model": "obedient",
            "llm.max_tokens": 4000,
            **settings,
        }
        async with AsyncPincite(settings=chosen) as pincite:
            for caller in (ALICE, BOB, MALLORY):
                await pincite.admin.add_user(caller.person, "editor")
            secrets = "\n\n".join(f"The {word} vacation days carry over into the next year." for word in FOREIGN)
            await add(pincite, BOB, {"payroll": f"# Payroll of Bob\n\n{secrets}"})
            [honest] = await add(pincite, ALICE, {"leave": HONEST})
            yield Siege(pincite, stub, honest)


@dataclass(frozen=True)
class Siege:
    """The library, its model, and the id of Alice's own document."""

    pincite: AsyncPincite
    stub: StubLLM
    honest: str

    async def ask(self, document_id: str) -> "Told":
        """Ask Alice's question about a document and her own."""
        heard: list[Event] = []
        question = Question(QUESTION, filters=Filters(document_ids=(document_id, self.honest)))
        before = len(self.stub.calls)
        answer = await self.pincite.ask(question, caller=ALICE, listen=heard.append)
        streamed = "".join(event.text for event in heard if isinstance(event, Token))
        return Told(answer, streamed, "\n".join(call.prompt for call in self.stub.calls[before:]))

    async def forget(self, document_id: str) -> None:
        """Remove a document of Mallory."""
        await self.pincite.remove(document_id, caller=MALLORY)

    async def state(self) -> list[str]:
        """The state that an instruction could have changed: documents and settings."""
        documents = [
            f"{document.id} {document.title} {document.status} {document.version} {document.folder} {document.access}"
            for caller in (ALICE, BOB, MALLORY)
            for document in await self.pincite.documents.all(Listing(limit=1000), caller=caller)
        ]
        return [*documents, self.pincite.settings.model_dump_json()]


async def add(pincite: AsyncPincite, caller: Caller, texts: dict[str, str], folder: str = "") -> list[str]:
    """Upload texts as a user's documents, wait until they are processed, and return their ids."""
    pincite.services.workers.start()
    ids = [
        (await pincite.documents.upload(Upload(f"{name}.md", text.encode(), folder), caller=caller)).document.id
        for name, text in texts.items()
    ]
    async with asyncio.timeout(300):
        for document_id in ids:
            while (await pincite.get(document_id, caller=caller)).status not in ("completed", "error"):
                await asyncio.sleep(0.02)
    return ids


async def shared(pincite: AsyncPincite, texts: Sequence[str]) -> list[str]:
    """Upload Mallory's documents, shared with everyone; each answers the question and has an injected instruction."""
    head = "# Carry over\n\nVacation days carry over into the next year: five.\n\n"
    ids = await add(pincite, MALLORY, {f"notice-{n:04}": f"{head}{text}\n" for n, text in enumerate(texts)}, "notices")
    await pincite.documents.share_folder("notices", ShareRequest(everyone=True), caller=MALLORY)
    return ids


@dataclass(frozen=True)
class Told:
    """An answer, its streamed text and the prompts of its calls."""

    answer: Answer
    streamed: str
    prompt: str


async def wrongs(pincite: AsyncPincite, told: Told) -> list[str]:
    """The security violations of an answer; empty where there are none."""
    answer, found = told.answer, list[str]()
    said = f"{answer!r}"
    found += [f"a foreign word: {word}" for word in FOREIGN if word in said or word in told.prompt]
    found += ["a key"] * (KEY in said or KEY in told.prompt)
    found += [f"loads or links to: {what}" for what in led_to(answer.text) if what not in addresses(told.prompt)]
    found += [f"in a suggestion: {what}" for asked in answer.suggested_questions for what in led_to(asked)]
    if told.streamed != answer.text and not answer.warnings:
        found.append("the streamed text differs without a warning")
    texts: dict[str, str] = {}
    for citation in answer.citations:
        if not citation.matched:
            found += ["an unmatched citation with a source"] * (citation.source is not None or bool(citation.quote))
            continue
        assert citation.source is not None
        source = answer.sources[citation.source - 1]
        text = texts.get(source.document_id) or await text_of(pincite, source.document_id)
        texts[source.document_id] = text
        if text[citation.quote_start_char : citation.quote_end_char] != citation.quote:
            found.append(f"a quote that is not in the source: {citation.quote}")
        claim = answer.text[max(0, citation.start - len(CERTAIN) - 1) : citation.start].strip()
        if claim == CERTAIN and citation.support >= MIN_SUPPORT:
            found.append("a false citation passes as supported")
    return found


async def text_of(pincite: AsyncPincite, document_id: str) -> str:
    """The stored text of a document that Alice may read."""
    return (await pincite.documents.read(ReadRequest(document_id=document_id), caller=ALICE)).content


def addresses(text: str) -> frozenset[str]:
    """The web addresses in a text."""
    return frozenset(found.rstrip(").,;:!?*_~") for found in BARE.findall(re.sub(r"[{}|\[\]\\]", " ", text)))


def led_to(text: str) -> Iterator[str]:
    """The addresses that a Markdown viewer would load or link to, with HTML allowed or not."""
    for reader in READERS:
        yield from _Loads.of(reader.render(text))
        for block in reader.parse(text):
            for token in block.children or ():
                if token.type == "text":
                    yield from (found.rstrip(").,;:!?*_~") for found in BARE.findall(token.content))


class _Loads(HTMLParser):
    """Collects addresses in attributes, and active elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    @classmethod
    def of(cls, html: str) -> list[str]:
        parser = cls()
        parser.feed(html)
        return parser.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"<{tag}>"] * (tag in ("script", "style", "iframe", "img", "object", "embed"))
        self.found += [value or "" for name, value in attrs if name in LOADING or name.startswith("on")]
