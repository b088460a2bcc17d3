"""A run with an index in memory, as the stages' own tests have it."""

from tests.query.conftest import make_run

__all__ = ["make_run"]
