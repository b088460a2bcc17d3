"""Questions to begin with: made from the caller's own documents, and from nobody else's."""

import httpx2

from tests.api.live_server import LiveServer, completed, upload

PATH = "/api/v1/suggestions"
LEASE = "# Lease\n\nThe rent of the warehouse is 4,200 euros a month. The lease begins on 1 June 2025.\n"


def test_a_new_document_gives_a_question_that_it_answers(
    client: httpx2.Client, live_server: LiveServer, folder: str
) -> None:
    made = upload(client, "lease.md", LEASE, folder=folder).json()["document"]["id"]
    completed(client, folder)
    items = client.get(PATH, params={"language": "en"}).json()["items"]
    own = [one for one in items if one["document_id"] == made]
    assert [(one["title"], one["question"][-1]) for one in own][:1] == [("Lease", "?")]
    assert len(items) <= 4
    with live_server.stranger() as stranger:
        assert stranger.get(PATH).json()["items"] == []
