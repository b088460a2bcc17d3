"""What an agent's model is shown: its rules, the conversation, the question, and every turn since, inside its window."""

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
from pincite.query.prompt.budget import TOKENS_PER_MESSAGE, Budget, count_tokens
from pincite.query.prompt.templates import Prompts

OMITTED_RESULT = "(no longer shown; the sources it brought can still be cited by their numbers)"
RESULT_SHARE = 0.25
"""The share of the window that one result may take."""
MAX_REPEATED_CHARS = 2000
"""Characters of what a model said beside its calls that it is shown again."""


@dataclass(slots=True)
class Transcript:
    """The messages so far; what tools brought is the first to go where the window is too small."""

    rules: str
    plain: str
    last: str
    history: list[Message]
    question: str
    window: int
    sampling: Sampling
    tokenizer: str
    turns: list[list[Message]] = field(default_factory=list)
    results: list[tuple[ToolCall, str]] = field(default_factory=list)
    ending: bool = False

    @classmethod
    def of(cls, run: Run, plan: Plan, scratchpad: Scratchpad) -> "Transcript":
        """The beginning of one."""
        llm, prompts = run.kit.llm, Prompts.of(run)
        budget = Budget.of(llm.window, facts_of(run.model_of(plan.question)).tier)
        answer = prompts.get(f"answer/{plan.intent.lower()}").text
        system = prompts.get("agent/system").fill(boundary=scratchpad.boundary, answer=answer)
        rules = "\n\n".join(filter(None, (plan.question.sampling.system_prompt, system)))
        history, _ = history_messages(plan.question.conversation, budget.history, run.settings.chunking.tokenizer)
        return cls(
            rules, prompts.get("agent/plain").text, prompts.get("agent/last").fill(question=plan.text), history, plan.text,
            llm.window, sampling_of(plan.question, budget, run=run), run.settings.chunking.tokenizer,
        )  # fmt: skip

    @property
    def given(self) -> list[str]:
        """What the model was given by us and the asker; nothing that it wrote itself, or that repeats it."""
        return [self.rules, *(message.content for message in self.history), self.question]

    def count(self, text: str) -> int:
        """The tokens of a text."""
        return count_tokens(self.tokenizer, text)

    def room(self, most: int) -> int:
        """Tokens that a result may take."""
        return min(most, int(self.window * RESULT_SHARE))

    def answer(self, call: ToolCall, said: str) -> None:
        """What a call brought; told with the turn that made it."""
        self.results.append((call, said))

    def add(self, text: str, calls: Sequence[ToolCall], *, native: bool) -> None:
        """A turn of the model with its calls, and what they brought."""
        results, self.results = self.results, []
        said = text[:MAX_REPEATED_CHARS]
        if native:
            sent = tuple(replace(call, arguments=_valid_arguments(call.arguments)) for call in calls)
            brought = [Message("tool", brought, answers=call) for call, brought in results]
            self.turns.append([Message("assistant", said, calls=sent), *brought])
            return
        lines = [f"{call.name} {call.arguments[:MAX_REPEATED_CHARS]}" for call in calls]
        told = "\n\n".join(f"Result of {call.name}: {brought}" for call, brought in results)
        self.turns.append([Message("assistant", "\n".join(filter(None, (said, *lines)))), Message("user", told)])

    def ask_for_the_answer(self) -> None:
        """From now on no tool can be called."""
        self.ending = True

    def prompt(self, *, tools: bool, native: bool) -> Prompt:
        """All of it, the oldest results left out where it is too long; `ProviderError` where it is even then."""
        rules = self.rules if native or not tools else f"{self.rules}\n\n{self.plain}"
        head = [Message("system", rules), *self.history, Message("user", self.question)]
        tail = [Message("user", self.last)] if self.ending else []
        room = self.window - (self.sampling.max_tokens or 0) - (self._described() if tools and native else 0)
        for turns in self._shorter():
            messages = (*head, *turns, *tail)
            if (tokens := self._cost(messages)) <= room:
                return Prompt(self.question, messages, (), tokens, self.sampling)
        raise ProviderError("the question is too long for the model to look anything up; use one with a larger window")

    def _shorter(self) -> Iterator[list[Message]]:
        """The turns, with less and less of the oldest: first what tools brought, then whole turns."""
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

    def _described(self) -> int:
        """Tokens that the tools take."""
        return sum(
            self.count(f"{tool.name} {tool.description} {json.dumps(tool.parameters)}") for tool in tool_definitions()
        )


def _valid_arguments(arguments: str) -> str:
    """Arguments as they are sent back: servers refuse what is no object, and nobody needs to see again what was too long."""
    try:
        proper = len(arguments) <= MAX_ARGUMENT_CHARS and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        proper = False
    return arguments if proper else "{}"
