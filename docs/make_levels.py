"""Writes docs/levels.md from the levels' own table: `python docs/make_levels.py`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pincite.config.levels import levels
from pincite.config.settings import Settings

PAGE = Path(__file__).parent / "levels.md"
HEAD = """# Levels: how much is done for an answer

Made by `python docs/make_levels.py`; do not edit by hand.

A request names a level with `intelligence_level` (`--level` of `pincite ask` and `pincite chat`, `Question(…, intelligence_level=…)` in Python).
The answer says which one it had, `metadata.plan` and the trace who decided that and what was done.
"""
TAIL = """
What is written there wins over the settings and over a profile; a request's own `strategy` and switches win over it, and where it says nothing, the
settings hold. A question that names no level has that of `answers.level`; `standard`, which that is unless set, then means all settings as they
are. A search has no level.

| switch of a request | setting | what it does |
|---|---|---|
| `enable_verification` | `rag.verification_enabled` | passages are judged before an answer stands on them: by rules, or, with `rag.verification_by=model`, after them by one call of the model for all |
| | `grounding.judge` | what the answer claims is judged by rules, or, with `model`, after them by one call of the model for all claims |
| `enable_cot` | `answers.chain_of_thought` | the model reasons step by step before it answers. With `auto`, which the profile `adaptive` has, for comparisons and questions for reasons |
| `ensemble_voting` | `answers.ensemble_voting`, `answers.drafts` | several drafts are written at once and vote |
| `extended_thinking` | `answers.extended_thinking`, `answers.thinking_tokens` | a model that can thinks for long before it answers |
| `second_look` | `rag.second_look` | what of the question the passages found say nothing about is searched for once more |

What a level needs and is not there is left out, and `degraded` names it with the reason: without a model `step_back`, `query_expansion`, `hyde`, `verify`,
`chain_of_thought`, `extended_thinking` and `ensemble`; with a model that is not known to think by itself `extended_thinking`; and `graph`, as long as there is none.

## Chain of thought and extended thinking

The prompt asks for reasoning between `<think>` and `</think>` ([`think-first.txt`](prompts.md)), with room of its own: a quarter of `answers.thinking_tokens`,
taken from the passages' share of the window. What a model thinks, there or in a field of its server's own, is never shown nor streamed; with
`traces.content=true` the trace keeps it (`content.thoughts`), as long as the documents it was found in are there.

Which models think by themselves, and how they are told to, is in `pincite/models/models.toml`: by `reasoning_effort` (OpenAI-style servers), by
`thinking` (Anthropic), by `think` (Ollama). Such a model is not asked to reason aloud as well.

## Several drafts that vote

The drafts have the passages in different orders, and each is written a little warmer than the one before. Once most are there, the others get as
long again as these took, five seconds at least; one that fails or is late is left out, and `degraded` says so under `ensemble`. Each draft is
taken apart into statements. Another draft agrees with one that it makes as well: the same figures and names, both affirmed or both denied, and
most of the words, or a vector close by. The draft is given that has most statements which at least half of the others agree with and a source
it names holds; what only it says is quoted in `warnings`. Nothing is streamed before that is decided.

`metadata.usage` is what all calls of the model for an answer cost: drafts, other wordings, verdicts.

In mode `agent` the model words every search and its answer itself: what a level switches on beyond the strategy is left out, and `degraded` says so under `level`.

## A second look

Where a question has a part, or words, that nothing found is about, that is searched for once more, together with names from the best passage that
the question does not have: whoever is asked about is often only named there. Both looks are joined by reciprocal rank, with five passages more than
the first had at most; `metadata.plan` says how many were new. It finds what takes several steps ([figures](evaluation.md#what-answers-stand-on)) and gives
questions of one step passages they do not need, so it is part of `maximum` only.
"""


def page() -> str:
    """The whole page."""
    found = levels()
    keys = list(dict.fromkeys(key for row in found.values() for key in row.values if key != "answers.level"))
    lines = [HEAD, "| level | what it is for | calls of the model |", "|---|---|---|"]
    lines += [f"| `{name}` | {row.about} | {_calls(row.values)} |" for name, row in found.items()]
    lines += ["", f"| setting | {' | '.join(f'`{name}`' for name in found)} |", f"|---|{'---|' * len(found)}"]
    for key in keys:
        lines.append(f"| `{key}` | {' | '.join(_shown(row.values.get(key)) for row in found.values())} |")
    return "\n".join(lines) + "\n" + TAIL


def _calls(values: Mapping[str, Any]) -> str:
    """How often the model is called: for drafts, other wordings, the question behind it, a supposed answer, both verdicts."""
    written = Settings().answers.drafts if values["answers.ensemble_voting"] else 1
    asides = (
        values["rag.query_expansion_enabled"],
        values["rag.step_back_enabled"],
        values["rag.verification_by"] == "model",
    )
    usual = written + sum(asides) + (values["grounding.judge"] == "model")
    return (
        f"{usual}, or {usual + 1} where the question is short and names nothing"
        if values["rag.hyde_enabled"]
        else f"{usual}"
    )


def _shown(value: object) -> str:
    return "–" if value is None else f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
