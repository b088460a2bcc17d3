"""Field types of requests, shared by HTTP bodies and MCP tools."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pincite.config.messages import closest
from pincite.core.query.pictures import MAX_PICTURE_BYTES
from pincite.core.times import ACCEPTED_FORMS, parse_time


def _no_surrogates(text: str) -> str:
    """Refuse lone surrogates: valid in a JSON string, but they can be neither stored nor printed."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("the text contains half a surrogate pair, which is not a character")
    return text


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character cannot be stored or searched for")
    return text


def _parse_time(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"should be {ACCEPTED_FORMS}")
    return parse_time(value)


Words = Annotated[str, AfterValidator(_no_surrogates)]
"""A question or a text to embed; the engine checks its length and content."""
Name = Annotated[Words, AfterValidator(_no_nul)]
Text = Annotated[Name, Field(max_length=2000)]
Tag = Annotated[Name, Field(max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
DocumentId = Annotated[Name, Field(min_length=1, max_length=100)]
Levels = Annotated[list[Literal[0, 1, 2]], Field(min_length=1, max_length=10)]
"""Levels of results: documents (0), sections (1), passages (2)."""
Moment = Annotated[datetime, BeforeValidator(_parse_time)]
"""A time, or a date, which means the end of that day."""
Image = Annotated[str, Field(max_length=MAX_PICTURE_BYTES * 4 // 3 + 200)]
"""An image as a data URL."""
DocumentIds = Annotated[list[DocumentId], Field(max_length=1000)]


class Body(BaseModel):
    """A JSON object; an unknown field is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_only(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError("send a JSON object, with Content-Type: application/json")
        for name in data:
            if name not in cls.model_fields:
                raise ValueError(_unknown(name, list(cls.model_fields)))
        return data


def _unknown(name: str, known: list[str]) -> str:
    shown = name[:100].encode(errors="replace").decode()
    close = closest(shown, known)
    hint = f"did you mean '{close}'?" if close else f"there are: {', '.join(known)}"
    return f"there is no option '{shown}'; {hint}"


Line = Annotated[int, Field(ge=1, le=2**31)]


class ReadBody(Body):
    """A document, by id or by source URI, and the part of it to read."""

    doc_id: DocumentId | None = None
    source_uri: Text | None = None
    section: Text | None = None
    start_line: Line | None = None
    end_line: Line | None = None
    version: DocumentId | None = None

    @model_validator(mode="after")
    def _one_document(self) -> "ReadBody":
        if (self.doc_id is None) == (self.source_uri is None):
            raise ValueError("send either doc_id or source_uri")
        return self
