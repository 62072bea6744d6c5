"""Makes the tools that contact other machines from the user's settings."""

import os

from interlock.assembly.settings.settings import Settings
from interlock.errors import Misconfigured
from interlock.providers.credentials import desktop_keyring
from interlock.tools.catalogue import Web
from interlock.tools.web.fetching import Fetching
from interlock.tools.web.search_formats import KEY_VARIABLES, NEEDS_KEY, SearchProvider
from interlock.tools.web.searching import SearchService, WebSearching


def web_of(settings: Settings) -> Web:
    """A search provider that cannot work is left out, with the reason."""
    chosen = settings.web_search
    if chosen.provider is None:
        return Web(Fetching())
    variable = chosen.key_variable or KEY_VARIABLES.get(chosen.provider, "")
    if chosen.provider in NEEDS_KEY and not search_key(chosen.provider, variable):
        why = f"there is no key: set {variable}, or keep one with 'interlock models key set {chosen.provider}'"
        return Web(Fetching(), no_search=why)
    provider = chosen.provider
    service = SearchService(provider, chosen.address, lambda: search_key(provider, variable))
    try:
        return Web(Fetching(), WebSearching(service))
    except Misconfigured as error:
        return Web(Fetching(), no_search=str(error))


def search_key(provider: SearchProvider, variable: str) -> str:
    """The key from the environment, else from the keyring; empty without one."""
    return os.environ.get(variable, "").strip() or (desktop_keyring(provider) or "" if variable else "")
