"""Stored flows in a terminal."""

from dataclasses import replace

from pincite.cli.view.flows import print_flow, print_flows
from tests.serialize.test_flows import FLOW

from .makers import seen


def test_flows_are_listed_and_none_is_said() -> None:
    assert "pincite flow save NAME FILE" in seen(lambda screen: print_flows(screen, []))
    assert "leave" in seen(lambda screen: print_flows(screen, [FLOW]))


def test_a_flow_is_shown_with_its_versions() -> None:
    shown = seen(lambda screen: print_flow(screen, replace(FLOW, version=2), [replace(FLOW, version=2), FLOW]))
    assert "version 2 of 2" in shown
    assert '"type": "completion"' in shown
    assert "versions: 2 (" in shown
