"""Pictures of every view of the page, light and dark, wide and narrow: `./run screenshots` makes docs/images anew."""

import io
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Page  # noqa: E402

from pincite.store.embedded.server import EmbeddedServer  # noqa: E402
from tests.api.live_server import LiveServer  # noqa: E402
from tests.page.browser import NARROW, WIDE, Site, launched  # noqa: E402
from tests.page.views import VIEWS, View, furnish, measure, reminisce  # noqa: E402

IMAGES = ROOT / "docs" / "images"
GALLERY = IMAGES / "README.md"
SIZES = {"wide": WIDE, "narrow": NARROW}
QUALITY = 82
SETTINGS = {"cache.enabled": False}


def picture(site: Site, view: View, scheme: str, size: str) -> bytes:
    """One view as a WebP image."""
    reminisce(site)
    login = "" if view.logged_in else None
    options = {"color_scheme": scheme, "viewport": SIZES[size], "device_scale_factor": 1}
    with site.visit(view.path, login=login, expected=("401",), **options) as page:
        view.prepare(page)
        return _webp(page)


def _webp(page: Page) -> bytes:
    page.wait_for_timeout(300)  # whatever still moves
    made = io.BytesIO()
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(made, "webp", quality=QUALITY, method=6)
    return made.getvalue()


def gallery() -> str:
    """The page that shows all pictures."""
    lines = [
        "# The page in pictures",
        "",
        "Made by `./run screenshots` from the sample documents; [what it does](../page.md).",
        "",
    ]
    for view in VIEWS:
        shown = {
            (scheme, size): f"![{view.name}, {scheme}, {size}]({view.name}-{scheme}-{size}.webp)"
            for scheme in ("light", "dark")
            for size in SIZES
        }
        lines += [f"## {view.name.replace('-', ' ').capitalize()}", "", "| light | dark |", "|---|---|"]
        lines += [f"| {shown['light', size]} | {shown['dark', size]} |" for size in SIZES] + [""]
    return "\n".join(lines)


def main(names: list[str]) -> None:
    """Make the pictures of all views, or of those named."""
    IMAGES.mkdir(exist_ok=True)
    chosen = [view for view in VIEWS if not names or view.name in names]
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer.open(Path(folder) / "postgres") as server,
        LiveServer(Path(folder) / "data", **{"database.url": server.url, **SETTINGS}) as door,
        launched() as browser,
    ):
        site = Site(door, browser)
        furnish(site)
        measure(site)
        for view in chosen:
            for scheme in ("light", "dark"):
                for size in SIZES:
                    file = IMAGES / f"{view.name}-{scheme}-{size}.webp"
                    file.write_bytes(picture(site, view, scheme, size))
                    sys.stdout.write(f"{file.relative_to(ROOT)}\n")
    GALLERY.write_text(gallery(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
