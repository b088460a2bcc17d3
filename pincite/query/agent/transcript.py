"""The messages of an agent: instructions, history, question and all turns, within the context window."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Sampling
from pincite.core.query.tools import ToolCall
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.models.facts import facts_of
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.tools import MAX_ARGUMENT_CHARS, tool_definitions
from pincite.query.generate.assemble import history_messages, sampling_of
from pincite.query.prompt.budget import TOKENS_PER_MESSAGE, Budget, count_tokens, window_of
from pincite.query.prompt.templates import Prompts

OMITTED_RESULT = "(no longer shown; the sources it brought can still be cited by their numbers)"
"""Replaces old results where the context window is too small."""
RESULT_SHARE = 0.25
"""Share of the context window that one result may use."""
MAX_REPEATED_CHARS = 2000
"""Characters of the model's text beside its calls that later prompts repeat."""


@dataclass(slots=True)
class Transcript:
    """The messages so far; the oldest tool results are omitted first where the context window is too small."""

    instructions: str
    plain: str
    last: str
    history: list[Message]
    question: str
    found: str
    window: int
    sampling: Sampling
    tokenizer: str
    turns: list[list[Message]] = field(default_factory=list)
    results: list[tuple[ToolCall, str]] = field(default_factory=list)
    answer_requested: bool = False

    @classmethod
    def of(cls, run: Run, plan: Plan, scratchpad: Scratchpad, *, tools: bool = True) -> "Transcript":
        """The transcript at the start of a question; passages on the scratchpad are shown beside it."""
        window, prompts = window_of(run, plan.question), Prompts.of(run)
        budget = Budget.of(window, facts_of(run.model_of(plan.question)).tier)
        answer = prompts.get(f"answer/{plan.intent.lower()}").text
        template = prompts.get("agent/system" if tools else "agent/writing")
        system = template.fill(boundary=scratchpad.boundary, answer=answer)
        found, _ = scratchpad.show(scratchpad.hits, _result_tokens(window, run.settings.agent.result_tokens))
        instructions = "\n\n".join(filter(None, (plan.question.sampling.system_prompt, system)))
        history, _ = history_messages(plan.question.conversation, budget.history, run.settings.chunking.tokenizer)
        return cls(
            instructions,
            prompts.get("agent/plain").text,
            prompts.get("agent/last").fill(question=plan.answered),
            history,
            plan.answered,
            found,
            window,
            sampling_of(plan.question, budget, run=run),
            run.settings.chunking.tokenizer,
        )

    @property
    def given_texts(self) -> list[str]:
        """Instructions, history and question: the input of the model that neither itself nor a tool wrote."""
        return [self.instructions, *(message.content for message in self.history), self.question]

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        return count_tokens(self.tokenizer, text)

    def result_tokens(self, limit: int) -> int:
        """Tokens that a result may use, at most `limit`."""
        return _result_tokens(self.window, limit)

    def add_result(self, call: ToolCall, text: str) -> None:
        """Add the result of a call; it becomes part of the turn that `add_turn` adds next."""
        self.results.append((call, text))

    def add_turn(self, text: str, calls: Sequence[ToolCall], *, native: bool) -> None:
        """Add a turn of the model with its calls and their results."""
        results, self.results = self.results, []
        own_text = text[:MAX_REPEATED_CHARS]
        if native:
            sent = tuple(replace(call, arguments=_valid_arguments(call.arguments)) for call in calls)
            result_messages = [Message("tool", result, answers=call) for call, result in results]
            self.turns.append([Message("assistant", own_text, calls=sent), *result_messages])
            return
        lines = [f"{call.name} {call.arguments[:MAX_REPEATED_CHARS]}" for call in calls]
        results_text = "\n\n".join(f"Result of {call.name}: {result}" for call, result in results)
        self.turns.append(
            [Message("assistant", "\n".join(filter(None, (own_text, *lines)))), Message("user", results_text)]
        )

    def request_answer(self) -> None:
        """End the prompt with the request to answer without further tool calls."""
        self.answer_requested = True

    def prompt(self, *, tools: bool, native: bool) -> Prompt:
        """The prompt, without the oldest results where it would be too long; `ProviderError` where it still is."""
        instructions = self.instructions if native or not tools else f"{self.instructions}\n\n{self.plain}"
        asked = "\n\n".join(filter(None, (self.found, self.question)))
        head = [Message("system", instructions), *self.history, Message("user", asked)]
        tail = [Message("user", self.last)] if self.answer_requested else []
        room = self.window - (self.sampling.max_tokens or 0) - (self._tool_tokens() if tools and native else 0)
        for turns in self._shortened():
            messages = (*head, *turns, *tail)
            if (tokens := self._cost(messages)) <= room:
                return Prompt(self.question, messages, (), tokens, self.sampling)
        raise ProviderError(
            "the question is too long for the context window of the model; use a model with a larger window"
        )

    def _shortened(self) -> Iterator[list[Message]]:
        """The turns, shorter at each step: first without the oldest results, then without the oldest turns."""
        turns = [list(turn) for turn in self.turns]
        yield [message for turn in turns for message in turn]
        for turn in turns[:-1]:
            turn[1:] = [replace(message, content=OMITTED_RESULT) for message in turn[1:]]
            yield [message for turn in turns for message in turn]
        while turns:
            turns.pop(0)
            yield [message for turn in turns for message in turn]

    def _cost(self, messages: Sequence[Message]) -> int:
        return sum(
            self.count(message.content)
            + TOKENS_PER_MESSAGE
            + sum(self.count(call.arguments) + TOKENS_PER_MESSAGE for call in message.calls)
            for message in messages
        )

    def _tool_tokens(self) -> int:
        """Tokens of the tool definitions."""
        return sum(
            self.count(f"{tool.name} {tool.description} {json.dumps(tool.parameters)}") for tool in tool_definitions()
        )


def _result_tokens(window: int, limit: int) -> int:
    return min(limit, int(window * RESULT_SHARE))


def _valid_arguments(arguments: str) -> str:
    """Arguments for later prompts; `{}` where they are not a JSON object, which servers refuse, or too long."""
    try:
        is_valid = len(arguments) <= MAX_ARGUMENT_CHARS and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        is_valid = False
    return arguments if is_valid else "{}"
