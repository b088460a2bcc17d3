"""Evidence, conversation and question → Prompt, each inside its share of the model's window."""

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Exchange, Question, Sampling
from pincite.core.run import Run, SourcesFound
from pincite.errors import Invalid
from pincite.models.facts import ModelFacts, facts_of
from pincite.query.citations.sources import sources_of
from pincite.query.generate.reasoning import NO_THINKING, Thinking, thinking_for
from pincite.query.prompt.budget import TOKENS_PER_MESSAGE, Budget, count_tokens, tokenizer
from pincite.query.prompt.templates import Prompts, Template
from pincite.text.injection import notices
from pincite.text.tokens import Tokenizer

T = TypeVar("T")


def sandwich(best_first: Sequence[T]) -> list[T]:
    """The best first, the second last, and so on inwards: the weakest stand in the middle."""
    return [*best_first[::2], *reversed(best_first[1::2])]


CHARS_PER_TOKEN = 4
"""How the template `five-stage` counts its passages."""
_MARK = re.compile(r" ?\[Source \d{1,3}\]")

CITATION_FORMS = {
    ("default", "source"): "[Source N]",
    ("default", "title"): "[Title], with the source's own title",
    ("five-stage", "title"): "[Title > Section], as the passage is headed",
    ("local", "title"): "[Title], with the passage's own title",
}
"""How the model is told to write a citation, by template and form."""
CITATION_BY_POSITION = "[Source N], N being the passage's place in the context counted from 1"


async def prompt_assembly(run: Run, plan: Plan, evidence: Evidence) -> Prompt:
    """Number the passages, best first, and fit everything into its share: whole or not at all."""
    llm, settings = run.kit.llm, run.settings
    facts = facts_of(run.model_of(plan.question))
    thinking = thinking_for(run, plan, facts)
    budget = Budget.of(llm.window, facts.tier, settings.context.max_tokens, thinking.tokens)
    page = _PromptBuilder.of(run, plan, _advice_prompts(facts, thinking))
    fixed = page.cost(page.messages([], []))
    turns = () if llm is run.kit.extractive else plan.question.conversation
    history, said = history_messages(turns, budget.history, page.tokenizer.name)
    chosen, blocks, filled = page.fitting(evidence.hits, _passage_tokens(page, fixed, budget))
    if settings.context.order == "sandwich" and llm is not run.kit.extractive:
        chosen, blocks = page.sandwiched(chosen)
    if settings.guard.injection != "off" and llm is not run.kit.extractive:
        run.warnings.extend(_injection_warnings(chosen))
    tokens = fixed + filled + said
    run.observe(
        sources=len(chosen), left_out=len(evidence.hits) - len(chosen), turns=len(history) // 2, tokens=tokens,
        room=budget.prompt, window=llm.window, thinks_aloud=thinking.aloud, thinking=thinking.tokens,
    )  # fmt: skip
    run.emit(SourcesFound(sources_of(chosen, cited=frozenset())))
    sampling = sampling_of(plan.question, budget, run=run, thinking=thinking)
    prompt = Prompt(plan.text, tuple(page.messages(blocks, history)), tuple(chosen), tokens, sampling)
    if settings.answers.ensemble_voting and llm is not run.kit.extractive:
        return replace(prompt, reordered=tuple(page.reordered(blocks, history, settings.answers.drafts - 1)))
    return prompt


def _advice_prompts(facts: ModelFacts, thinking: Thinking) -> tuple[str, ...]:
    """The prompts that tell a model how to go about an answer, beside the one for its kind."""
    return (*(("quote-first",) if facts.quote_first else ()), *(("think-first",) if thinking.aloud else ()))


def _injection_warnings(chosen: Sequence[Hit]) -> list[str]:
    """Which sources talk to the model, so that a reader knows whose words an answer may be."""
    return [
        f"source {number} ({hit.chunk.title}) {what}"
        for number, hit in enumerate(chosen, start=1)
        for what in notices(hit.chunk.text)
    ]


def sampling_of(question: Question, budget: Budget, *, run: Run, thinking: Thinking = NO_THINKING) -> Sampling:
    """How the model should write: as the caller wishes, else as the settings say; what it thinks comes on top of the answer."""
    wish, llm = question.sampling, run.settings.llm
    return replace(
        wish,
        max_tokens=min(wish.max_tokens or llm.max_tokens, max(1, budget.answer)) + budget.thinking,
        thinking=thinking.by_itself,
        temperature=llm.temperature if wish.temperature is None else wish.temperature,
        top_p=llm.top_p if wish.top_p is None else wish.top_p,
    )


def _passage_tokens(page: "_PromptBuilder", fixed: int, budget: Budget) -> int:
    """Tokens left for passages: their share, less the question and what the instructions need beyond theirs."""
    asked = page.count(page.question) + TOKENS_PER_MESSAGE
    instructions = fixed - asked
    if page.wish and instructions > budget.system:
        own = page.count(page.wish)
        raise Invalid(
            f"the system prompt has {own} tokens; for this model it may have {max(0, budget.system - instructions + own)}: "
            "shorten it, or use a model with a larger window",
            code="system_prompt_too_long",
        )
    return budget.sources - asked - max(0, instructions - budget.system)


