"""A primary that is killed under load: the replica takes over, and nothing acknowledged is lost."""

import pytest

from benchmarks._cluster import check, running
from benchmarks._machines import place


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_killed_primary_loses_nothing_that_was_acknowledged() -> None:
    with place() as folder, running(folder, None, servers=1, workers=1, clients=2) as (cluster, clients):
        clients.wait_for(3)
        promoted = cluster.make("kill primary")
        clients.wait_for(3, promoted)
        with cluster.client(0) as client:
            assert client.get("/api/v1/health/ready").status_code == 200
        clients.stop()
        assert len(clients.acknowledged) >= 6
        assert check(cluster, clients.acknowledged) == {"lost": 0, "half-indexed": 0, "doubled": 0}
        assert not [why for why in clients.refused if why.startswith("500")]
