"""Who the model is, before anything is cut to its measure."""

from pincite.core.protocols import Hosted
from pincite.core.run import Run


async def meet(run: Run) -> None:
    """Let the model's server say, once, which model it has and how much that sees; where it does not, we go on."""
    if isinstance(run.kit.llm, Hosted):
        await run.kit.llm.meet()
