"""A scripted model server for tests, with fault injection; shipped for users' own tests."""

from pincite.stub.call_log import Call
from pincite.stub.script import Line, Script, ToolCall, load_script
from pincite.stub.server import StubServer
from pincite.stub.thread import StubLLM

__all__ = ["Call", "Line", "Script", "StubLLM", "StubServer", "ToolCall", "load_script"]
