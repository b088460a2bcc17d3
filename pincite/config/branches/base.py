"""What the branches of the settings share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class Branch(BaseModel):
    """A frozen branch; a key that nobody knows is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
