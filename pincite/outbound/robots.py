"""What a site asks of programs that fetch its pages: its `robots.txt`, read as RFC 9309 has it."""

from dataclasses import dataclass
from urllib.parse import unquote

MAX_ROBOTS_BYTES = 512 * 1024
"""Bytes of it that are read."""
_MAX_RULES = 10_000


@dataclass(frozen=True, slots=True)
class Robots:
    """Rules for one program: (path pattern, whether it may be fetched); and seconds to wait between two pages."""

    rules: tuple[tuple[str, bool], ...] = ()
    delay_s: float = 0.0

    def allows(self, path: str) -> bool:
        """Whether a path may be fetched: the longest rule that fits decides, and of two the kinder one."""
        plain = unquote(path)
        fitting = [(len(pattern), allowed) for pattern, allowed in self.rules if _matches(pattern, plain)]
        return max(fitting, default=(0, True))[1]


ALLOW_ALL, DENY_ALL = Robots(), Robots((("/", False),))


def read_robots(text: str, agent: str) -> Robots:
    """The rules for a program, by its name; those for all where none names it."""
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
    """Whether a path begins like the pattern; `*` stands for anything, `$` at its end for the path's end."""
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
