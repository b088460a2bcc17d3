"""The engine a route works with."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from pincite.engine.app import AsyncPincite


async def _engine(connection: HTTPConnection) -> AsyncPincite:
    engine: AsyncPincite = connection.app.state.pincite
    return engine


Engine = Annotated[AsyncPincite, Depends(_engine)]
