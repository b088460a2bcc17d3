"""Questions of several sets with the sentences that the answerer found for each, as features: what weights are fitted on.

Three kinds of sets are read. XQuAD with removed paragraphs (`abstention`) names the place of each answer. The held-out
records of `training/records` name the answer and the deciding sentence, and have questions that their text does not
answer. A set of natural questions (`docs/evaluating.md`) names strings that an answer has.
"""

import gzip
import json
import tempfile
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.answers import fill, held_out, questions_of
from pincite import AsyncPincite
from pincite.config.settings import Settings
from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Exchange, Filters, Question
from pincite.core.run import Kit
from pincite.evaluate.measure.answer_match import contains
from pincite.evaluate.questions.answer_sets import load_answer_set
from pincite.extractive.abstain import answer_features
from pincite.extractive.question import QuestionTerms
from pincite.extractive.score import ScoredSentence
from pincite.ingest.accept.collect import Collected, NamedFile, collect
from pincite.providers.extractive import Extractive

RECORDS = Path(__file__).parents[1] / "training" / "records"
HELD_OUT_RECORDS = 12
"""One record in so many was not trained on."""

Holds = Callable[[Hit, ScoredSentence], bool]


@dataclass(frozen=True, slots=True)
class SeenSentence:
    """The features of a sentence, those of a refusal if it were the best, whether it answers, and whether it is a row."""

    features: Mapping[str, float]
    refusal: Mapping[str, float]
    gold: bool
    row: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """A question of a set and its sentences, the best first; `half` is 1 where it is not fitted on."""

    set: str
    text: str
    language: str
    form: str
    answerable: bool
    half: int
    sentences: tuple[SeenSentence, ...]

    def to_json(self) -> str:
        """The question as one line."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_seen(file: Path) -> list[Seen]:
    """The questions of a file."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [Seen(**{**row, "sentences": tuple(SeenSentence(**one) for one in row["sentences"])}) for row in rows]


class Watcher:
    """Takes down what the answerer finds for a question, and answers nothing."""

    name = "extractive"
    window = 32_768

    def __init__(self, inner: Extractive) -> None:
        self._inner = inner
        self.found: tuple[QuestionTerms, list[ScoredSentence], Sequence[Hit]] | None = None

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        found = await self._inner.find(prompt)
        self.found = found.question, found.scored, prompt.sources
        yield StreamPart("–", finish_reason="stop", model=self.name)


async def watch(
    pincite: AsyncPincite, asked: Question
) -> tuple[QuestionTerms, list[ScoredSentence], Sequence[Hit]] | None:
    """Ask a question up to the answerer; None where nothing was found."""
    make, watchers = pincite.services.kit_factory.kit, list[Watcher]()

    def kit(settings: Settings) -> Kit:
        made = make(settings)
        assert isinstance(made.extractive, Extractive)
        watchers.append(Watcher(made.extractive))
        return replace(made, llm=watchers[-1], extractive=watchers[-1])

    pincite.services.kit_factory.kit = kit  # type: ignore[method-assign]
    try:
        await pincite.ask(asked)
    finally:
        pincite.services.kit_factory.kit = make  # type: ignore[method-assign]
    return next((one.found for one in watchers if one.found), None)


async def see(pincite: AsyncPincite, asked: Question, name: str, half: int, holds: Holds | None) -> Seen | None:
    """What is found for a question; `holds` says whether a sentence answers, None that no document does."""
    found = await watch(pincite, asked)
    if found is None:
        return None
    question, scored, sources = found
    sentences = tuple(
        SeenSentence(
            dict(one.features),
            answer_features(question, [one]),
            holds is not None and holds(sources[one.sentence.source - 1], one),
            one.sentence.is_row,
        )
        for one in scored
    )
    return Seen(name, asked.text, question.language, question.answer.form, holds is not None, half, sentences)


def _half(key: str) -> int:
    return zlib.crc32(key.encode()) % 2


# --- the three kinds of sets --------------------------------------------------------------------------------


