"""Assemble the prompt from instructions, history, passages and question, within the token budget."""

import math
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pincite.config.branches.generation import Context
from pincite.core.graph import GraphFact
from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Exchange, Question, Sampling
from pincite.core.run import Run, SourcesFound
from pincite.errors import Invalid
from pincite.models.facts import ModelFacts, facts_of
from pincite.query.citations.marks import without_brackets
from pincite.query.citations.sources import sources_of
from pincite.query.generate.reasoning import NO_THINKING, Thinking, thinking_for
from pincite.query.graph.context import BUDGET_SHARE, fact_line, facts_of_sources
from pincite.query.prompt.budget import TOKENS_PER_MESSAGE, Budget, count_tokens, tokenizer, window_of
from pincite.query.prompt.templates import Prompts, Template
from pincite.text.injection import notices
from pincite.text.tokens import Tokenizer

T = TypeVar("T")


def sandwich(best_first: Sequence[T]) -> list[T]:
    """The passages reordered: the best first, the second-best last, and so on; the weakest are in the middle."""
    return [*best_first[::2], *reversed(best_first[1::2])]


CHARS_PER_TOKEN = 4
"""Characters per token by which the template `five-stage` counts its passages."""
_MARK = re.compile(r" ?\[Source \d{1,3}\]")

FACTS_HEADING = "Facts that the sources state:"
CITATION_FORMS = {
    ("default", "source"): "[Source N]",
    ("default", "title"): "[Title], with the source's own title",
    ("five-stage", "title"): "[Title > Section], as the passage is headed",
    ("local", "title"): "[Title], with the passage's own title",
}
"""The citation format in the instructions, by template and citation form."""
CITATION_BY_POSITION = "[Source N], N being the passage's place in the context counted from 1"
"""The citation format of the other templates and forms."""


async def prompt_assembly(run: Run, plan: Plan, evidence: Evidence) -> Prompt:
    """Number the passages, best first, and fit every part into its budget; passages are never cut."""
    llm, settings = run.kit.llm, run.settings
    facts = facts_of(run.model_of(plan.question))
    thinking, window = thinking_for(run, plan, facts), window_of(run, plan.question)
    max_tokens, max_chars = _source_limits(settings.context)
    budget = Budget.of(window, facts.tier, max_tokens, thinking.tokens)
    builder = _PromptBuilder.of(run, plan, _advice_prompts(facts, thinking))
    fixed = builder.cost(builder.messages([], []))
    turns = () if llm is run.kit.extractive else plan.question.conversation
    history, history_tokens = history_messages(turns, budget.history, builder.tokenizer.name)
    room = _passage_tokens(builder, fixed, budget)
    chosen, blocks, passage_tokens = builder.fit_passages(evidence.hits, room, max_chars)
    if settings.context.order == "sandwich" and llm is not run.kit.extractive:
        chosen, blocks = builder.in_sandwich_order(chosen)
    if settings.guard.injection != "off" and llm is not run.kit.extractive:
        run.warnings.extend(_injection_warnings(chosen))
    if llm is not run.kit.extractive and (lines := builder.fit_facts(evidence.facts, chosen, room)):
        blocks, passage_tokens = [*blocks, lines], passage_tokens + builder.count(lines)
    tokens = fixed + passage_tokens + history_tokens
    run.observe(
        sources=len(chosen),
        left_out=len(evidence.hits) - len(chosen),
        turns=len(history) // 2,
        tokens=tokens,
        room=budget.prompt,
        window=window,
        thinks_aloud=thinking.step_by_step,
        thinking=thinking.tokens,
    )
    run.emit(SourcesFound(sources_of(chosen, cited=frozenset())))
    sampling = sampling_of(plan.question, budget, run=run, thinking=thinking)
    asked = plan.question.text if plan.question.standalone else ""
    prompt = Prompt(
        plan.answered,
        tuple(builder.messages(blocks, history)),
        tuple(chosen),
        tokens,
        sampling,
        asked=asked,
        facts=evidence.facts,
        elsewhere=evidence.elsewhere,
    )
    if settings.answers.ensemble_voting and llm is not run.kit.extractive:
        return replace(prompt, reordered=tuple(builder.reordered(blocks, history, settings.answers.drafts - 1)))
    return prompt


