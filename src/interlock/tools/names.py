"""Names that no tool opens, wherever they lie: secrets, git's own files, Interlock's own files."""

import unicodedata
from fnmatch import fnmatchcase

_OURS = "belongs to Interlock"
_GIT = "belongs to git"
_SECRET = "may hold secrets"

# Any part of a path.
_ANYWHERE = {
    ".git": _GIT,
    ".interlock*": _OURS,
    "interlock.toml": _OURS,
    "history.toml": _OURS,
    "*_history.toml": _OURS,
    ".env*": _SECRET,
    ".ssh": _SECRET,
    ".gnupg": _SECRET,
    ".aws": _SECRET,
    ".azure": _SECRET,
    ".kube": _SECRET,
    ".docker": _SECRET,
}
# The last part, when it is a file: folders may be called so.
_FILES = (
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.pk8", "*.jks", "*.keystore", "*.kdbx", "*.ppk"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*"),
    *("credentials", "credentials.json", "credentials.toml", "credentials.y*ml", "credentials.ini", "credentials.xml"),
    *("*credentials.json", "*credentials.csv", "application_default_credentials*", ".git-credentials"),
    *("client_secret*.json", "service[-_]account*.json", "secrets.json", "secrets.toml", "secrets.y*ml"),
    *(".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".dockercfg"),
)


def refusal(parts: tuple[str, ...], *, folder: bool = False) -> str | None:
    """Why this path is never opened, by its names alone; None when they are harmless."""
    for number, part in enumerate(parts, 1):
        plain = _plain(part)
        for pattern, why in _ANYWHERE.items():
            if fnmatchcase(plain, pattern):
                return f"{part!r} {why}"
        if number == len(parts) and not folder and any(fnmatchcase(plain, pattern) for pattern in _FILES):
            return f"{part!r} {_SECRET}"
    return None


def _plain(name: str) -> str:
    """As the most forgiving file system would read it: no case, nothing invisible, no dots or blanks at the end."""
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in ("Cf", "Cc"))
    return visible.casefold().rstrip(". ")
