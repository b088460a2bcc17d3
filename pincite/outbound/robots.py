"""Parse a `robots.txt` according to RFC 9309, with Crawl-delay."""

from dataclasses import dataclass
from urllib.parse import unquote

MAX_ROBOTS_BYTES = 512 * 1024
"""Maximum size of a robots.txt."""

_MAX_RULES = 10_000


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for one user agent: (path pattern, whether it is allowed), and the delay between two requests."""

    rules: tuple[tuple[str, bool], ...] = ()
    delay_s: float = 0.0

    def allows(self, path: str) -> bool:
        """Whether a path may be fetched: the longest matching rule decides; at equal length, `allow` wins."""
        plain = unquote(path)
        fitting = [(len(pattern), allowed) for pattern, allowed in self.rules if _matches(pattern, plain)]
        return max(fitting, default=(0, True))[1]


ALLOW_ALL, DENY_ALL = Robots(), Robots((("/", False),))


def read_robots(text: str, agent: str) -> Robots:
    """Return the rules for a user agent, or the rules for `*` if no group names it."""
    own: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    named: set[str] = set()
    known = listing = False
    for line in text.splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if name == "user-agent":
            named = {value.lower()} | (named if listing else set())
            listing = True
            known = known or agent.lower() in named
        elif colon and name in ("allow", "disallow", "crawl-delay"):
            listing = False
            if agent.lower() in named:
                own.append((name, value))
            elif "*" in named:
                others.append((name, value))
    return _rules(own if known else others)


def _rules(lines: list[tuple[str, str]]) -> Robots:
    paths = [(unquote(value), name == "allow") for name, value in lines if name != "crawl-delay" and value]
    delays = [value for name, value in lines if name == "crawl-delay"]
    return Robots(tuple(paths[:_MAX_RULES]), max(map(_seconds, delays), default=0.0))


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return min(value, 60.0) if value > 0 else 0.0


def _matches(pattern: str, path: str) -> bool:
    """Whether a path matches a pattern: a prefix in which `*` is a wildcard and a final `$` anchors the end."""
    whole = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    if whole and not others:
        return at == len(path)
    last = others.pop() if whole else ""
    for part in others:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return not whole or (path.endswith(last) and len(path) - len(last) >= at)