def _source_limits(context: Context) -> tuple[int, float]:
    """The maximum of tokens (0: none) and of characters for passages; the template `five-stage` counts characters."""
    if context.template == "five-stage" and context.max_tokens:
        return 0, CHARS_PER_TOKEN * context.max_tokens
    return context.max_tokens, math.inf


def _advice_prompts(facts: ModelFacts, thinking: Thinking) -> tuple[str, ...]:
    """The names of further prompts with instructions for this model, beside the one for the kind of question."""
    return (*(("quote-first",) if facts.quote_first else ()), *(("think-first",) if thinking.step_by_step else ()))


def _injection_warnings(chosen: Sequence[Hit]) -> list[str]:
    """Warnings of sources with text that looks like a prompt injection."""
    return [
        f"source {number} ({hit.chunk.title}) {what}"
        for number, hit in enumerate(chosen, start=1)
        for what in notices(hit.chunk.text)
    ]


def sampling_of(question: Question, budget: Budget, *, run: Run, thinking: Thinking = NO_THINKING) -> Sampling:
    """The sampling options: the caller's, else those of the settings; tokens for thinking are added to the answer's."""
    requested, llm = question.sampling, run.settings.llm
    return replace(
        requested,
        max_tokens=min(requested.max_tokens or llm.max_tokens, max(1, budget.answer)) + budget.thinking,
        thinking=thinking.extended_tokens,
        temperature=llm.temperature if requested.temperature is None else requested.temperature,
        top_p=llm.top_p if requested.top_p is None else requested.top_p,
        top_k=llm.top_k if requested.top_k is None else requested.top_k,
    )


def _passage_tokens(builder: "_PromptBuilder", fixed: int, budget: Budget) -> int:
    """Return the tokens available for passages.

    It is the budget for sources, minus the question, minus the tokens by which the instructions exceed their budget.
    """
    question_tokens = builder.count(builder.question) + TOKENS_PER_MESSAGE
    instructions = fixed - question_tokens
    if builder.system_prompt and instructions > budget.system:
        custom_tokens = builder.count(builder.system_prompt)
        allowed = budget.system - instructions + custom_tokens
        raise Invalid(
            f"the system prompt has {custom_tokens} tokens; for this model it may have {max(0, allowed)}: "
            "shorten it, or use a model with a larger window",
            code="system_prompt_too_long",
        )
    return budget.sources - question_tokens - max(0, instructions - budget.system)