async def see_xquad(folder: Path, work: Path, every: int) -> AsyncIterator[Seen]:
    """XQuAD with removed paragraphs: every so-manyth question, English and German in one library."""
    async with AsyncPincite(settings={"data": work, "cache.enabled": False}) as pincite:
        if not await pincite.documents():
            await fill(pincite, folder)
        for row in questions_of(folder, every):
            holds = _holds_place(row) if row["kind"] == "covered" else None
            name = f"XQuAD {row['lang']}"
            if seen := await see(pincite, Question(row["text"], fresh=True), name, int(held_out(row)), holds):
                yield seen


def _holds_place(row: Mapping[str, Any]) -> Holds:
    def holds(source: Hit, one: ScoredSentence) -> bool:
        chunk, start = source.chunk, row["answer_start"][0] - source.chunk.start_char
        same = f"{chunk.folder}:{chunk.document_name.removesuffix('.txt')}" == row["document"]
        return bool(same and one.sentence.start <= start < one.sentence.end)

    return holds


async def see_records(work: Path, every: int) -> AsyncIterator[Seen]:
    """The held-out records, asked in their language and in the other one."""
    lines = [
        line for path in sorted(RECORDS.glob("*.jsonl.gz")) for line in gzip.decompress(path.read_bytes()).splitlines()
    ]
    records = [row for row in map(json.loads, lines) if zlib.crc32(row["title"].encode()) % HELD_OUT_RECORDS == 0]
    async with AsyncPincite(settings={"data": work, "cache.enabled": False}) as pincite:
        if not await pincite.documents():
            with tempfile.TemporaryDirectory() as folder:
                for number, one in enumerate(records):
                    Path(folder, f"{number:03}.md").write_text(f"# {one['title']}\n\n{one['text']}\n", encoding="utf-8")
                await pincite.add_all(collect([Path(folder)]))
        asked = [(n, *one) for n, record in enumerate(records) for one in _asked_of(record)]
        for number, name, text, answer in asked[::every]:
            holds = _holds_text(f"{number:03}.md", answer) if answer else None
            if seen := await see(pincite, Question(text, fresh=True), name, number % 2, holds):
                yield seen


def _asked_of(record: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The set, the words and the answer of each question of a record; an unanswerable one has no answer."""
    found = []
    for key, answer in (("questions", "answer"), ("unanswerable", ""), ("yesno", "evidence")):
        for row in record[key]:
            for code in ("en", "de"):
                across = "" if code == record["language"] else "across "
                found.append((f"records {across}{code}", row[code], row.get(answer, "")))
    return found


def _holds_text(file: str, answer: str) -> Holds:
    wanted = " ".join(answer.split())

    def holds(source: Hit, one: ScoredSentence) -> bool:
        text = " ".join(one.sentence.text.split())
        return source.chunk.document_name == file and (wanted in text or text in wanted)

    return holds


async def see_answers(folder: Path, work: Path) -> AsyncIterator[Seen]:
    """Natural questions whose answers have given strings."""
    chosen = load_answer_set(folder)
    async with AsyncPincite(settings={"data": work, "cache.enabled": False}) as pincite:
        if not await pincite.documents():
            files = [NamedFile(path, name.rpartition("/")[0]) for name, path in chosen.files.items()]
            await pincite.add_all(Collected(files, [], []))
        for one in chosen.questions:
            asked = Question(one.text, fresh=True, filters=Filters())
            for turn in one.turns:
                before = await pincite.ask(replace(asked, text=turn))
                exchange = Exchange(turn, before.metadata.rewritten_query or turn, before.text)
                asked = replace(asked, conversation=(*asked.conversation, exchange))
            holds = None if one.expect == "refuse" else _holds_strings(one.sources, one.gold)
            if seen := await see(pincite, asked, chosen.name, _half(one.id), holds):
                yield seen


def _holds_strings(files: Sequence[str], gold: Sequence[Sequence[str]]) -> Holds:
    names = {Path(file).name for file in files}

    def holds(source: Hit, one: ScoredSentence) -> bool:
        text = one.sentence.embedded_text if one.sentence.is_row else one.sentence.text
        return source.chunk.document_name in names and any(contains(text, word) for group in gold for word in group)

    return holds
