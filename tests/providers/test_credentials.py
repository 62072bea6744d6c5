"""Choosing the provider, its key and its address."""

import sys
from types import ModuleType

import pytest

from interlock.engine.agents.worker import HOW
from interlock.errors import Misconfigured
from interlock.providers.credentials import (
    address_of,
    desktop_keyring,
    keep_key,
    key_of,
    listed_variables,
    needed_key,
    provider_of,
)

ALL = ("anthropic", "gemini", "openai", "deepseek", "openrouter", "ollama")


def nothing(provider: str) -> str | None:
    return None


class FakeKeyring(ModuleType):
    """The package's three functions on a dictionary; when locked, they fail as on a desktop without a session."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.errors = ModuleType("keyring.errors")
        self.errors.KeyringError = type("KeyringError", (Exception,), {})  # type: ignore[attr-defined]
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, user: str) -> str | None:
        self._check()
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        self._check()
        self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        self._check()
        del self.kept[service, user]

    def _check(self) -> None:
        if self.locked:
            raise self.errors.KeyringError("it is locked")  # type: ignore[attr-defined]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> FakeKeyring:
    fake = FakeKeyring()
    monkeypatch.setitem(sys.modules, "keyring", fake)
    monkeypatch.setitem(sys.modules, "keyring.errors", fake.errors)
    return fake


@pytest.mark.parametrize(
    ("configured", "environ", "chosen"),
    [
        ("ollama", {"GEMINI_API_KEY": "k"}, "ollama"),
        (None, {"OPENAI_API_KEY": "k", "GOOGLE_API_KEY": "k"}, "gemini"),
        (None, {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "anthropic"),
        (None, {"GEMINI_API_KEY": " ", "DEEPSEEK_API_KEY": "k"}, "deepseek"),
    ],
)
def test_the_configured_one_is_asked_else_gemini_else_the_first_with_a_key(
    configured: str | None, environ: dict[str, str], chosen: str
) -> None:
    assert provider_of(configured, ALL, environ, nothing) == chosen


def test_a_provider_that_is_not_available_is_not_chosen() -> None:
    assert provider_of(None, ("openai",), {"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"}, nothing) == "openai"


def test_where_there_is_no_key_the_variables_are_named() -> None:
    with pytest.raises(Misconfigured) as refusal:
        provider_of(None, ALL, {}, nothing)
    assert str(refusal.value) == (
        "no provider has a key: set GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, DEEPSEEK_API_KEY or"
        " OPENROUTER_API_KEY, or give --provider"
    )
    assert listed_variables() in HOW
    with pytest.raises(Misconfigured, match="there is no key for 'gemini': set GEMINI_API_KEY or GOOGLE_API_KEY, or"):
        needed_key("gemini", {}, nothing)


def test_a_key_of_the_environment_counts_before_the_keyrings(keyring: FakeKeyring) -> None:
    keep_key("openai", "kept")
    assert keyring.kept == {("interlock", "openai"): "kept"}
    assert key_of("openai", {"OPENAI_API_KEY": "set"}, desktop_keyring) == "set"
    assert key_of("openai", {}, desktop_keyring) == "kept"
    assert key_of("ollama", {}, desktop_keyring) is None
    keep_key("openai", None)
    assert key_of("openai", {}, desktop_keyring) is None
    with pytest.raises(Misconfigured, match="the keyring holds no key for 'openai'"):
        keep_key("openai", None)


def test_a_keyring_that_cannot_be_asked_is_as_good_as_none(keyring: FakeKeyring) -> None:
    keyring.locked = True
    assert desktop_keyring("openai") is None
    with pytest.raises(Misconfigured, match="the keyring cannot be used: it is locked"):
        keep_key("openai", "k")


def test_without_the_package_there_is_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert desktop_keyring("openai") is None
    with pytest.raises(Misconfigured, match=r"pip install 'interlock\[keyring\]'"):
        keep_key("openai", "k")


def test_an_address_comes_from_the_environment_else_from_the_users_settings() -> None:
    chosen = {"openai": "http://127.0.0.1:1/v1", "llama_cpp": "http://127.0.0.1:2"}
    assert address_of("openai", {"OPENAI_BASE_URL": "https://proxy.test/v1/"}, chosen) == "https://proxy.test/v1"
    assert address_of("openai", {}, chosen) == "http://127.0.0.1:1/v1"
    assert address_of("llama.cpp", {}, chosen) == "http://127.0.0.1:2"
    assert address_of("anthropic", {}, chosen) == ""
    with pytest.raises(Misconfigured, match="OPENAI_BASE_URL must begin with http:// or https://"):
        address_of("openai", {"OPENAI_BASE_URL": "proxy.test"}, chosen)
