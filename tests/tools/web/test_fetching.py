"""`fetch_url`: text of a page, checked addresses, redirects, limits."""

import asyncio
import gzip
import ssl
import threading
import zlib
from ipaddress import ip_address
from pathlib import Path

import pytest

from interlock.errors import ToolFailure
from interlock.ports.tools import ToolOutcome, ToolPlace
from interlock.tools.web.addresses import IpAddress, is_public
from interlock.tools.web.fetching import MOST_CHARACTERS, Fetching, FetchLimits, FetchUrl
from tests.tools.web.pages import Answer, Names, Pages, Request, served

PLAIN = (("Content-Type", "text/plain"),)
CERTIFICATE = Path(__file__).with_name("docs_test.pem")


def loopback_too(address: IpAddress) -> bool:
    return is_public(address) or address == ip_address("127.0.0.1")


def outcome(url: str, names: Names, *, limits: FetchLimits | None = None) -> ToolOutcome:
    fetching = Fetching(names, loopback_too, limits=limits)
    return asyncio.run(fetching.fetch_url(ToolPlace("/nowhere"), FetchUrl(url)))


def fetched(pages: Pages, path: str, *, limits: FetchLimits | None = None) -> str:
    return outcome(f"http://docs.test:{pages.port}{path}", Names(docs_test="127.0.0.1"), limits=limits).text


def refused(pages: Pages, path: str, *, limits: FetchLimits | None = None) -> str:
    with pytest.raises(ToolFailure) as failure:
        fetched(pages, path, limits=limits)
    return str(failure.value).replace(str(pages.port), "PORT")


def test_a_page_becomes_readable_text_with_its_address_and_status(pages: Pages) -> None:
    pages.answers["/guide"] = Answer(
        b"<title>The guide</title><script>x</script><h1>Start</h1><p>Read <a href='/more'>more</a>.<ul><li>one</ul>"
    )
    base = f"http://docs.test:{pages.port}"
    assert fetched(pages, "/guide#part") == (
        f"{base}/guide\nStatus: 200 OK, text/html\nTitle: The guide\n\n# Start\n\nRead [more]({base}/more).\n\n- one"
    )


def test_a_request_says_nothing_about_the_user(pages: Pages) -> None:
    pages.answers["/"] = Answer(b"x", headers=(*PLAIN, ("Set-Cookie", "id=1")))
    fetched(pages, "/")
    fetched(pages, "/")
    for request in pages.requests:
        assert sorted(request.headers) == ["accept", "accept-encoding", "connection", "host", "user-agent"]
        assert request.headers["host"] == f"docs.test:{pages.port}"


def test_text_json_and_markdown_stay_as_they_are(pages: Pages) -> None:
    for kind in ("text/plain", "text/markdown", "application/json", "application/vnd.api+json"):
        pages.answers["/x"] = Answer(b'{"a": "<b>"}\r\n', headers=(("Content-Type", kind),))
        assert fetched(pages, "/x").endswith(f', {kind}\n\n{{"a": "<b>"}}\n')


def test_bytes_that_are_no_text_are_not_shown(pages: Pages) -> None:
    pages.answers["/x.png"] = Answer(b"\x89PNG\0\0", headers=(("Content-Type", "image/png"),))
    assert fetched(pages, "/x.png").endswith("(not shown: 6 bytes that are no text)")


def test_escape_sequences_of_a_page_are_removed(pages: Pages) -> None:
    pages.answers["/"] = Answer(b"a\x1b[31mred\x07", headers=PLAIN)
    assert fetched(pages, "/").endswith("\n\na[31mred")


def test_the_charset_of_the_answer_or_of_the_page_counts(pages: Pages) -> None:
    pages.answers["/a"] = Answer("é".encode("latin-1"), headers=(("Content-Type", "text/plain; charset=latin-1"),))
    meta = '<meta charset="windows-1252"><p>€'
    pages.answers["/b"] = Answer(meta.encode("cp1252"), headers=(("Content-Type", "text/html"),))
    pages.answers["/c"] = Answer("ü".encode(), headers=(("Content-Type", "text/plain; charset=hex"),))
    assert [fetched(pages, path)[-1] for path in ("/a", "/b", "/c")] == ["é", "€", "ü"]


