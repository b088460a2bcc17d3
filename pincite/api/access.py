"""Who may read something, as a request says it."""

from typing import Annotated

from pydantic import Field

from pincite.api.options import Body, Name
from pincite.store.rights import Wish

Named = Annotated[list[Annotated[Name, Field(min_length=1, max_length=100)]], Field(max_length=1000)]


class AccessBody(Body):
    """Who may read besides the owner: users and groups by id or name, or everyone who may come in."""

    users: Named = Field(default=[])
    groups: Named = Field(default=[])
    everyone: bool = False

    def wish(self) -> Wish:
        """The same for the engine."""
        return Wish(tuple(dict.fromkeys(self.users)), tuple(dict.fromkeys(self.groups)), self.everyone)