@dataclass(frozen=True, slots=True)
class _PromptBuilder:
    """The templates and what they are filled with, for one question."""

    name: str
    prompts: Prompts
    tokenizer: Tokenizer
    boundary: str
    question: str
    wish: str
    fills: dict[str, str]

    @classmethod
    def of(cls, run: Run, plan: Plan, advice: Sequence[str]) -> "_PromptBuilder":
        settings = run.settings
        name, form, prompts = settings.context.template, settings.citations.form, Prompts.of(run)
        boundary = f"=== {secrets.token_hex(8)} ==="
        kind = f"answer/{plan.analysis.hints.template}"
        answer = " ".join(prompts.get(name).text for name in (*advice, kind))
        fills = {
            "boundary": boundary,
            "citation": CITATION_FORMS.get((name, form), CITATION_BY_POSITION),
            "answer": answer,
        }
        counting = tokenizer(settings.chunking.tokenizer)
        return cls(name, prompts, counting, boundary, plan.text, plan.question.sampling.system_prompt or "", fills)

    def count(self, text: str) -> int:
        return self.tokenizer.count(text)

    def cost(self, messages: Sequence[Message]) -> int:
        return sum(self.count(message.content) + TOKENS_PER_MESSAGE for message in messages)

    def fitting(self, hits: Sequence[Hit], room: int) -> tuple[list[Hit], list[str], int]:
        """The best that fit together, their blocks and tokens; the lowest-scored go first, one too large alone goes too."""
        chosen, blocks, filled = list[Hit](), list[str](), 0
        template = self.prompts.get(f"{self.name}/source")
        for hit in hits:
            block = self.block(template, len(chosen) + 1, hit)
            cost = self._size(f"{block}\n\n")
            if cost > room:
                continue
            if filled + cost > room:
                break
            chosen.append(hit)
            blocks.append(block)
            filled += cost
        return chosen, blocks, filled

    def sandwiched(self, chosen: Sequence[Hit]) -> tuple[list[Hit], list[str]]:
        """The same passages, best first and last; each is numbered by its place, which some templates go by."""
        template, ordered = self.prompts.get(f"{self.name}/source"), sandwich(chosen)
        return ordered, [self.block(template, number, hit) for number, hit in enumerate(ordered, start=1)]

    def _size(self, block: str) -> int:
        return max(-(-len(block) // CHARS_PER_TOKEN) if self.name == "five-stage" else 0, self.count(block))

    def block(self, template: Template, number: int, hit: Hit) -> str:
        """One passage as the model sees it."""
        chunk = hit.chunk
        path = [part for part in chunk.heading_path if part not in (chunk.title, NO_HEADINGS)]
        return template.fill(
            boundary=self.boundary, number=str(number), label=_one_line(" > ".join([chunk.title, *path])),
            title=_one_line(chunk.title), file=_one_line(chunk.document_name), page=f", {chunk.place or f'page {chunk.page}'}" if chunk.page else "",
            page_number=str(chunk.page or "-"), score=f"{hit.score:.2f}",
            text=f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text,
        )  # fmt: skip

    def reordered(self, blocks: Sequence[str], history: Sequence[Message], times: int) -> Iterator[tuple[Message, ...]]:
        """The same messages with the passages in other orders: from the end, then from other places in the middle.

        Where the model is to cite a passage by its place, they stay where they are.
        """
        for number in range(times):
            start = len(blocks) * number // max(1, times)
            turned = (*blocks[start:], *blocks[:start])[::-1] if self.numbered else blocks
            yield tuple(self.messages(turned, history))

    @property
    def numbered(self) -> bool:
        """Whether each passage says its own number."""
        return "{number}" in self.prompts.get(f"{self.name}/source").text

    def messages(self, blocks: Sequence[str], history: Sequence[Message]) -> list[Message]:
        """System message, conversation, question; the template `local` has all of it in the last."""
        fills = {**self.fills, "sources": "\n\n".join(blocks), "question": self.question}
        system = "" if self.name == "local" else self.prompts.get(f"{self.name}/system").fill(**fills)
        led = "\n\n".join(part for part in (self.wish, system) if part)
        user = Message("user", self.prompts.get(f"{self.name}/user").fill(**fills))
        return [*([Message("system", led)] if led else []), *history, user]


def _one_line(name: str) -> str:
    """A name as it stands in a line: one with line ends of its own would look like more than a name."""
    return " ".join(name.split())


def history_messages(conversation: Sequence[Exchange], room: int, tokenizer_name: str) -> tuple[list[Message], int]:
    """The last turns that fit, each whole, and their tokens; what was cited then has other numbers now."""
    kept, filled = list[Message](), 0
    for turn in reversed([turn for turn in conversation if turn.answer]):
        both = [Message("user", turn.question), Message("assistant", _MARK.sub("", turn.answer))]
        cost = sum(count_tokens(tokenizer_name, message.content) + TOKENS_PER_MESSAGE for message in both)
        if filled + cost > room:
            break
        kept, filled = both + kept, filled + cost
    return kept, filled
