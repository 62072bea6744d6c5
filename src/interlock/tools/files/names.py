"""Names that no tool opens in any folder: secrets, git's own files, Interlock's own files."""

import re
import unicodedata
from fnmatch import translate

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
# The last part, for files only: folders may have these names.
_FILES = (
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.pk8", "*.jks", "*.keystore", "*.kdbx", "*.ppk"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*"),
    *("credentials", "credentials.json", "credentials.toml", "credentials.y*ml", "credentials.ini", "credentials.xml"),
    *("*credentials.json", "*credentials.csv", "application_default_credentials*", ".git-credentials"),
    *("client_secret*.json", "service[-_]account*.json", "secrets.json", "secrets.toml", "secrets.y*ml"),
    *(".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".dockercfg"),
)


_Reasons = tuple[tuple[re.Pattern[str], str], ...]


def _reasons(patterns: dict[str, str]) -> _Reasons:
    """One regular expression for all patterns of a reason: it runs for every name of a folder."""
    by_reason: dict[str, list[str]] = {}
    for pattern, why in patterns.items():
        by_reason.setdefault(why, []).append(translate(pattern))
    return tuple((re.compile("|".join(forms)), why) for why, forms in by_reason.items())


_OF_FOLDERS = _reasons(_ANYWHERE)
_OF_FILES = _reasons(_ANYWHERE | dict.fromkeys(_FILES, _SECRET))


def refusal(parts: tuple[str, ...], *, folder: bool = False) -> str | None:
    """The reason why this path is never opened, by its names alone; None if it may be opened."""
    for number, part in enumerate(parts, 1):
        is_folder = folder or number < len(parts)
        plain = _plain(part)
        for pattern, why in _OF_FOLDERS if is_folder else _OF_FILES:
            if pattern.match(plain):
                return f"{part!r} {why}"
    return None


def _plain(name: str) -> str:
    """The name as a lenient file system compares it: no case, no invisible characters, no final dots or blanks."""
    if name.isascii() and name.isprintable():
        return name.lower().rstrip(". ")
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in ("Cf", "Cc"))
    return visible.casefold().rstrip(". ")
