"""Chooses the provider, its key and its address.

Keys come from the usual environment variables or from the desktop's keyring. They are never written to a file.
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
"""The key variables of each provider; the first one that is set counts. Providers in order of preference."""

ADDRESSES: dict[str, str] = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GEMINI_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "deepseek": "DEEPSEEK_BASE_URL",
}

Keyring = Callable[[str], str | None]
"""Reads the key of a provider from the desktop's keyring."""

_SERVICE = "interlock"


def key_of(provider: str, environ: Mapping[str, str], keyring: Keyring) -> str | None:
    """An empty variable counts as unset."""
    for name in KEYS.get(provider, ()):
        if value := environ.get(name, "").strip():
            return value
    return keyring(provider) if provider in KEYS else None


def needed_key(provider: str, environ: Mapping[str, str], keyring: Keyring) -> str:
    """The key. Raises Misconfigured, naming the variables."""
    if key := key_of(provider, environ, keyring):
        return key
    raise Misconfigured(
        f"there is no key for {provider!r}: set {' or '.join(KEYS[provider])},"
        f" or keep one in the keyring (interlock models key set {provider})"
    )


def address_of(provider: str, environ: Mapping[str, str], chosen: Mapping[str, str]) -> str:
    """The address from the environment, else from the settings; empty for the vendor's default."""
    address = environ.get(ADDRESSES.get(provider, ""), "").strip() or chosen.get(provider.replace(".", "_"), "")
    if address and not address.startswith(("http://", "https://")):
        raise Misconfigured(f"{ADDRESSES.get(provider, provider)} must begin with http:// or https://: {address!r}")
    return address.rstrip("/")


def provider_of(configured: str | None, among: Iterable[str], environ: Mapping[str, str], keyring: Keyring) -> str:
    """The configured provider, else gemini, else the first with a key. Raises Misconfigured if there is none."""
    if configured:
        return configured
    for name in KEYS:
        if name in among and key_of(name, environ, keyring):
            return name
    raise Misconfigured(f"no provider has a key: set {listed_variables()}, or give --provider")


def listed_variables() -> str:
    names = [names[0] for names in KEYS.values()]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def desktop_keyring(provider: str) -> str | None:
    """The stored key; None if `keyring` is not installed, has no entry, or fails."""
    try:
        keyring = _keyring()
        return keyring.get_password(_SERVICE, provider) or None
    except Misconfigured:
        return None


def keep_key(provider: str, key: str | None) -> None:
    """Stores a key, or deletes it (None). Raises Misconfigured on failure."""
    keyring = _keyring()
    if key is not None:
        keyring.set_password(_SERVICE, provider, key)
    elif keyring.get_password(_SERVICE, provider) is None:
        raise Misconfigured(f"the keyring holds no key for {provider!r}")
    else:
        keyring.delete_password(_SERVICE, provider)


class _Keyring:
    """The three functions of `keyring`, with errors that name the remedy."""

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
    """An optional dependency, imported at first use."""
    try:
        module = import_module("keyring")
        import_module("keyring.errors")
    except ImportError as error:
        raise Misconfigured("the package `keyring` is not installed: pip install 'interlock[keyring]'") from error
    return _Keyring(module)
