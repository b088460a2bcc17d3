"""Types of the fields that clients send, shared by HTTP bodies and MCP tools."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pincite.config.messages import closest
from pincite.core.query.pictures import MAX_PICTURE_BYTES
from pincite.core.times import ACCEPTED_FORMS, parse_time


def _whole(text: str) -> str:
    """Half of a surrogate pair is a JSON string and no text: nothing could store or print it."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("half a surrogate pair is not a character")
    return text


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character cannot be stored or searched for")
    return text


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"should be {ACCEPTED_FORMS}")
    return parse_time(value)


Words = Annotated[str, AfterValidator(_whole)]
"""What somebody asks or wants embedded; whether it may be asked is for the engine to say."""
Name = Annotated[Words, AfterValidator(_no_nul)]
Text = Annotated[Name, Field(max_length=2000)]
Tag = Annotated[Name, Field(max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
DocumentId = Annotated[Name, Field(min_length=1, max_length=100)]
Levels = Annotated[list[Literal[0, 1, 2]], Field(min_length=1, max_length=10)]
"""What results shall be: documents (0), sections (1), passages (2)."""
Moment = Annotated[datetime, BeforeValidator(_moment)]
"""A time, or a date, which means its end."""
Image = Annotated[str, Field(max_length=MAX_PICTURE_BYTES * 4 // 3 + 200)]
"""A data URL."""
DocumentIds = Annotated[list[DocumentId], Field(max_length=1000)]


class Body(BaseModel):
    """A JSON object: a field nobody knows is refused by name."""

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
    """Which document, by id or by source address, and which part of it."""

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
