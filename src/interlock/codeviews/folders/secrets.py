"""Files that no view shows because they may contain secrets: by name, and by their first bytes."""

import re
from functools import lru_cache

_NAMES = re.compile(
    r"""\.env.* | (.*_)?history\.toml
    | .*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|gpg|asc|ovpn)
    | id_(rsa|dsa|ecdsa|ed25519)(_sk)?
    | \.?(netrc|_netrc|pgpass|npmrc|pypirc|htpasswd|git-credentials|dockercfg|vault-token)
    | (.*[._-])?credentials?(\.(json|toml|ya?ml|ini|csv|xml|txt))?
    | (.*[._-])?secrets?\.(json|toml|ya?ml|ini|txt|env)
    | \.(ssh|aws|gnupg|kube|docker|azure) | gcloud""",
    re.VERBOSE | re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(rb"\s*-----BEGIN [A-Z ]*PRIVATE KEY")


def is_secret(path: str) -> bool:
    return is_secret_name(path.rstrip("/").rpartition("/")[2])


@lru_cache(4_096)  # most trees repeat the same names
def is_secret_name(name: str) -> bool:
    return _NAMES.fullmatch(name) is not None


def contains_key(source: bytes) -> bool:
    return _PRIVATE_KEY.match(source[:200]) is not None