@dataclass(frozen=True, slots=True)
class _PromptBuilder:
    """The templates and their values for one question."""

    name: str
    prompts: Prompts
    tokenizer: Tokenizer
    boundary: str
    question: str
    system_prompt: str
    values: dict[str, str]

    @classmethod
    def of(cls, run: Run, plan: Plan, advice: Sequence[str]) -> "_PromptBuilder":
        settings = run.settings
        name, form, prompts = settings.context.template, settings.citations.form, Prompts.of(run)
        boundary = f"=== {secrets.token_hex(8)} ==="
        kind = f"answer/{plan.analysis.hints.template}"
        suggest = ("suggest",) if settings.answers.suggestions != "off" else ()
        answer = " ".join(prompts.get(name).text for name in (*advice, kind, *suggest))
        values = {
            "boundary": boundary,
            "citation": CITATION_FORMS.get((name, form), CITATION_BY_POSITION),
            "answer": answer,
        }
        counting = tokenizer(settings.chunking.tokenizer)
        return cls(name, prompts, counting, boundary, plan.answered, plan.question.sampling.system_prompt or "", values)

    def count(self, text: str) -> int:
        return self.tokenizer.count(text)

    def cost(self, messages: Sequence[Message]) -> int:
        return sum(self.count(message.content) + TOKENS_PER_MESSAGE for message in messages)

    def fit_passages(self, hits: Sequence[Hit], room: int, max_chars: float) -> tuple[list[Hit], list[str], int]:
        """The best hits that fit, with their blocks and tokens; hits that would not even fit alone are skipped."""
        chosen, blocks, passage_tokens, chars = list[Hit](), list[str](), 0, 0
        template = self.prompts.get(f"{self.name}/source")
        for hit in hits:
            block = self.block(template, len(chosen) + 1, hit)
            cost, size = self.count(f"{block}\n\n"), len(block) + 2
            if cost > room or size > max_chars:
                continue
            if passage_tokens + cost > room or chars + size > max_chars:
                break
            chosen.append(hit)
            blocks.append(block)
            passage_tokens += cost
            chars += size
        return chosen, blocks, passage_tokens

    def fit_facts(self, facts: Sequence[GraphFact], chosen: Sequence[Hit], room: int) -> str:
        """The block of facts that the chosen passages state, in a tenth of the room; empty where none fits."""
        lines, used = list[str](), 0
        for line in map(fact_line, facts_of_sources(facts, chosen)):
            used += self.count(f"{line}\n")
            if used > BUDGET_SHARE * room:
                break
            lines.append(line)
        return "\n".join([self.boundary, FACTS_HEADING, *lines, self.boundary]) if lines else ""

    def in_sandwich_order(self, chosen: Sequence[Hit]) -> tuple[list[Hit], list[str]]:
        """The passages and their blocks in sandwich order; numbered by position, which some templates cite by."""
        template, ordered = self.prompts.get(f"{self.name}/source"), sandwich(chosen)
        return ordered, [self.block(template, number, hit) for number, hit in enumerate(ordered, start=1)]

    def block(self, template: Template, number: int, hit: Hit) -> str:
        """The block of one passage in the prompt."""
        chunk = hit.chunk
        return template.fill(
            boundary=self.boundary,
            number=str(number),
            label=without_brackets(_one_line(" > ".join([chunk.title, *chunk.section_path]))),
            title=without_brackets(_one_line(chunk.title)),
            file=_one_line(chunk.document_name),
            page=f", {chunk.place or f'page {chunk.page}'}" if chunk.page else "",
            page_number=str(chunk.page or "-"),
            score=f"{_score_before_mmr(hit):.2f}" if hit.ranked else "-",
            text=f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text,
        )

    def reordered(self, blocks: Sequence[str], history: Sequence[Message], times: int) -> Iterator[tuple[Message, ...]]:
        """The same messages with the passages in other orders, one for each further draft.

        Where the model cites passages by position, their order stays.
        """
        for number in range(times):
            start = len(blocks) * number // max(1, times)
            reordered_blocks = (*blocks[start:], *blocks[:start])[::-1] if self.has_numbers else blocks
            yield tuple(self.messages(reordered_blocks, history))

    @property
    def has_numbers(self) -> bool:
        """Whether the block of a passage contains its number."""
        return "{number}" in self.prompts.get(f"{self.name}/source").text

    def messages(self, blocks: Sequence[str], history: Sequence[Message]) -> list[Message]:
        """System message, history and question; the template `local` has everything in the last message."""
        values = {**self.values, "sources": "\n\n".join(blocks), "question": self.question}
        system = "" if self.name == "local" else self.prompts.get(f"{self.name}/system").fill(**values)
        system_text = "\n\n".join(part for part in (self.system_prompt, system) if part)
        user = Message("user", self.prompts.get(f"{self.name}/user").fill(**values))
        return [*([Message("system", system_text)] if system_text else []), *history, user]


def _score_before_mmr(hit: Hit) -> float:
    return next((one.before for one in hit.adjustments if one.stage == "mmr"), hit.score)


def _one_line(name: str) -> str:
    """A name on one line; with line breaks it could look like other parts of the prompt."""
    return " ".join(name.split())


def history_messages(conversation: Sequence[Exchange], room: int, tokenizer_name: str) -> tuple[list[Message], int]:
    """The last whole turns that fit into the budget, and their tokens; their citation marks are removed.

    The numbers of these marks belong to the sources of earlier answers.
    """
    kept, used = list[Message](), 0
    for turn in reversed([turn for turn in conversation if turn.answer]):
        both = [Message("user", turn.question), Message("assistant", _MARK.sub("", turn.answer))]
        cost = sum(count_tokens(tokenizer_name, message.content) + TOKENS_PER_MESSAGE for message in both)
        if used + cost > room:
            break
        kept, used = both + kept, used + cost
    return kept, used
