"""Compare the index in use with the new or standby index on the same questions, before a switch."""

from collections.abc import Mapping, Sequence

from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller, require
from pincite.core.evaluations import EvaluationSet, SetQuestion
from pincite.core.query.question import Filters, Question
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid
from pincite.evaluate.compare import Comparison, Trial
from pincite.evaluate.questions.own_documents import rank_of, scores
from pincite.evaluate.runner import Report, Response, ask_all, count_notes

INDEX_LABELS = {"building": "built", "standby": "standing by"}


async def compare_indexes(
    pincite: AsyncPincite, questions: EvaluationSet, *, caller: Caller = LOCAL, report: Report
) -> Comparison:
    """Run the questions of a set on both indexes alternately, so that ranks and times are paired.

    The other index is searched with the settings it was built with.
    """
    require(caller, "administer")
    other = await pincite.admin.index.complete()
    settings, _, _ = await pincite.admin.index.tools_for(other.id)
    standing = await pincite.admin.index.status()
    searched = next(one for one in standing.all if one.state == "serving")
    asked = [one for one in questions.questions if one.current]
    if not asked:
        raise Invalid("all documents of the set have changed since it was created; create a new set (renew)")
    both = {"searched": (searched.signature, pincite.settings), INDEX_LABELS[other.state]: (other.signature, settings)}
    responses = await _ask_both(pincite, asked, both, caller, report)
    documents = len({one.place.document_id for one in asked})
    trials = tuple(_trial(name, asked, found) for name, found in responses.items())
    return Comparison(f"your set {questions.version}", documents, len(asked), trials)


async def _ask_both(
    pincite: AsyncPincite,
    asked: Sequence[SetQuestion],
    both: Mapping[str, tuple[str, Settings]],
    caller: Caller,
    report: Report,
) -> dict[str, list[Response]]:
    asking = {}
    for name, (signature, settings) in both.items():
        texts = [Question(one.text, filters=Filters(index=signature)) for one in asked]
        asking[name] = ask_all(pincite, texts, settings, caller=caller, report=report)
    found: dict[str, list[Response]] = {name: [] for name in both}
    for _ in asked:
        for name, responses in asking.items():
            found[name].append(await anext(responses))
    return found


def _trial(name: str, asked: Sequence[SetQuestion], found: Sequence[Response]) -> Trial:
    ranks = [rank_of(question, response.hits) for question, response in zip(asked, found, strict=True)]
    values = {measure: tuple(one) for measure, one in scores(ranks).items()}
    notes = count_notes(note for response in found for note in response.notes)
    return Trial(name, values, tuple(response.ms for response in found), notes)
