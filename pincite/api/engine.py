"""The engine a route works with."""

from typing import Annotated

from fastapi import Depends, Request

from pincite.engine import AsyncPincite


async def _engine(request: Request) -> AsyncPincite:
    engine: AsyncPincite = request.app.state.pincite
    return engine


Engine = Annotated[AsyncPincite, Depends(_engine)]