def test_a_long_text_is_cut_with_a_marker(pages: Pages) -> None:
    pages.answers["/"] = Answer(b"x" * 50_000, headers=PLAIN)
    text = fetched(pages, "/")
    assert len(text) <= MOST_CHARACTERS
    assert text.endswith("characters are not shown]")


def test_an_error_of_the_server_is_a_failed_call_with_its_text(pages: Pages) -> None:
    pages.answers["/"] = Answer(b"gone away", 410, PLAIN)
    answer = outcome(f"http://docs.test:{pages.port}/", Names(docs_test="127.0.0.1"))
    assert (answer.failed, answer.text.splitlines()[1:]) == (True, ["Status: 410 Gone, text/plain", "", "gone away"])


# ── addresses ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.7"),
        *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
        *("::", "::1", "fe80::1", "fe80::1%1", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1"),
        *("::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001::1", "100::1"),
        *("2001:db8::1", "3fff::1", "2001:10::1"),
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))
    with pytest.raises(ToolFailure, match="ACCESS DENIED"):
        asyncio.run(
            Fetching(Names(some_host=address)).fetch_url(ToolPlace("/"), FetchUrl("http://some.host/latest/meta-data"))
        )


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "2a00:1450::1"])
def test_a_public_address_is_not_refused(address: str) -> None:
    assert is_public(ip_address(address))


def test_one_private_address_among_public_ones_refuses_the_host() -> None:
    with pytest.raises(ToolFailure, match=r"leads to 10\.0\.0\.1"):
        asyncio.run(Fetching(Names(a_b="8.8.8.8 10.0.0.1")).fetch_url(ToolPlace("/"), FetchUrl("http://a.b/")))


@pytest.mark.parametrize("host", ["localhost", "127.1", "0x7f.1", "2130706433", "[::1]", "127.0.0.1", "0"])
def test_every_spelling_of_this_machine_is_refused(host: str) -> None:
    with pytest.raises(ToolFailure, match=r"ACCESS DENIED|was not found|is no host"):
        asyncio.run(Fetching().fetch_url(ToolPlace("/"), FetchUrl(f"http://{host}/")))


def test_a_name_is_resolved_once_so_a_second_answer_is_never_used(pages: Pages) -> None:
    """DNS rebinding: the first answer is allowed, the next one leads elsewhere."""
    pages.answers["/"] = Answer(b"x", headers=PLAIN)
    names = Names(rebind_test="127.0.0.1 then 10.0.0.1")
    assert outcome(f"http://rebind.test:{pages.port}/", names).text.endswith("\n\nx")
    assert names.asked == ["rebind.test"]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://a.b/x", "Only addresses that begin with"),
        ("file:///etc/passwd", "Only addresses that begin with"),
        ("http://user:word@a.b/", "a user name or a password"),
        ("http://@a.b/", "a user name or a password"),
        ("http://a.b\\@c.d/", "a backslash"),
        ("http://a b/", "a space"),
        ("http://a.b/\nHost: c", "a control character"),
        ("http:///x", "is no host"),
        ("http://a..b/", "is no host"),
        ("http://%31/", "is no host"),
        ("http://a.b:0/", "port 0"),
        ("http://a.b:99999/", "no valid address"),
        ("http://[::1/", "no valid address"),
        ("http://a.b/" + "x" * 5_000, "at most 4,000 characters"),
        ("gopher:a", "Only addresses that begin with"),
    ],
)
def test_a_wrong_address_is_refused_with_a_sentence(url: str, why: str) -> None:
    with pytest.raises(ToolFailure, match=why):
        asyncio.run(Fetching(Names()).fetch_url(ToolPlace("/"), FetchUrl(url)))


def test_the_certificate_is_checked_for_the_name_although_the_connection_goes_to_an_address() -> None:
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(CERTIFICATE)
    names = Names(docs_test="127.0.0.1", other_test="127.0.0.1")
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))

    def fetch(host: str, trust: ssl.SSLContext | None) -> str:
        fetching = Fetching(names, loopback_too, trust)
        return asyncio.run(fetching.fetch_url(ToolPlace("/"), FetchUrl(f"https://{host}:{pages.port}/"))).text

    with served(own) as pages:
        pages.answers["/"] = Answer(b"safe", headers=PLAIN)
        assert fetch("docs.test", trusting).endswith("\n\nsafe")
        for host, trust in (("other.test", trusting), ("docs.test", None)):
            with pytest.raises(ToolFailure, match=f"The certificate of {host} is not valid"):
                fetch(host, trust)
        assert len(pages.requests) == 1


