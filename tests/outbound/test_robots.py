"""What a site asks of programs."""

import time

import pytest

from pincite.outbound.robots import ALLOW_ALL, DENY_ALL, read_robots

SITE = """\
User-agent: *
Disallow: /private/   # not this
Allow: /private/open
Disallow: /*.zip$
Crawl-delay: 2

User-agent: OtherBot
User-agent: Pincite
Disallow: /only-for-us
Allow: /
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/private/x", False),
        ("/private/open/x", True),
        ("/a.zip", False),
        ("/a.zip?x", True),
        ("/%70rivate/x", False),
    ],
)
def test_the_longest_rule_decides(path: str, allowed: bool):
    assert read_robots(SITE, "somebody").allows(path) is allowed


def test_rules_for_a_program_replace_those_for_all():
    robots = read_robots(SITE, "pincite")
    assert robots.allows("/private/x")
    assert not robots.allows("/only-for-us/x")
    assert (robots.delay_s, read_robots(SITE, "x").delay_s) == (0.0, 2.0)


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("Disallow:", "/x", True),
        ("Disallow: /", "/x", False),
        ("Disallow: /a*b*c", "/a1b2c3", False),
        ("Disallow: /a*b*c$", "/a1b2c3", True),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: *", "/x", False),
        ("Disallow: /x\nAllow: /x", "/x", True),
        ("Sitemap: /x\nnonsense\n: \nDisallow: /x", "/x", False),
    ],
)
def test_patterns(rule: str, path: str, allowed: bool):
    assert read_robots(f"user-agent: *\n{rule}", "pincite").allows(path) is allowed


def test_rules_before_any_user_agent_are_ignored():
    assert read_robots("Disallow: /", "pincite").allows("/x")
    assert ALLOW_ALL.allows("/x")


def test_waits_are_bounded():
    for asked, waited in (("1e9", 60.0), ("-1", 0.0), ("soon", 0.0), ("nan", 0.0)):
        assert read_robots(f"user-agent: *\ncrawl-delay: {asked}", "x").delay_s == waited


def test_hostile_patterns_take_no_time():
    robots = read_robots("user-agent: *\n" + "Disallow: /" + "*a" * 2000 + "$\n" * 1, "x")
    started = time.process_time()
    assert robots.allows("/" + "a" * 1500 + "b")
    assert time.process_time() - started < 2


def test_a_site_that_forbids_everything_is_left_alone():
    assert not DENY_ALL.allows("/")
    assert not DENY_ALL.allows("/a/b?c")
