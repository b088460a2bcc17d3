"""The search bench and evaluation: configurations side by side, marks that are kept, runs drawn with their intervals."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.evaluate.makers import CORPUS, write_answer_set
from tests.page.attacks import NAMES, unharmed
from tests.page.browser import Site, unreadable
from tests.page.views import run_set

FILES = {
    "leave": "# Leave\n\nUnused leave days expire on 31 March. Leave is asked for in the calendar of the team.\n",
    "days": "# Counting days\n\nThe office closes on Fridays. Days of leave are counted by the payroll every month.\n",
    "canteen": "# Canteen\n\nThe canteen serves soup and bread on days when the office is open for everybody.\n",
    "hostile": "# Rain\n\nRain falls on " + " and ".join(NAMES) + " days of leave.\n",
}
QUESTION = "leave days"


@pytest.fixture(scope="module", autouse=True)
def filled(site: Site) -> None:
    """Documents to search."""
    site.door.add("bench", **FILES)


def columns(page: Page) -> list[list[str]]:
    expect(page.locator(".column .results")).to_have_count(page.locator(".column").count())
    return [column.locator(".result header a").all_inner_texts() for column in page.locator(".column").all()]


def test_two_configurations_stand_side_by_side_and_marks_are_kept(site: Site) -> None:
    with site.visit("/bench", expected=("422",)) as page:
        page.get_by_label("One question").fill(QUESTION)
        first, second = page.get_by_role("group", name="Configuration").all()
        first.get_by_label("Settings").fill("rag.top_k=3")
        second.get_by_label("Strategy").select_option("lexical_only")
        second.get_by_label("Settings").fill("rag.top_k=2")
        page.get_by_role("button", name="Search", exact=True).click()
        found, other = columns(page)
        assert (len(found), len(other)) == (3, 2)
        expect(page.locator(".column").nth(1)).to_contain_text("missing here")
        page.locator(".score > summary").first.click()
        path = page.locator(".path").first
        amounts = [float(text.replace("+", "")) for text in path.locator(".amount").all_inner_texts()]
        assert sum(amounts[:-2]) == pytest.approx(amounts[-1], abs=3e-4), "the shares add up to the score"
        page.get_by_role("button", name="Mark result 2 as relevant").first.click()
        expect(page.get_by_text("1 passage marked and saved")).to_be_visible()
        page.get_by_role("button", name="Mark result 1 as relevant").first.click()
        expect(page.get_by_text("2 passages marked and saved")).to_be_visible()
        with site.door.client() as client:
            [kept] = [one for one in client.get("/api/v1/evaluation-sets").json()["items"] if one["made_by"] == "hand"]
            [question] = client.get(f"/api/v1/evaluation-sets/{kept['id']}").json()["items"]
            assert (question["text"], question["kind"], len(question["also"])) == (QUESTION, "marked", 1)
        page.reload()
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.get_by_text("2 passages marked and saved")).to_be_visible()
        page.get_by_role("button", name="Unmark result 1").first.click()
        expect(page.get_by_text("1 passage marked and saved")).to_be_visible()
        second.get_by_label("Settings").fill("rag.top_k=none")
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.locator(".column").nth(1).get_by_role("alert")).to_contain_text("rag.top_k")
        expect(page.locator(".column").first.locator(".result").first).to_be_visible()


def test_what_documents_hold_does_not_run(site: Site) -> None:
    with site.visit("/bench?q=rain") as page:
        expect(page.locator(".snippet").first).to_contain_text("attacked")
        unharmed(page)


def test_a_set_is_run_followed_drawn_and_compared(site: Site) -> None:
    with site.visit("/evaluation") as page:
        page.get_by_label("Set", exact=True).select_option("")
        page.get_by_label("Questions").fill("6")
        page.get_by_role("button", name="Run", exact=True).click()
        row = page.get_by_role("region", name="Runs").locator("tbody tr")
        expect(row.first).to_contain_text("Done")
        with site.door.client() as client:
            run_set(client, settings={"rag.alpha": 1.0})
        page.reload()
        expect(row).to_have_count(2)
        expect(page.get_by_role("img", name="Results of the runs of set").locator("canvas")).to_be_visible()
        row.nth(0).get_by_role("checkbox").check()
        row.nth(1).get_by_role("checkbox").check()
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_text("Compared on 6 questions")).to_be_visible()
        expect(page.get_by_role("row", name="nDCG@10").locator(".badge")).to_be_visible()
        for name in ("Metrics", "Rank of the first relevant passage", "Calibration of relevance"):
            expect(page.get_by_role("img", name=name).locator("canvas")).to_be_visible()
            assert drawn(page, name), f"nothing is drawn: {name}"
        expect(page.get_by_role("region", name="Questions, worst first").locator("tbody tr")).to_have_count(6)


def test_answers_are_judged_and_shown_by_kind(site: Site, tmp_path: Path) -> None:
    write_answer_set(tmp_path / "set")
    site.door.add("answers", **{key: f"# {title}\n\n{text}\n" for key, (title, text) in CORPUS.items()})
    with site.visit("/evaluation") as page:
        wrong = tmp_path / "wrong.jsonl"
        wrong.write_text("{", encoding="utf-8")
        page.locator("[data-import]").set_input_files(wrong)
        expect(page.get_by_text("Line 1 of the file is not JSON.")).to_be_visible()
        page.locator("[data-import]").set_input_files(tmp_path / "set" / "questions.jsonl")
        expect(page.get_by_role("status").get_by_text("with 5 questions")).to_be_visible()
        sets = page.get_by_role("region", name="Question sets")
        expect(sets.locator("tbody tr").first).to_contain_text("answers")
        with site.door.client() as client:
            [kept] = [one for one in client.get("/api/v1/evaluation-sets").json()["items"] if one["tests"] == "answers"]
            first = run_set(client, set_id=kept["id"])
            second = run_set(client, set_id=kept["id"], settings={"rag.top_k": 2})
        page.goto(f"{site.url}/evaluation/{first}")
        table = page.get_by_role("region", name="Answers")
        expect(table.get_by_role("row", name="All questions")).to_contain_text("5")
        expect(table.get_by_role("row", name="unanswerable")).to_contain_text("100%")
        assert unreadable(page) == []
        page.goto(f"{site.url}/evaluation/{second}?against={first}")
        differences = page.get_by_role("region", name="Metrics")
        expect(differences.get_by_role("row", name="Wrongly refused").locator(".badge")).to_be_visible()
        expect(page.get_by_role("region", name="Questions, worst first").locator("tbody tr")).to_have_count(5)
        page.get_by_role("link", name=f"Set {kept['version']}").click()
        expect(page.get_by_role("row", name="wifi password")).to_contain_text("refusal")


def test_settings_are_tuned_and_the_change_is_applied_after_confirmation(site: Site) -> None:
    trees = "alder birch cedar dogwood elm fir ginkgo hazel ivy juniper".split()
    site.door.add("trees", **{tree: f"# {tree}\n\nThe zq{tree} rule is number {n}.\n" for n, tree in enumerate(trees)})
    rows = [
        {"q": f"What is the zq{tree} rule{mark}", "gold": [[f"number {n}"]]}
        for n, tree in enumerate(trees)
        for mark in ("?", " again?")
    ]
    with site.door.client() as client:
        kept = client.post("/api/v1/evaluation-sets", json={"questions": rows}).json()
        client.put("/api/v1/settings", json={"guard.max_query_chars": 5}).raise_for_status()
        wish = {"set_id": kept["id"], "candidates": ["guard.max_query_chars=200"], "only": True}
        client.post("/api/v1/tunings", json=wish).raise_for_status()
    with site.visit("/evaluation") as page:
        expect(page.get_by_role("heading", name="Proposed change")).to_be_visible(timeout=60_000)
        assert unreadable(page) == []
        page.get_by_text("Show all 1 changes tried").click()
        expect(page.get_by_role("row", name="guard.max_query_chars=200")).to_contain_text("Better")
        page.get_by_role("button", name="Apply the change").click()
        page.get_by_role("dialog").get_by_role("button", name="Apply the change").click()
        expect(page.get_by_text("The change is applied")).to_be_visible()
        page.goto(f"{site.url}/settings/history")
        expect(page.locator(".batches li").first).to_contain_text("200")
    with site.door.client() as client:
        assert client.get("/api/v1/settings").json()["values"]["guard.max_query_chars"] == 200
        client.put("/api/v1/settings", json={"guard.max_query_chars": None}).raise_for_status()


def drawn(page: Page, name: str) -> bool:
    """Whether a plot holds anything in the colour of its points."""
    script = """(canvas) => {
      const probe = document.body.appendChild(document.createElement("span"));
      probe.style.color = "var(--accent)";
      const ink = getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).map(Number);
      probe.remove();
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let at = 0; at < data.length; at += 4) if (ink.every((part, place) => data[at + place] === part)) found += 1;
      return found;
    }"""
    return bool(page.get_by_role("img", name=name).locator("canvas").evaluate(script) > 20)
