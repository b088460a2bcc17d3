"""Texts that would act if anything took them for markup, for every place where the page shows what others wrote."""

from playwright.sync_api import Page

HOSTILE = (
    "<img src=x onerror=window.ran=1>",
    '"><svg/onload=window.ran=1><b title="onerror',
    "{{constructor.constructor('window.ran=1')()}} <a href=javascript:window.ran=1 onerror=1>x</a>",
    "</textarea><script>window.ran=1</script><iframe srcdoc='<script>parent.ran=1</script>' onerror=1>",
)


def nothing_ran(page: Page) -> None:
    """Neither did a text run, nor did it become an element."""
    assert page.evaluate("window.ran") is None
    assert page.locator("main :is(img, script, iframe, [onerror], [onload])").count() == 0
