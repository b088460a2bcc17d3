"""The base class and the types that all branches of the settings share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
"""A number from 0 to 1."""


class Branch(BaseModel):
    """A frozen branch of the settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
