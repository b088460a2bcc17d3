"""The page's words: the same in both languages, every one used, and none missing."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pincite import errors
from pincite.api.routes.web_ui import release_digest
from pincite.config.schema import _KINDS, catalogue
from tests.api.live_server import completed, upload
from tests.page.browser import Site
from tests.page.views import ask

PAGE = Path(__file__).parent.parent.parent / "pincite" / "page"
SCRIPTS = [path for path in PAGE.rglob("*.js") if "vendor" not in path.parts and path.parent.name != "words"]
ENTRY = re.compile(r'^  "([\w.-]+)":\s*"((?:[^"\\]|\\.)*)",$', re.MULTILINE)
FORMS = re.compile(r"\.(one|other)$")


def words(language: str) -> dict[str, str]:
    return dict(ENTRY.findall((PAGE / "words" / f"{language}.js").read_text(encoding="utf-8")))


def test_both_languages_have_the_same_words_with_the_same_gaps() -> None:
    english, german = words("en"), words("de")
    assert len(english) > 30
    assert list(english) == list(german)
    gaps = {key: set(re.findall(r"\{\w+\}", text)) for key, text in english.items()}
    assert gaps == {key: set(re.findall(r"\{\w+\}", text)) for key, text in german.items()}


def test_every_line_of_the_dictionaries_is_understood() -> None:
    for language in ("en", "de"):
        text = (PAGE / "words" / f"{language}.js").read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if line.strip().startswith('"')]
        assert len(lines) == len(words(language)), "one entry a line, each key once"


def test_every_word_is_used_and_every_word_that_is_used_is_there() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    known = {FORMS.sub("", key) for key in words("en")}
    named = set(re.findall(r'\bt\(\s*"([\w.-]+)"', source))
    quoted = set(re.findall(r'"([\w-]+(?:\.[\w-]+)+)"', source))
    begun = set(re.findall(r"`([\w.-]+\.)\$\{", source))
    assert sorted(named - known) == []
    assert sorted(key for key in known - named - quoted if not key.startswith(tuple(begun))) == []


# --- texts of the service ---------------------------------------------------------------------------------------

PACKAGE = PAGE.parent
TEMPLATE = re.compile(r"^  \[(\".*\")\],$", re.MULTILINE)
OUTSIDE = ("store/operations", "cli", "stub", "api/compat")
"""Parts whose messages the page never shows: backups, the command line."""
OTHER_TEXTS = {"{} ({})", "{}"}
"""Templates that say nothing by themselves."""


def templates() -> dict[str, str]:
    text = (PAGE / "words" / "server.de.js").read_text(encoding="utf-8")
    return dict(json.loads(f"[{row}]") for row in TEMPLATE.findall(text))


def written(node: ast.AST) -> str | None:
    """A text of the source, with `{}` for what is put into it; None where it is not written there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]
    return None


def calls(path: Path, names: Iterable[str]) -> Iterator[ast.Call]:
    """The calls in a file; none where it has no call by one of these names, as most files."""
    text = path.read_text(encoding="utf-8")
    if re.search(rf"\b({'|'.join(names)})\s*\(", text):
        yield from (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


def said_by_the_service() -> Iterator[tuple[str, str]]:
    """Why something was left out of an answer, why a file cannot be read, and why an answer is not sure."""
    places = {"degrade": 1, "Degraded": 1, "Unreadable": 0, "Unsupported": 0, "TooLarge": 0}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(OUTSIDE):
            continue
        for node in calls(path, places):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args[places[called] :] if called in places else []
            if given and (text := written(given[0])):
                yield name, text
    for node in calls(PACKAGE / "query/ground/confidence.py", ["append"]):
        if getattr(node.func, "attr", "") == "append" and (text := written(node.args[0])):
            yield "query/ground/confidence.py", text


def test_what_the_service_says_on_the_page_has_a_german_form() -> None:
    known, said = templates(), list(said_by_the_service())
    assert len(said) > 100
    missing = sorted(
        {f"{where}: {text}" for where, text in said}
        - {f"{where}: {text}" for where, text in said if text in known or text in OTHER_TEXTS}
    )
    shown_elsewhere = [one for one in missing if one.startswith(("api/", "engine/", "mcp/"))]
    assert [one for one in missing if one not in shown_elsewhere] == [], "add them to page/words/server.de.js"


BY_CODE = {"NotAllowed", "Unauthorized", "Overloaded", "Stopping"}
"""Errors for which the page has a text of its own, by their code."""
NOT_ON_THE_PAGE = (
    *("cli/", "stub/", "mcp/", "plugins.py", "api/compat/", "api/embed_server.py", "api/server.py", "api/workers.py"),
    *("api/routes/mcp.py", "api/routes/websocket.py", "api/routes/chat.py", "api/routes/document_pages.py"),
    *("config/sources.py", "config/model_keys.py", "core/accounts/audit.py", "core/query/question.py", "text/"),
    *("engine/asking.py", "engine/diagnose.py", "engine/embedding.py", "engine/maintenance.py", "engine/wiring.py"),
    *("engine/documents.py", "engine/reader/opened_passage.py", "evaluate/measure/", "evaluate/report.py"),
    *("evaluate/questions/answer_sets.py", "evaluate/questions/datasets.py", "evaluate/variants.py"),
    *("evaluate/candidates.py", "ingest/accept/collect.py", "ingest/accept/folder_scan.py", "ingest/embed/"),
    *("models/", "providers/", "outbound/oidc.py", "query/prompt/", "tracing/otlp.py", "store/connect.py"),
    *("store/database.py", "store/embedded/", "store/migrate.py", "store/roles.py", "store/schema.py"),
    *("store/operations/backup", "store/operations/restore", "store/operations/purge", "store/operations/open_bare"),
)
"""Start and stop, the command line, the Python interface, other clients' doors, backups, and files on this machine."""


def error_names() -> set[str]:
    classes = (one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.PinciteError))
    return {one.__name__ for one in classes} - BY_CODE


