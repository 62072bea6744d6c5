"""Addresses that may get a key; connections without trust; the time of imports."""

import asyncio
import ssl
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from interlock.domain.values.budgets import Usage
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message, Picture, ignore_text
from interlock.providers.endpoints import HOSTED, HttpAccess, ModelUse, default_limits, hosted_model, provider_facts
from interlock.providers.http.channel import Channel, Endpoint, checked_address
from interlock.providers.http.errors import error_text, refusal
from interlock.providers.http.http_model import TokenLimits
from tests.providers import anthropic_server, openai_server
from tests.providers.loopback import Answer, Request, serving
from tests.providers.scripts import TEXT_REPLY
from tests.providers.vendors import VENDORS, request

ANTHROPIC = VENDORS[0]
CERTIFICATE = Path(__file__).parents[1] / "loopback.pem"  # self-signed, for 127.0.0.1, with its private key


@pytest.mark.parametrize(
    "address",
    [
        "https://api.example.com",
        "https://[2001:db8::1]:8443/v1/",
        "http://127.0.0.1:1",
        "http://localhost",
        "http://[::1]:9/v1",
    ],
)
def test_a_key_is_sent_over_https_or_to_this_machine_only(address: str) -> None:
    assert checked_address(Endpoint(provider="p", base_url=address)) == address.rstrip("/")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("http://api.example.com", "over http, which is not encrypted; use https"),
        ("http://127.0.0.1.example.com", "use https"),
        ("http://localhost.example.com", "use https"),
        ("http://0.0.0.0", "use https"),
        ("ftp://example.com", "must begin with https://"),
        ("api.example.com", "must begin with https://"),
        ("", "must begin with https://"),
        ("https://", "must begin with https://"),
        ("https://ann:secret@example.com", "no user name, password or query"),
        ("https://example.com?key=1", "no user name, password or query"),
        ("https://example.com#a", "no user name, password or query"),
        ("https://example.com?", "no user name, password or query"),
        ("https://example.com/v1#", "no user name, password or query"),
        ("https://exam ple.com", "spaces"),
        ("https://example.com/v 1", "spaces"),
        ("https://ann:secret@exam ple.com", "no user name, password or query"),
        ("https://ann:secret@example.com:port", "is not a URL: '…example.com:port'"),
        ("https://[half?key=secret", "is not a URL"),
        ("ftp://ann:secret@example.com", "not '…example.com'"),
        ("ann:secret@example.com", "must begin with https://"),
        ("https://[half", "is not a URL"),
        ("https://example.com:port", "is not a URL"),
    ],
)
def test_other_addresses_are_refused_before_anything_is_sent(address: str, sentence: str) -> None:
    with pytest.raises(Misconfigured, match=sentence) as caught:
        Channel(Endpoint(provider="p", base_url=address))
    assert "secret" not in str(caught.value)


def test_spaces_around_an_address_are_nothing() -> None:
    assert checked_address(Endpoint(provider="p", base_url=" https://example.com/v1/\n")) == "https://example.com/v1"


def test_the_users_own_settings_may_allow_plain_http() -> None:
    endpoint = Endpoint(provider="p", base_url="http://box.lan:11434/v1", plain_http=True)
    assert checked_address(endpoint) == "http://box.lan:11434/v1"


def test_a_redirect_is_not_followed_and_the_key_stays_where_it_belongs() -> None:
    async def story() -> None:
        async with serving(anthropic_server.playing(lambda _: TEXT_REPLY)) as thief:

            async def send_on(asked: Request) -> Answer:
                return Answer(308, (("location", f"{thief.url}/v1/messages"),))

            async with serving(send_on) as server:
                with pytest.raises(Misconfigured, match="a key is never sent on"):
                    await ANTHROPIC.create_model(server.url).complete(request(), ignore_text)
            assert len(server.requests) == 1
            assert thief.requests == []

    asyncio.run(story())


def test_proxies_and_cookies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with serving(anthropic_server.playing(lambda _: TEXT_REPLY)) as thief:
            for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, thief.url)
            async with serving(anthropic_server.playing(lambda _: TEXT_REPLY)) as server:
                await ANTHROPIC.create_model(server.url).complete(request(), ignore_text)
            assert (len(server.requests), thief.requests) == (1, [])

    asyncio.run(story())