# ── redirects ────────────────────────────────────────────────────────────────────────────


def moved(to: str) -> Answer:
    return Answer(status=302, headers=(("Location", to),))


def test_a_redirect_on_the_same_host_is_followed_and_named(pages: Pages) -> None:
    pages.answers |= {"/a": moved("/b"), "/b": Answer(b"here", headers=PLAIN)}
    base = f"http://docs.test:{pages.port}"
    assert fetched(pages, "/a") == f"Redirected from {base}/a\n{base}/b\nStatus: 200 OK, text/plain\n\nhere"
    assert "referer" not in pages.requests[1].headers


def test_a_redirect_to_another_host_goes_back_to_the_model(pages: Pages) -> None:
    pages.answers["/a"] = moved("https://other.test/x?y=1")
    assert "redirects to https://other.test/x?y=1\nThat is another host, so it was not fetched." in fetched(pages, "/a")
    assert len(pages.requests) == 1


def test_every_redirect_is_checked_again(pages: Pages) -> None:
    pages.answers["/a"] = moved("/b")
    names = Names(rebind_test="127.0.0.1 then 169.254.169.254")
    with pytest.raises(ToolFailure, match=r"leads to 169\.254\.169\.254"):
        outcome(f"http://rebind.test:{pages.port}/a", names)
    pages.answers["/f"] = moved("file:///etc/passwd")
    assert "Only addresses that begin with" in refused(pages, "/f")


def test_more_than_five_redirects_are_refused(pages: Pages) -> None:
    def onwards(request: Request) -> Answer:
        return moved(f"/loop?{len(pages.requests)}")

    pages.answers["/loop"] = onwards
    assert refused(pages, "/loop") == "http://docs.test:PORT/loop redirects more than 5 times."
    assert len(pages.requests) == 6


# ── limits ───────────────────────────────────────────────────────────────────────────────


def test_no_more_bytes_are_read_than_the_limit(pages: Pages) -> None:
    pages.answers["/"] = Answer(b"x" * 3_000, headers=PLAIN)
    assert "Only the first 1,000 bytes were read." in fetched(pages, "/", limits=FetchLimits(1_000))


def test_a_packed_page_is_unpacked_within_the_limit(pages: Pages) -> None:
    gzipped = (*PLAIN, ("Content-Encoding", "gzip"))
    pages.answers["/small"] = Answer(gzip.compress(b"hello"), headers=gzipped)
    pages.answers["/bomb"] = Answer(gzip.compress(b"x" * 50_000_000), headers=gzipped)
    assert fetched(pages, "/small").endswith("\n\nhello")
    assert "Only the first 5,000,000 bytes were read." in fetched(pages, "/bomb")
    deflated = (*PLAIN, ("Content-Encoding", "deflate"))
    pages.answers["/deflated"] = Answer(zlib.compress(b"hello"), headers=deflated)
    assert fetched(pages, "/deflated").endswith("\n\nhello")
    pages.answers["/wrong"] = Answer(b"no gzip", headers=gzipped)
    assert refused(pages, "/wrong") == "The answer cannot be unpacked."
    pages.answers["/odd"] = Answer(b"x", headers=(*PLAIN, ("Content-Encoding", "br")))
    assert refused(pages, "/odd") == "The answer is packed with 'br', which was not asked for."


def test_a_server_that_does_not_answer_ends_the_call(pages: Pages) -> None:
    ended = threading.Event()

    def slow(request: Request) -> Answer:
        ended.wait(60)
        return Answer(b"late")

    pages.answers["/"] = slow
    limits = FetchLimits(whole_s=0.2)
    assert refused(pages, "/", limits=limits) == "docs.test:PORT did not answer within 0.2 seconds."
    ended.set()


def test_a_host_that_is_not_there_is_a_sentence(pages: Pages) -> None:
    with pytest.raises(ToolFailure, match=r"The host nowhere\.test was not found\."):
        outcome("http://nowhere.test/", Names())
    pages.answers["/cut"] = Answer(b"x", headers=(*PLAIN, ("Content-Length", "50")))
    assert refused(pages, "/cut").startswith("The answer of docs.test:PORT cannot be read")