def errors_on_the_page() -> Iterator[tuple[str, str]]:
    """The messages of errors that a request of the page can raise, with the file that raises them."""
    names = error_names()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(NOT_ON_THE_PAGE):
            continue
        for node in calls(path, names):
            if not node.args:
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in names and (text := written(node.args[0])):
                yield name, text.replace("'{}'", "{}")


def test_every_error_of_the_page_has_a_german_form() -> None:
    known = {text.replace("'{}'", "{}") for text in templates()} | OTHER_TEXTS | {"{} {} {}"}
    said = sorted(set(errors_on_the_page()))
    assert len(said) > 250
    assert [one for one in said if one[1] not in known] == [], "add them to page/words/server.de.js"


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("there is no folder 'hrr'; did you mean 'hr'?", "es gibt keinen Ordner 'hrr'; meinten Sie 'hr'?"),
        ("a password must have 12 to 200 characters", "ein Passwort muss 12 bis 200 Zeichen haben"),
        ("there is no level 'hi'; did you mean 'high'?; there are: high", "es gibt keine Stufe 'hi'; meinten Sie 'high'?; es gibt: high"),
        ("cloud.example.org cannot be reached (timed out)", "cloud.example.org ist nicht erreichbar (timed out)"),
    ],
)  # fmt: skip
def test_an_error_is_told_in_german(site: Site, english: str, german: str) -> None:
    with site.visit("/login", locale="de-DE", login=None) as page:
        expect(page.get_by_label("Passwort")).to_be_visible()
        base = f"/assets/{release_digest()}/common/told.js"
        told = page.evaluate("([path, text]) => import(path).then((found) => found.told(text))", [base, english])
        assert told == german


def test_german_templates_keep_every_part() -> None:
    for english, german in templates().items():
        parts = {f"{{{number + 1}}}" for number in range(english.count("{}"))}
        assert set(re.findall(r"\{\d\}", german)) == parts, english


def test_every_setting_is_described_in_german() -> None:
    text = (PAGE / "words" / "settings.de.js").read_text(encoding="utf-8")
    described = dict(re.findall(r'^  "([\w.]+)": "(.+)",$', text, re.MULTILINE))
    assert sorted(described) == sorted(catalogue()), "add or remove them in page/words/settings.de.js"
    for name, key in catalogue().items():
        assert (
            set(re.findall(r"`[a-z_.]+`", key.description)) - set(re.findall(r"`[a-z_.]+`", described[name])) == set()
        )
    assert set(_KINDS.values()) <= set(templates())


TOLD = """async ([base, texts]) => {
  const { told } = await import(`${base}/common/told.js`);
  return texts.map(told);
}"""


@pytest.fixture(scope="module")
def german(site: Site) -> Site:
    with site.door.client() as client:
        upload(client, "notes.txt", "Die Pumpe wurde im Mai ersetzt.\n", folder="haus")
        upload(client, "empty.csv", ",,\n", folder="haus")
        completed(client, "haus")
    return site


def test_the_german_page_says_nothing_in_english(german: Site) -> None:
    with german.visit("/ask", locale="de-DE") as page:
        ask(page, "Wann wurde die Pumpe ersetzt?")
        trust = page.locator(".trust").inner_text()
        assert "angeführte Quelle" in trust
        assert not re.search(r"\b(cited|relevance|supported|sentence)\b", trust)
        page.goto("/documents")
        expect(page.locator(".document-row .problem")).to_have_text(re.compile("kein Text"))
        page.goto("/settings?q=Sprachmodell")
        expect(page.locator(".settings-group h2").first).to_have_text("Sprachmodell")
        expect(page.locator("#setting-llm\\.max_tokens")).to_contain_text("Höchstlänge einer Antwort")
        shown = page.locator("main").inner_text()
        assert not re.search(r"\b(the|whole number|from the environment|default|model server)\b", shown.lower())
        base = f"/assets/{release_digest()}"
        texts = [
            "2 cited sources, relevance 91%, 1 of 2 sentences supported",
            "a whole number from 1 to 9",
            "unheard of",
        ]
        assert page.evaluate(TOLD, [base, texts]) == [
            "2 angeführte Quellen, Relevanz 91%, 1 von 2 Sätzen belegt",
            "eine ganze Zahl von 1 bis 9",
            "unheard of",
        ]


def test_a_setting_is_found_by_what_it_is_about(german: Site) -> None:
    with german.visit("/settings") as page:
        expect(page.locator(".settings-group h2")).to_have_text(
            ["Language model", "Answers and their checks", "Search", "Documents and indexing", "Conversations and cache",
             "Users, login and limits", "Server, database and logs"]
        )  # fmt: skip
        page.get_by_label("Find a setting").fill("language model")
        expect(page.get_by_label("llm.provider", exact=True)).to_be_visible()
