from datetime import UTC, datetime

from pincite.core.operations import StoredFlow
from pincite.serialize.flows import stored_flow_json

FLOW = StoredFlow("leave", 1, 2, datetime(2026, 1, 2, tzinfo=UTC), {"nodes": [{"id": "a", "type": "completion"}]})


def test_a_stored_flow_has_its_definition_only_if_wanted() -> None:
    listed = {"name": "leave", "version": 1, "versions": 2, "created_at": "2026-01-02T00:00:00Z", "nodes": 1}
    assert stored_flow_json(FLOW, whole=False) == listed
    assert stored_flow_json(FLOW) == listed | {"definition": {"nodes": [{"id": "a", "type": "completion"}]}}
