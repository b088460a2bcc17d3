import json

from pincite import Pincite
from pincite.adapters.passages import find_passages, passage_metadata


def test_passages_have_their_place_and_scores_as_plain_values(library: Pincite) -> None:
    [hit] = find_passages(library, "vacation days", {"folder": "hr"})
    told = passage_metadata(hit)
    assert json.loads(json.dumps(told)) == told
    assert (told["document_name"], told["folder"], told["start_line"]) == ("leave.md", "hr", 1)
    assert told["score"] == hit.score
