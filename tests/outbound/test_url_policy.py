"""Which web addresses may be called."""

import pytest

from pincite.errors import BadRequest, Invalid, NotAllowed
from pincite.outbound.url_policy import MAX_URL_CHARS, UrlPolicy

RULES = UrlPolicy()

MALFORMED = [
    "",
    "example.org",
    "//example.org/",
    "/etc/passwd",
    "ftp://example.org/",
    "file:///etc/passwd",
    "file://localhost/x",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/",
    "ldap://127.0.0.1/",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "jar:http://x!/",
    "javascript:alert(1)",
    "data:text/html,x",
    "ws://x.example/",
    "http:example.org",
    "http:///path",
    "http://",
    "https://?x",
    "http://.",
    "http://..example.org/",
    "http://a..b/",
    "http://user@example.org/",
    "http://user:pass@example.org/",
    "http://example.org@127.0.0.1/",
    "http://@example.org/",
    "http://example.org\\@127.0.0.1/",
    "http://exa mple.org/",
    "http://example.org/\r\nHost: x",
    "http://example.org/\t",
    "http://example.org\x00.evil.example/",
    "http://example.org/%zz",
    "http://[::1/",
    "http://::1/",
    "http://[fe80::1%25eth0]/",
    "http://[v1.x]/",
    "http://example.org:99999/",
    "http://example.org:-1/",
    "http://example.org:x/",
    "http://127.1/",
    "http://0/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.01/",
    "http://127.0.0.1.1/",
    "http://1.2.3/",
    "http://256.1.1.1/",
    "http://①②⑦.1/",
    "http://１２７.1/",
    "http://127。1/",
    "http://4294967296/",
    "http://example.0x7f/",
    "http://-a.example/",
    "http://a-.example/",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 130 + "example/",
    "http://example.org/" + "x" * MAX_URL_CHARS,
    "http://\u202eexample.org/",
    "http://xn--a/\x7f",
]

PRIVATE = [
    "192.0.0.192",
    "168.63.129.16",
    "3fff::1",
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:a9fe:a9fe",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2001::1",
    "100::1",
    "2002:a9fe:a9fe::1",
    "not an address",
    "",
]

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "64:ff9b::808:808", "::ffff:8.8.8.8"]


@pytest.mark.parametrize("url", MALFORMED)
def test_what_is_no_plain_web_address_is_refused(url: str):
    with pytest.raises(Invalid) as caught:
        RULES.parse(url)
    assert caught.value.code == "bad_address"


@pytest.mark.parametrize("machine", PRIVATE)
def test_private_and_reserved_machines_are_refused(machine: str):
    with pytest.raises(NotAllowed) as caught:
        RULES.check(RULES.parse("http://site.example/"), machine)
    assert caught.value.code == "private_address"


@pytest.mark.parametrize("machine", [one for one in PRIVATE if one and " " not in one and "%" not in one])
def test_an_address_that_names_such_a_machine_is_refused_as_well(machine: str):
    url = f"http://[{machine}]/" if ":" in machine else f"http://{machine}/"
    with pytest.raises(BadRequest):
        RULES.check(RULES.parse(url), machine)


@pytest.mark.parametrize("machine", PUBLIC)
def test_public_machines_may_be_called(machine: str):
    assert RULES.check(RULES.parse("http://site.example/"), machine)


@pytest.mark.parametrize("port", [1, 21, 22, 25, 6379, 5432, 8080, 11211])
def test_other_ports_are_refused(port: int):
    with pytest.raises(NotAllowed, match=f"port {port} is not allowed"):
        RULES.parse(f"http://example.org:{port}/")


@pytest.mark.parametrize(
    ("url", "whole", "host"),
    [
        ("http://example.org", "http://example.org/", "example.org"),
        ("HTTPS://EXAMPLE.org.:443/A?b=1#c", "https://example.org/A?b=1", "example.org"),
        ("http://example.org:443/x", "http://example.org:443/x", "example.org"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/ä", "xn--bcher-kva.example"),
        ("http://ⓔxample.org/", "http://example.org/", "example.org"),
        ("http://[2606:2800:220:1::1]/", "http://[2606:2800:220:1::1]/", "2606:2800:220:1::1"),
        ("http://93.184.216.34/", "http://93.184.216.34/", "93.184.216.34"),
    ],
)
def test_addresses_are_taken_apart(url: str, whole: str, host: str):
    address = RULES.parse(url)
    assert (address.url, address.host) == (whole, host)


def test_digits_of_other_scripts_are_the_digits_they_stand_for():
    address = RULES.parse("http://１２７.０.０.１/")
    assert address.host == "127.0.0.1"
    with pytest.raises(NotAllowed):
        RULES.check(address, address.host)


def test_what_is_shown_has_no_query():
    assert RULES.parse("https://example.org/x?token=secret").shown == "https://example.org/x"


def test_hosts_of_one_s_own_network_are_allowed_by_name():
    rules = UrlPolicy(("wiki.intranet", "build.intranet:8080"))
    assert rules.check(rules.parse("http://wiki.intranet/x"), "10.1.2.3")
    assert rules.check(rules.parse("http://build.intranet:8080/"), "fd00::1")
    assert rules.check(rules.parse("http://build.intranet:8080/"), "127.0.0.1")
    for url in ("http://wiki.intranet:8080/", "http://build.intranet:8081/"):
        with pytest.raises(NotAllowed, match="port"):
            rules.parse(url)
    with pytest.raises(NotAllowed):
        rules.check(rules.parse("http://build.intranet/"), "10.1.2.3")
    with pytest.raises(NotAllowed):
        rules.check(rules.parse("http://other.intranet/"), "10.1.2.3")


@pytest.mark.parametrize(
    "machine", ["169.254.169.254", "0.0.0.0", "224.0.0.1", "fe80::1", "::", "::ffff:169.254.169.254"]
)
def test_some_machines_are_never_called_whoever_names_them(machine: str):
    rules = UrlPolicy(("wiki.intranet",))
    with pytest.raises(NotAllowed):
        rules.check(rules.parse("http://wiki.intranet/"), machine)


def test_there_are_enough_hostile_addresses():
    assert len(MALFORMED) + len(PRIVATE) > 100
