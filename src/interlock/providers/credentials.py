"""Whom to ask and how to get in: which provider, with which key, at which address (SPEC P1).

Keys come from the usual environment variables, or from the keyring of the desktop. They are never written anywhere.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from interlock.errors import Misconfigured

KEYS: dict[str, tuple[str, ...]] = {
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
}
"""The variables of each provider that needs a key, the first that is set counts; in the order of our own choice."""

ADDRESSES: dict[str, str] = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GEMINI_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "deepseek": "DEEPSEEK_BASE_URL",
}

Keyring = Callable[[str], str | None]
"""The key that the desktop's keyring holds for a provider."""

_SERVICE = "interlock"


def key_of(provider: str, environ: Mapping[str, str], keyring: Keyring) -> str | None:
    """An empty variable counts as unset."""
    for name in KEYS.get(provider, ()):
        if value := environ.get(name, "").strip():
            return value
    return keyring(provider) if provider in KEYS else None


def needed_key(provider: str, environ: Mapping[str, str], keyring: Keyring) -> str:
    """Raises Misconfigured, naming the variables."""
    if found := key_of(provider, environ, keyring):
        return found
    raise Misconfigured(
        f"there is no key for {provider!r}: set {' or '.join(KEYS[provider])},"
        f" or keep one in the keyring (interlock models key set {provider})"
    )


def address_of(provider: str, environ: Mapping[str, str], chosen: Mapping[str, str]) -> str:
    """Where the user wants it asked; empty: at its own address. The environment counts over the settings."""
    found = environ.get(ADDRESSES.get(provider, ""), "").strip() or chosen.get(provider.replace(".", "_"), "")
    if found and not found.startswith(("http://", "https://")):
        raise Misconfigured(f"{ADDRESSES.get(provider, provider)} must begin with http:// or https://: {found!r}")
    return found.rstrip("/")


def provider_of(configured: str | None, among: Iterable[str], environ: Mapping[str, str], keyring: Keyring) -> str:
    """The configured one, else the first with a key, gemini before the others; raises Misconfigured where none is."""
    if configured:
        return configured
    for name in KEYS:
        if name in among and key_of(name, environ, keyring):
            return name
    raise Misconfigured(f"no model can be asked: set {listed_variables()}, or give --provider")


def listed_variables() -> str:
    names = [names[0] for names in KEYS.values()]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def desktop_keyring(provider: str) -> str | None:
    """None where the package `keyring` is not installed, or has nothing, or cannot be asked."""
    try:
        keyring = _keyring()
        return keyring.get_password(_SERVICE, provider) or None
    except Misconfigured:
        return None


def keep_key(provider: str, key: str | None) -> None:
    """Into the keyring, or (None) out of it. Raises Misconfigured where that cannot be."""
    keyring = _keyring()
    if key is not None:
        keyring.set_password(_SERVICE, provider, key)
    elif keyring.get_password(_SERVICE, provider) is None:
        raise Misconfigured(f"the keyring holds no key for {provider!r}")
    else:
        keyring.delete_password(_SERVICE, provider)


class _Keyring:
    """The package's three functions, with failures that say what to do."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def get_password(self, service: str, user: str) -> str | None:
        return self._call("get_password", service, user)

    def set_password(self, service: str, user: str, key: str) -> None:
        self._call("set_password", service, user, key)

    def delete_password(self, service: str, user: str) -> None:
        self._call("delete_password", service, user)

    def _call(self, name: str, *words: str) -> Any:
        try:
            return getattr(self._module, name)(*words)
        except self._module.errors.KeyringError as error:
            raise Misconfigured(f"the keyring cannot be used: {error}") from error


def _keyring() -> _Keyring:
    """An extra, imported only when it is asked."""
    try:
        module = import_module("keyring")
        import_module("keyring.errors")
    except ImportError as error:
        raise Misconfigured("the package `keyring` is not installed: pip install 'interlock[keyring]'") from error
    return _Keyring(module)