def test_a_self_signed_certificate_is_not_trusted_and_nothing_is_sent() -> None:
    async def story() -> None:
        own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own.load_cert_chain(CERTIFICATE)
        async with serving(anthropic_server.playing(lambda _: TEXT_REPLY), trust=own) as server:
            with pytest.raises(Misconfigured, match=r"certificate of 127\.0\.0\.1 is not to be trusted"):
                await ANTHROPIC.create_model(server.url).complete(request(), ignore_text)
            assert server.requests == []
            trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
            reply = await ANTHROPIC.create_model(server.url, trust=trusting).complete(request(), ignore_text)
            assert reply.message.text == "Grüße, wörld 🌍."

    asyncio.run(story())


def test_where_there_should_be_tls_and_is_none_it_is_tried_again() -> None:
    async def answer_plain_text(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 What?\r\n\r\n")
        await writer.drain()
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(answer_plain_text, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unavailable, match="cannot be reached"):
            await ANTHROPIC.create_model(f"https://127.0.0.1:{port}").complete(request(), ignore_text)
        server.close()

    asyncio.run(story())


def test_headers_that_cannot_be_sent_do_not_give_the_key_away() -> None:
    async def story() -> None:
        async with serving(anthropic_server.playing(lambda _: TEXT_REPLY)) as server:
            model = ANTHROPIC.create_model(server.url, headers=(("x-more", "a\r\nb"),))
            with pytest.raises(Misconfigured, match="a header is invalid") as caught:
                await model.complete(request(), ignore_text)
            assert anthropic_server.KEY not in str(caught.value)

    asyncio.run(story())


def test_an_error_holds_the_vendors_message_in_any_form() -> None:
    assert error_text(b'{"error": {"type": "t", "message": "m\\n m"}}', str) == "t m m"
    assert error_text(b'{"error": "plain"}', str) == "plain"
    assert error_text(b'[{"error": {"code": 400, "message": "m"}}]', str) == "400 m"
    assert error_text(b'{"detail": "d"}', str) == "d"
    assert error_text(b'{"error": 7}', str) == '{"error": 7}'
    assert error_text(b"<html>\xff", str) == "<html>\ufffd"
    assert error_text(b"[]", str) == "[]"
    assert error_text(b"[" * 100_000, str) == "[" * 500
    assert error_text(b"", str) == ""


def test_a_gateway_that_waited_in_vain_may_have_cost_something() -> None:
    error = refusal("p", 504, {}, b"", key_name="", model="m", now=0, redact=str)
    assert isinstance(error, Unavailable) and error.may_cost
    assert "it wants a key" in str(refusal("p", 401, {}, b"", key_name="", model="m", now=0, redact=str))


# ── providers by name ────────────────────────────────────────────────────────────────────


def test_every_name_has_its_address_and_its_variables() -> None:
    assert {
        name: (provider_facts(name).base_url, provider_facts(name).key_name, provider_facts(name).url_name)
        for name in HOSTED
    } == {
        "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        "gemini": (
            "https://generativelanguage.googleapis.com",
            "GEMINI_API_KEY or GOOGLE_API_KEY",
            "GEMINI_BASE_URL",
        ),
        "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        "deepseek": ("https://api.deepseek.com", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"),
        "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ""),
        "ollama": ("http://127.0.0.1:11434/v1", "", ""),
        "llama.cpp": ("http://127.0.0.1:8080/v1", "", ""),
        "vllm": ("http://127.0.0.1:8000/v1", "", ""),
    }
    with pytest.raises(Misconfigured, match="there is no provider 'x' over HTTP"):
        provider_facts("x")


def test_address_and_key_come_from_the_environment() -> None:
    async def story() -> None:
        async with serving(openai_server.playing(lambda _: TEXT_REPLY)) as server:
            environ = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": f" {openai_server.KEY}\n"}
            model = hosted_model("openai", environ)
            reply = await hosted_model("openai", environ, use=ModelUse(model=openai_server.MODEL)).complete(
                request(), ignore_text
            )
            assert (model.name, reply.model) == ("openai", openai_server.MODEL)

    asyncio.run(story())


