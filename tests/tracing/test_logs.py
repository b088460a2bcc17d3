"""Log lines: one an event, with the request they belong to, and nothing that could forge another."""

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from pincite.config.branches.server import Logs
from pincite.core.request_context import request_id
from pincite.tracing.logs import configure_logging


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What is logged."""
    yield io.StringIO()
    request_id.set("")


log = logging.getLogger("pincite.somewhere")


def test_a_readable_line_has_time_level_place_request_and_message(written: io.StringIO) -> None:
    with configure_logging(Logs(), written):
        log.info("before any request")
        request_id.set("abcdefgh")
        log.warning("%s is down", "the embedder")
        log.debug("too small to tell")
        first, second = written.getvalue().splitlines()
        assert re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO    pincite\.somewhere before any request", first
        )
        assert second.endswith("WARNING pincite.somewhere [abcdefgh] the embedder is down")


def test_a_json_line_is_an_object_with_known_names(written: io.StringIO) -> None:
    with configure_logging(Logs(format="json"), written):
        request_id.set("abcdefgh")
        log.info("done", extra={"status": 200, "ms": 1.5, "secret": "x"})
        told = json.loads(written.getvalue())
        assert re.fullmatch(r".*Z", told.pop("time"))
        assert told == {
            "level": "info",
            "logger": "pincite.somewhere",
            "request_id": "abcdefgh",
            "message": "done",
            "status": 200,
            "ms": 1.5,
        }


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_can_break_a_line_or_steer_a_terminal(written: io.StringIO, form: str) -> None:
    with configure_logging(Logs.model_validate({"format": form}), written):
        log.warning("a\nb\r\x1b[31mred\u2028\u202e\x9b")
        line = written.getvalue()
        assert line.count("\n") == 1
        assert line.endswith("\n")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", line)


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_error_is_told_by_its_name_and_place_and_not_by_its_words(written: io.StringIO, form: str) -> None:
    with configure_logging(Logs.model_validate({"format": form}), written):
        try:
            raise ValueError("a canary")
        except ValueError:
            log.exception("it failed")
        assert re.search(r"it failed \(ValueError at test_logs\.py:\d+\)", written.getvalue())
        assert "canary" not in written.getvalue()


@pytest.mark.parametrize("form", ["text", "json"])
def test_debug_logs_the_traceback(written: io.StringIO, form: str) -> None:
    with configure_logging(Logs.model_validate({"format": form, "level": "debug"}), written):
        try:
            raise ValueError("a canary")
        except ValueError:
            log.exception("it failed")
        assert "ValueError: a canary" in written.getvalue()


def test_other_handlers_stay_and_libraries_are_quiet(written: io.StringIO) -> None:
    other = logging.NullHandler()
    logging.getLogger().addHandler(other)
    with configure_logging(Logs(), written):
        logging.getLogger("some.library").info("chatter")
        assert other in logging.getLogger().handlers
        assert len([handler for handler in logging.getLogger().handlers if type(handler) is logging.StreamHandler]) == 1
        assert written.getvalue() == ""
    assert other in logging.getLogger().handlers
    assert not [one for one in logging.getLogger().handlers if getattr(one, "stream", None) is written]
    logging.getLogger().removeHandler(other)
