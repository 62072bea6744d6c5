"""Addresses of pages: which may be fetched, and which addresses of the network they lead to.

A name is resolved once, here. All its addresses are checked, and the connection goes to one of them: a second answer
of the name server, with a private address, is never used.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal
from urllib.parse import quote, urlsplit

from msgspec import Struct

from interlock.errors import ToolFailure

_LONGEST = 4_000
_RESOLVE_S = 10
_MOST_ADDRESSES = 64
_UNWANTED = re.compile(r"[\x00-\x20\x7f\\]")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_.-]{0,251}[a-z0-9])?\.?")
_PORTS = {"http": 80, "https": 443}
_IN_PATH = "/%:@!$&'()*+,;=~-._"

IpAddress = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[tuple[IpAddress, ...]]]
"""From a host and a port: all its addresses. Raises OSError."""

_NOT_PUBLIC_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
# Within 2000::/3: Teredo, protocol assignments, documentation, 6to4. NAT64 and IPv4-mapped addresses are outside of it.
_NOT_PUBLIC_6 = tuple(IPv6Network(text) for text in ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"])


class Address(Struct, frozen=True):
    """The parts of a checked address."""

    scheme: Literal["http", "https"]
    name: str  # the host: a name in ASCII, or an IP address without brackets
    port: int
    target: str  # path and query

    @property
    def host(self) -> str:
        """As rules name it: with the port only if that is not the usual one."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port == _PORTS[self.scheme] else f"{name}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}{self.target}"


def address_of(url: str) -> Address:
    """Raises ToolFailure with a sentence for an address that is never fetched."""
    url = url.strip()
    if len(url) > _LONGEST:
        raise ToolFailure(f"An address has at most {_LONGEST:,} characters, this one {len(url):,}.")
    if _UNWANTED.search(url):
        raise ToolFailure("The address contains a space, a backslash or a control character.")
    try:
        parts = urlsplit(url)
        port, name = parts.port, parts.hostname or ""
    except ValueError as error:
        raise ToolFailure(f"This is no valid address: {error}.") from None
    scheme = parts.scheme.lower()
    if scheme != "http" and scheme != "https":
        raise ToolFailure("Only addresses that begin with http:// or https:// can be fetched.")
    if "@" in parts.netloc:
        raise ToolFailure("The address contains a user name or a password; none is sent.")
    if port == 0:
        raise ToolFailure("This is no valid address: port 0.")
    query = f"?{quote(parts.query, safe=_IN_PATH + '?')}" if parts.query else ""
    target = (quote(parts.path, safe=_IN_PATH) or "/") + query
    return Address(scheme, _host_name(name), port or _PORTS[scheme], target)


def _host_name(name: str) -> str:
    if ":" in name:
        try:
            return str(IPv6Address(name))
        except ValueError:
            raise ToolFailure(f"{name!r} is no host.") from None
    try:
        ascii_name = name if name.isascii() else name.encode("idna").decode()
    except UnicodeError:
        raise ToolFailure(f"{name!r} is no host.") from None
    ascii_name = ascii_name.lower()
    if not _NAME.fullmatch(ascii_name) or ".." in ascii_name:
        raise ToolFailure(f"{name!r} is no host.")
    return ascii_name.rstrip(".")


def is_public(address: IpAddress) -> bool:
    """Whether everybody on the internet can reach the address: not this machine, not this network, no tunnel."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    usual = address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)
    return usual and address.ipv4_mapped is None and address.scope_id is None


async def resolved(name: str, port: int) -> tuple[IpAddress, ...]:
    """Implements `Resolve` with the name service of the machine."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(_RESOLVE_S):
        rows = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(row[4][0]) for row in rows))


async def checked_addresses(
    address: Address, resolve: Resolve, allowed: Callable[[IpAddress], bool]
) -> tuple[IpAddress, ...]:
    """All network addresses of the host. Raises ToolFailure if one of them is not allowed, or if there is none."""
    try:
        found = await resolve(address.name, address.port)
    except TimeoutError:
        raise ToolFailure(f"The name {address.name} was not resolved within {_RESOLVE_S} seconds.") from None
    except (OSError, ValueError):
        raise ToolFailure(f"The host {address.name} was not found.") from None
    if not found:
        raise ToolFailure(f"The host {address.name} was not found.")
    for one in found[:_MOST_ADDRESSES]:
        if not allowed(one):
            raise ToolFailure(
                f"ACCESS DENIED: {address.name} leads to {one}, an address of this machine, of a private network or for"
                " a special purpose. Only public addresses are fetched."
            )
    return found[:_MOST_ADDRESSES]
