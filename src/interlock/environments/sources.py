"""Where package managers get packages from: the user's mirrors and certificates, never the user's passwords.

The prepare phase has network and an empty home, so that nothing of the user's can be sent away. A company's mirror is
still needed. Its address counts if there is no name or password in it.
"""

import os
import re
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error

_NAMES = frozenset(
    (
        *(
            "PIP_INDEX_URL",
            "PIP_EXTRA_INDEX_URL",
            "PIP_FIND_LINKS",
            "PIP_NO_INDEX",
            "PIP_TRUSTED_HOST",
            "PIP_CERT",
            "PIP_DEFAULT_TIMEOUT",
        ),
        *("PIP_PREFER_BINARY", "PIP_CONSTRAINT", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_NATIVE_TLS"),
        *(
            "NPM_CONFIG_REGISTRY",
            "npm_config_registry",
            "NPM_CONFIG_CAFILE",
            "npm_config_cafile",
            "NODE_EXTRA_CA_CERTS",
        ),
        *("YARN_NPM_REGISTRY_SERVER", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "CARGO_HTTP_CAINFO"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    )
)
_PIP_KEYS = ("index-url", "extra-index-url", "find-links", "trusted-host", "cert", "timeout")
_NPM_KEYS = ("registry", "cafile")
_HAS_PASSWORD = re.compile(r"://[^/\s@]*@|[?&](?:token|key|auth|password|sig)=", re.IGNORECASE)


def package_sources(env: Mapping[str, str]) -> dict[str, str]:
    """Variables for package managers: of the environment, else of the configuration files of pip and npm."""
    home = env.get("HOME", "")
    found = {**_of_pip(home, env), **_of_npm(home)}
    found |= {name: value for name, value in env.items() if name in _NAMES}
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):  # other tools do not read the configuration of pip
        if (certificate := found.get("PIP_CERT")) and name not in found:
            found[name] = certificate
    return {name: value for name, value in found.items() if value and not _HAS_PASSWORD.search(value)}


def local_sources(sources: Mapping[str, str]) -> tuple[str, ...]:
    """Files and folders of this machine that the sources name, such as certificates and folders of packages."""
    words = (word.removeprefix("file://") for value in sources.values() for word in re.split(r"[\s,]+", value))
    return tuple(
        dict.fromkeys(os.path.normpath(word) for word in words if word.startswith("/") and os.path.exists(word))
    )


def _of_pip(home: str, env: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    own = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for path in ("/etc/pip.conf", os.path.join(home, ".pip/pip.conf"), os.path.join(own, "pip/pip.conf")):
        parser = ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(path, encoding="utf-8")
        except (OSError, Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            for key in _PIP_KEYS:
                if value := parser.get(section, key, fallback=""):
                    name = {"timeout": "default_timeout"}.get(key, key.replace("-", "_"))
                    found[f"PIP_{name.upper()}"] = " ".join(value.split())
    return found


def _of_npm(home: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in ("/etc/npmrc", "/usr/etc/npmrc", os.path.join(home, ".npmrc")):
        for key, value in _pairs(path):
            if key in _NPM_KEYS:
                found[f"npm_config_{key}"] = value
    return found


def _pairs(path: str) -> Iterator[tuple[str, str]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file.read(100_000).splitlines():
                key, found, value = line.partition("=")
                if found:
                    yield key.strip(), value.strip().strip('"')
    except OSError:
        return
