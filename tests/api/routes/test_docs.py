"""The browsable description of the API: public, offline, and under a strict policy."""

import re

import httpx2
import pytest

from pincite.api.routes.docs import DOCS_FOLDER, FILES


@pytest.mark.parametrize("path", sorted(FILES))
def test_its_files_are_served_to_anyone_with_a_policy(anyone: httpx2.Client, path: str) -> None:
    response = anyone.get(path)
    assert (response.status_code, response.headers["content-type"]) == (200, FILES[path][1])
    policy = response.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_it_needs_nothing_from_elsewhere() -> None:
    for file in DOCS_FOLDER.iterdir():
        assert not re.search(r"https?://|//cdn|<script>|style=|innerHTML", file.read_text(encoding="utf-8")), file


def test_other_paths_below_it_need_a_key(anyone: httpx2.Client) -> None:
    assert anyone.get("/docs/other").status_code == 401
    assert anyone.get("/docs/../api/v1/documents").status_code == 401
