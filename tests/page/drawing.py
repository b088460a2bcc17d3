"""Markdown drawn by the page itself, and what of it could act."""

from typing import Any

from playwright.sync_api import Page

Drawn = tuple[str, list[list[str]]]
"""What a text became: its HTML, and its elements, each a name and its attributes."""
TAGS = frozenset(
    "p a code pre span br hr div h3 h4 h5 h6 ul ol li em strong del blockquote table thead tbody tr th td sup sub".split()
)
ATTRIBUTES = frozenset({"href", "rel", "target", "tabindex", "class", "start", "align", "data-number"})
SHOW = """async ([base, texts, options]) => {
  const { rendered } = await import(`${base}/common/markdown.js`);
  const made = [];
  for (const text of texts) {
    const box = document.createElement('div');
    box.append(rendered(text, options));
    document.body.append(box);
    const elements = [...box.querySelectorAll('*')].map((one) =>
      [one.tagName.toLowerCase(), ...one.getAttributeNames().map((name) => `${name}=${one.getAttribute(name)}`)]);
    made.push([box.innerHTML, elements]);
    box.remove();
  }
  return made;
}"""


def show(page: Page, base: str, *texts: str, **options: Any) -> list[Drawn]:
    """What texts become on the page."""
    found: list[Drawn] = page.evaluate(SHOW, [base, list(texts), options])
    return found


def acting(drawn: Drawn) -> list[str]:
    """What of it is more than words: elements, attributes and addresses that text has no use for."""
    wrong = []
    for name, *attributes in drawn[1]:
        wrong += [name] * (name not in TAGS)
        for attribute in attributes:
            key, _, value = attribute.partition("=")
            wrong += [attribute] * (key not in ATTRIBUTES)
            wrong += [attribute] * (key == "href" and not value.startswith(("http://", "https://", "mailto:")))
            wrong += [attribute] * (key == "class" and value not in ("cite", "table"))
    return wrong
