"""Parts of an answer in the form of OpenAI's API: annotations, finish reason, usage and warnings."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pincite.api.compat.openai_requests import MODEL_NAME
from pincite.serialize.answers import footnotes
from pincite.serialize.primitives import Json
from pincite.text.tokens import Tokenizer

EXTRA_FIELDS = ("sources", "citations", "confidence", "suggested_questions", "warnings", "degraded")
"""Fields of an answer that a completion has in addition to OpenAI's."""
_FINISH_REASONS = {
    "length": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "incomplete": "length",
}
"""OpenAI's finish reasons for answers that are not complete."""
EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """What a client asked for that matters for the form of its answer.

    `base_url` is the address of this server. `warnings` are about options that are ignored.
    """

    model: str
    created: int
    base_url: str
    max_tokens: int | None
    stop: tuple[str, ...]
    warnings: tuple[str, ...]

    def warnings_for(self, answer: Json) -> list[str]:
        """The warnings of the answer and those about options that had no effect on it."""
        warnings = [*answer["warnings"], *self.warnings]
        if answer["metadata"]["model"] != EXTRACTIVE:
            return warnings
        if self.model.partition(":")[0] != MODEL_NAME:
            warnings.append(
                f"no language model answered: '{self.model[:100]}' is not configured here; {MODEL_NAME} did"
            )
        if self.max_tokens is not None and Tokenizer().count(answer["answer"]) > self.max_tokens:
            warnings.append("max_tokens: an answer made of quoted sentences is not cut")
        if any(one in answer["answer"] for one in self.stop):
            warnings.append("stop: an answer made of quoted sentences is not cut")
        return warnings

    def model_of(self, answer: Json) -> str:
        """The name of the model that answered; this server's own where no language model did."""
        own = answer["metadata"]["model"] in (None, EXTRACTIVE) and self.model.partition(":")[0] != MODEL_NAME
        return MODEL_NAME if own else self.model

    def extras(self, answer: Json) -> Json:
        """The fields of the answer that OpenAI's API does not have."""
        return {name: answer[name] for name in EXTRA_FIELDS} | {"warnings": self.warnings_for(answer)}

    def annotations(self, answer: Json) -> list[Json]:
        """One URL citation for each citation mark that names a source; the offsets are those of the answer's text."""
        sources = {source["number"]: source for source in answer["sources"]}
        return [
            {
                "type": "url_citation",
                "start_index": one["start"],
                "end_index": one["end"],
                "url": self._url(sources[one["source"]]),
                "title": sources[one["source"]]["title"],
            }
            for one in answer["citations"]
            if one["source"] in sources
        ]

    def _url(self, source: Json) -> str:
        """The address of the source: its own, or its document on the page of this server."""
        return str(source["urls"][0] if source["urls"] else f"{self.base_url}documents/{source['document_id']}")


def nested(annotations: Sequence[Json]) -> list[Json]:
    """Annotations as a chat completion has them: the citation is an object of its own."""
    return [
        {"type": one["type"], one["type"]: {key: value for key, value in one.items() if key != "type"}}
        for one in annotations
    ]


def text_of(answer: Json) -> str:
    """The text of the answer with its footnotes."""
    return str(answer["answer"] + footnotes(answer))


def replacement(answer: Json) -> str:
    """What follows the streamed text of a model that the answer replaces: the warning and the answer itself."""
    model = answer["metadata"].get("replaced_model")
    warning = next((one for one in answer["warnings"] if model and model in one), "")
    return f"\n\n---\n\n**{warning}**\n\n{answer['answer']}" if warning else ""


def rest_of(answer: Json, sent: str) -> str:
    """What remains to be sent of the text and its footnotes, after the parts that were streamed."""
    text = answer["answer"]
    return (text[len(sent) :] if text.startswith(sent) else replacement(answer)) + footnotes(answer)


def shifted(annotations: Sequence[Json], answer: Json, sent: str) -> list[Json]:
    """Annotations of a streamed answer: their offsets count from where the final text begins."""
    if answer["answer"].startswith(sent):
        return list(annotations)
    start = len(sent) + len(replacement(answer)) - len(answer["answer"])
    if not replacement(answer):
        return []
    return [
        {**one, "start_index": one["start_index"] + start, "end_index": one["end_index"] + start} for one in annotations
    ]


def finish_reason(answer: Json) -> str:
    """OpenAI's finish reason of an answer."""
    return _FINISH_REASONS.get(answer["metadata"]["finish_reason"] or "", "stop")


def usage(answer: Json) -> dict[str, int] | None:
    """The token usage; zero when no model was used, None when the model did not report it."""
    metadata = answer["metadata"]
    if metadata["usage"] is None and metadata["model"] not in (None, EXTRACTIVE):
        return None
    used = metadata["usage"] or {"prompt_tokens": 0, "completion_tokens": 0}
    return {**used, "total_tokens": used["prompt_tokens"] + used["completion_tokens"]}


def sse_data(value: Any, event: str = "") -> bytes:
    """One server-sent event, as OpenAI's clients read it."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
