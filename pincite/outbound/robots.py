"""The rules of a site's `robots.txt` for one user agent; parsed by protego."""

from dataclasses import dataclass

from protego import Protego

MAX_ROBOTS_BYTES = 512 * 1024
"""Maximum size of a robots.txt."""
MAX_DELAY_S = 60.0
"""Maximum delay between two requests that a site may ask for."""


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for a user agent, and the delay between two requests."""

    rules: Protego
    agent: str

    def allows(self, path: str) -> bool:
        """Whether a path may be fetched."""
        return bool(self.rules.can_fetch(path, self.agent))

    @property
    def delay_s(self) -> float:
        """Seconds between two requests."""
        delay = float(self.rules.crawl_delay(self.agent) or 0.0)
        return min(delay, MAX_DELAY_S) if delay > 0 else 0.0


def read_robots(text: str, agent: str) -> Robots:
    """Return the rules for a user agent, or the rules for `*` if no group names it."""
    return Robots(Protego.parse(text), agent)


ALLOW_ALL, DENY_ALL = read_robots("", "*"), read_robots("User-agent: *\nDisallow: /", "*")
