"""A run with an in-memory index, shared with the tests of the stages."""

from tests.query.conftest import make_run

__all__ = ["make_run"]