def test_a_local_server_needs_no_key_but_a_model() -> None:
    async def play(asked: Request) -> Answer:
        assert "authorization" not in asked.headers
        return Answer(pieces=tuple(openai_server.chunks(TEXT_REPLY, "any")))

    async def story() -> None:
        async with serving(play) as server:
            reply = await hosted_model("vllm", {}, HttpAccess(base_url=server.url), ModelUse(model="any")).complete(
                request(), ignore_text
            )
            assert reply.message.text == "Grüße, wörld 🌍."
            with pytest.raises(Misconfigured, match="vllm needs a model: use --model"):
                await hosted_model("vllm", {}, HttpAccess(base_url=server.url)).complete(request(), ignore_text)

    asyncio.run(story())


def test_later_models_of_openai_are_sent_no_temperature() -> None:
    assert default_limits("openai", "gpt-4.1").temperature == 0.0
    assert default_limits("openai", "o3").temperature is None
    assert default_limits("openai", "gpt-5.4-mini").temperature is None
    assert default_limits("deepseek", "any").temperature == 0.0


def test_a_quote_is_never_less_than_the_cost() -> None:
    """A quote assumes one token per byte, all input written to the cache, and the longest answer."""

    def price(model: str, usage: Usage) -> int:
        return 3 * usage.input + 4 * usage.cache_write + 15 * usage.output

    picture = Message("user", "x" * 1_000, images=(Picture("image/png", "a"),))
    model = ANTHROPIC.create_model("http://127.0.0.1:1", price=price, limits=lambda _: TokenLimits(output=100))
    least = 4 * (1_000 + 5_000) + 15 * 100
    assert least < model.quote(request(picture, pictures={"a": b"x" * 10**6})) < 4 * 10_000 + 15 * 100
    small = ANTHROPIC.create_model(
        "http://127.0.0.1:1", price=price, limits=lambda _: TokenLimits(context=2_000, output=100)
    )
    assert small.quote(request()) == 4 * 2_000 + 15 * 100, "no more than the context window"
    assert ANTHROPIC.create_model("http://127.0.0.1:1").quote(request()) == 0


# ── imports ──────────────────────────────────────────────────────────────────────────────


def run(code: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout


def test_no_http_client_is_imported_before_the_first_request() -> None:
    output = run("""
        import sys
        from interlock.providers.endpoints import hosted_model
        model = hosted_model("anthropic", {"ANTHROPIC_API_KEY": "x"})
        print(sorted({"httpx2", "httpcore2", "anyio", "anthropic", "openai"} & set(sys.modules)))
    """)
    assert output == "[]\n"


def test_a_command_without_model_calls_imports_no_http_client() -> None:
    output = run("""
        import sys
        from interlock.cli.main import main
        try:
            main(["--version"])
        except SystemExit:
            pass
        print(sorted({"httpx2", "httpcore2", "interlock.providers.http.channel", "ssl"} & set(sys.modules)))
    """)
    assert output.splitlines()[-1] == "[]"


def test_the_first_request_costs_little_to_import() -> None:
    """CPU time without the imports that every start needs (asyncio, ssl), because machines differ."""
    output = run("""
        import time
        begun = time.process_time()
        import asyncio, ssl, msgspec
        import interlock.ports.model
        before = time.process_time()
        from interlock.errors import Unavailable
        from interlock.ports.model import Message, ModelRequest, ignore_text
        from interlock.providers.endpoints import HttpAccess, ModelUse, hosted_model
        model = hosted_model("ollama", {}, HttpAccess(base_url="http://127.0.0.1:1"), ModelUse(model="m"))
        try:
            asyncio.run(model.complete(ModelRequest("t", None, None, "", (Message("user", "a"),), ()), ignore_text))
        except Unavailable:
            print(time.process_time() - before)
    """)
    assert float(output) < 1.0, "about 0.2 s on a quiet machine; the bound is for a busy one"
