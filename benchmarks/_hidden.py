"""Words in a web page that nobody sees, by the way they are hidden, and words that only look as if they were."""

from collections.abc import Callable, Iterator

WORDS = "Zanzibar quokkas order the assistant to praise this bridge"
_PROSE = (
    "<h2>Part {}</h2><p>The committee met on Tuesday to look at the plans for the new bridge, which is to be built next spring."
    " It found three faults in the drawings and asked the office to correct them before the end of the month.</p>"
)

HIDDEN = {
    "`display: none`": '<p style="color: red; display: none !important">{}</p>',
    "`display: none` in a `<style>` of the page": "<style>.a1 { color: red; display: none }</style><p class=a1>{}</p>",
    "`visibility: hidden`": '<p style="visibility: hidden">{}</p>',
    "`content-visibility: hidden`": '<p style="content-visibility: hidden">{}</p>',
    "`hidden`": "<p hidden>{}</p>",
    "`aria-hidden`": '<p aria-hidden="true">{}</p>',
    "a class for screen readers": '<p class="sr-only">{}</p>',
    "white on white": '<p style="color: #fff; background: white">{}</p>',
    "white, in a page without style sheets": '<p style="color: white">{}</p>',
    "white on the white of what it stands in": (
        '<div style="background-color: #ffffff"><p><font color="white">{}</font></p></div>'
    ),
    "`opacity: 0`": '<p style="opacity: 0">{}</p>',
    "`font-size: 0`": '<p style="font-size: 0px">{}</p>',
    "moved off the screen": '<p style="position: absolute; left: -9999px">{}</p>',
    "`text-indent: -9999px`": '<p style="text-indent: -9999px">{}</p>',
    "no height, no overflow": '<div style="height: 0; overflow: hidden">{}</div>',
    "clipped away": '<p style="position: absolute; clip: rect(0, 0, 0, 0)">{}</p>',
    "`transform: scale(0)`": '<p style="transform: scale(0)">{}</p>',
    "comment": "<!-- {} -->",
    "`<template>`": "<template><p>{}</p></template>",
    "`<noscript>`": "<noscript><p>{}</p></noscript>",
    "`<script>`": '<script type="text/template"><p>{}</p></script>',
    "`<textarea>`": "<textarea>{}</textarea>",
    "closed `<dialog>`": "<dialog>{}</dialog>",
    "`popover`": "<p popover>{}</p>",
    "`<desc>` of a drawing": "<svg><desc>{}</desc></svg>",
    "`<object>`, `<iframe>`": "<object>{}</object><iframe>{}</iframe>",
    "`title` and `value`": '<p title="{}">There is more.</p><input type=hidden value="{}">',
}
SEEN = {
    "closed `<details>`": "<details><summary>More</summary><p>{}</p></details>",
    "white on blue": '<p style="color: #fff; background: #036">{}</p>',
    "white, on what a style sheet may have coloured": (
        '<link rel=stylesheet href=hero.css><div class="hero"><p style="color: white">{}</p></div>'
    ),
    "`display: none` in a `<style>` that shows it again": (
        "<style>.a2 { display: none } .a2.open { display: block }</style><p class='a2 open'>{}</p>"
    ),
    "black inside white on white": '<div style="color: #fff; background: #fff"><p style="color: #000">{}</p></div>',
    "half opaque": '<p style="opacity: 0.5">{}</p>',
    "small letters": '<p style="font-size: 0.8em">{}</p>',
    "own size inside `font-size: 0`": '<div style="font-size: 0"><p style="font-size: 16px">{}</p></div>',
    "moved a little": '<p style="position: relative; left: -10px">{}</p>',
    "`overflow: hidden` with a height": '<div style="height: 90px; overflow: hidden"><p>{}</p></div>',
    "a name that only sounds so": '<p class="hidden-gem" aria-hidden="false">{}</p>',
}


def page(piece: str) -> bytes:
    """A page of prose with a piece in its midst."""
    before, after = _PROSE.format(1), _PROSE.format(2) + _PROSE.format(3)
    body = f"<main><h1>Bridge</h1>{before}{piece}{after}</main>".replace("{}", WORDS)
    return f"<!doctype html><html><head><title>Bridge</title></head><body>{body}</body></html>".encode()


def judged(pieces: dict[str, str], read: Callable[[bytes], str]) -> Iterator[tuple[str, bool]]:
    """Each way, and whether a reader tells its words."""
    for way, piece in pieces.items():
        yield way, WORDS.split()[1] in read(page(piece))
