"""Unknown paths: a page for browsers, a problem for programs."""

import httpx2

from pincite.api.routes import web_ui
from tests.api.live_server import assert_problem


def test_an_unknown_path_is_a_page_for_browsers_and_a_problem_for_programs(anyone: httpx2.Client) -> None:
    shown = anyone.get("/no/such", headers={"Accept": "text/html,*/*;q=0.8"})
    assert (shown.status_code, shown.text) == (404, web_ui.index_page().body.decode())
    for path in ("/no/such", "/api/v1/no/such", "/v1/no"):
        assert anyone.get(path).headers["content-type"] != "text/html; charset=utf-8"
    assert_problem(anyone.get("/api/v1/no/such", headers={"Accept": "text/html"}), 401, "unauthorized")
