"""Source numbers as printed: 1, 2, 3 … in the order in which the answer cites them."""

import re
from collections.abc import Mapping
from dataclasses import replace

from pincite.core.query.answer import Answer

SOURCE_MARK = re.compile(r"\[Source (\d+)\]")


def renumber(answer: Answer, printed: Mapping[int, int] | None = None) -> Answer:
    """Return the answer with its sources and citations numbered as printed: cited ones first, without gaps.

    `printed` are numbers that a streamed text has already shown, by the source's own number.
    """
    cited = [one.source for one in sorted(answer.citations, key=lambda one: one.start) if one.source is not None]
    order = dict.fromkeys([*(printed or ()), *cited, *(source.number for source in answer.sources)])
    numbers = {number: place for place, number in enumerate(order, 1)}

    def renumbered(text: str) -> str:
        return SOURCE_MARK.sub(lambda mark: f"[{numbers.get(int(mark[1]), mark[1])}]", text)

    sources = [replace(one, number=numbers[one.number]) for one in answer.sources]
    conflicts = [
        replace(
            one,
            statements=tuple(replace(each, source=numbers.get(each.source, each.source)) for each in one.statements),
        )
        for one in answer.context_sufficiency.conflicts
    ]
    return replace(
        answer,
        sources=tuple(sorted(sources, key=lambda one: one.number)),
        citations=tuple(
            one if one.source is None else replace(one, source=numbers[one.source]) for one in answer.citations
        ),
        warnings=tuple(map(renumbered, answer.warnings)),
        context_sufficiency=replace(answer.context_sufficiency, conflicts=tuple(conflicts)),
    )
