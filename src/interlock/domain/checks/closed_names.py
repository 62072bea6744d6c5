"""Names of files that are not opened for a model: secrets, git's own files, Interlock's own files.

One table for tools, code views, briefings, searches and the policy. The assembly makes it from the user's settings.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from interlock.domain.checks.name_patterns import NamePatterns

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
    **dict.fromkeys(
        (
            *(".env*", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".oci", ".password-store"),
            *(".vault-token*", ".terraform.d", ".chef", ".boto*", ".s3cfg*", ".passwd-s3fs", ".keychain", "keyrings"),
        ),
        _SECRET,
    ),
}
# The last part, for files only: folders may have these names.
_FILES = (
    # keys and certificates with keys
    *(
        "*.pem",
        "*.key",
        "*.p12",
        "*.pfx",
        "*.p8",
        "*.pk8",
        "*.jks",
        "*.keystore",
        "*.kdbx",
        "*.kdb",
        "*.ppk",
        "*.pkcs12",
    ),
    *("*.gpg", "*.pgp", "*.asc.key", "*.agekey", "*.age", "*.keytab", "*.jceks", "*.bks", "*.truststore", "*.snk"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*", "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519"),
    *("ssh_host_*_key", "authorized_keys", "secring.*", "keystore.json", "wallet.dat", "*.wallet", "*.ovpn"),
    *(
        "master.key",
        "*.asc",
        "access_tokens.db",
        "adc.json",
        "*.mobileprovision",
        "*.keychain",
        "*.keychain-db",
        "*.jwk",
        "jwks.private*",
    ),
    # settings with passwords in them
    *("*.env", "env.*.local", "*.env.local", "*.env.production", "*.tfvars", "*.tfvars.json", "*.auto.tfvars*"),
    *("*.tfstate", "*.tfstate.*", "terraform.rc", ".terraformrc", "kubeconfig*", "*.kubeconfig", "kube.config"),
    *(
        ".netrc",
        "_netrc",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".pypirc",
        ".pgpass",
        "pgpass.conf",
        ".my.cnf",
        ".mylogin.cnf",
    ),
    *(
        ".htpasswd",
        "htpasswd",
        ".dockercfg",
        ".dockerconfigjson",
        ".gem-credentials",
        ".composer-auth.json",
        ".cargo-credentials",
    ),
    *("auth.json", "wp-config.php", "settings.local.*", "appsettings.*.local.json"),
    *(
        "shadow",
        "gshadow",
        "shadow-",
        ".rclone.conf",
        "rclone.conf",
        ".msmtprc",
        ".fetchmailrc",
        ".muttrc",
        ".authinfo*",
    ),
    *(
        ".smbcredentials",
        ".cifs*",
        "wpa_supplicant.conf",
        "*.rdp",
        "*.ica",
        "filezilla.xml",
        "sitemanager.xml",
        "recentservers.xml",
    ),
    *(".s3cfg", ".boto", ".ngrok2", "ngrok.yml", ".flyrc", ".netlify*", ".vercel-token*", ".gist"),
    *(
        ".sentryclirc",
        ".snyk-token*",
        ".twilio*",
        ".databrickscfg",
        ".snowsql*",
        ".pulumi-credentials*",
        ".vault_pass*",
        "vault_pass*",
    ),
    *(
        "vault-password*",
        ".ansible-vault*",
        "ansible_vault*",
        ".travis-token*",
        ".irbrc_secrets",
        ".esmtprc",
        ".lftprc",
    ),
    # credentials by their name
    *("credentials", "credentials.*", "*credentials.json", "*credentials.csv", "*credentials.y*ml", "*.credentials"),
    *(
        "application_default_credentials*",
        ".git-credentials",
        ".credentials*",
        "credential.*",
        "accesskeys.csv",
        "*accesskeys.csv",
    ),
    *(
        "rootkey.csv",
        "client_secret*.json",
        "client_secrets*.json",
        "service[-_]account*.json",
        "*service[-_]account*.json",
    ),
    *(
        "*-firebase-adminsdk-*.json",
        "google-services.json",
        "googleservice-info.plist",
        "gcp-key*.json",
        "gcloud-*key*.json",
    ),
    *(
        "secrets.*",
        "*.secrets",
        "*.secret",
        "*.secrets.*",
        "*-secrets.*",
        "*_secrets.*",
        "secret.*",
        "*-secret.y*ml",
        "*_secret.y*ml",
    ),
    *(
        "*.token",
        ".token",
        "token.json",
        "tokens.json",
        "token.txt",
        "apikey.*",
        "api_key.*",
        "api-key.*",
        "apikeys.*",
        "api_keys.*",
    ),
    *("password.txt", "passwords.*", "passwd", "passwd-", "pass.txt", "*.pwd", "*.passwd", "*.password", "*.kdbx.bak"),
    *(
        f"*{sign}{word}.{suffix}"
        for sign in "._-"
        for word in ("credential", "credentials", "secret", "secrets")
        for suffix in ("json", "toml", "y*ml", "ini", "csv", "xml", "txt", "env")
    ),
    *("*[._-]credential", "*[._-]credentials", "credential", "npmrc", "pypirc", "pgpass", "git-credentials"),
    *("netrc", "dockercfg", "vault-token", "._netrc"),
    # what was typed, and what a program remembered
    *(".bash_history", ".zsh_history", ".zhistory", ".sh_history", ".ksh_history", ".history", "fish_history"),
    *(
        ".python_history",
        ".node_repl_history",
        ".psql_history",
        ".mysql_history",
        ".sqlite_history",
        ".rediscli_history",
    ),
    *(
        ".mongo_history",
        ".dbshell",
        ".irb_history",
        ".pry_history",
        ".lesshst",
        ".viminfo",
        ".wget-hsts",
        "consolehost_history.txt",
    ),
    *(
        "cookies.sqlite",
        "cookies",
        "cookies.txt",
        "login data",
        "logins.json",
        "key3.db",
        "key4.db",
        "signons.sqlite",
        "*.har",
    ),
)
_WORDS = ("secret", "credential", "password", "passwd", "api*key", "token")
_CODE = (
    *(
        "py",
        "pyi",
        "pyc",
        "js",
        "mjs",
        "cjs",
        "jsx",
        "ts",
        "tsx",
        "go",
        "rs",
        "java",
        "kt",
        "rb",
        "c",
        "h",
        "cc",
        "cpp",
        "cs",
    ),
    *("swift", "php", "scala", "ex", "exs", "md", "rst", "html", "css", "svelte", "vue"),
)
# Samples without values and sources about secrets: people keep them to be read.
_SAMPLES = (
    *(f".env.{word}" for word in ("example", "sample", "template", "dist", "defaults", "schema", "test.example")),
    *(f"{word}.env" for word in ("example", "sample", "template")),
    *(f"*.{word}" for word in ("example", "sample", "template", "dist", "tpl")),
    *(
        f"*.{word}.{suffix}"
        for word in ("example", "sample", "template")
        for suffix in ("env", "tfvars", "json", "toml", "y*ml", "ini")
    ),
    *(f"*{word}*.{suffix}" for word in _WORDS for suffix in _CODE),
)


_Reasons = tuple[tuple[NamePatterns, str], ...]


class ClosedNames:
    """The table in effect: the built-in names, a user's additional names, and a user's exceptions."""

    def __init__(self, more: Iterable[str] = (), exceptions: Iterable[str] = ()) -> None:
        added = [_plain(name) for name in more]
        self._of_folders = _reasons(_ANYWHERE)
        self._of_files = _reasons(_ANYWHERE | dict.fromkeys((*_FILES, *added), _SECRET))
        self._open = NamePatterns((*_SAMPLES, *(_plain(name) for name in exceptions)))
        self._reason = lru_cache(4_096)(self._reason_of)  # most trees repeat the same names

    def refusal(self, parts: tuple[str, ...], *, folder: bool = False) -> str | None:
        """The reason why this path is never opened, by its names alone; None if it may be opened."""
        for number, part in enumerate(parts, 1):
            if why := self._reason(part, folder or number < len(parts)):
                return f"{part!r} {why}"
        return None

    def is_closed(self, path: str) -> bool:
        """Whether a file is never opened. The path is relative, with slashes."""
        return self.refusal(tuple(path.split("/"))) is not None

    def may_hold_secrets(self, parts: Iterable[str], *, folder: bool = False) -> bool:
        """Like `refusal`, but for secrets only: the user may look at git's and Interlock's own files."""
        *above, last = parts
        return any(self._reason(name, True) == _SECRET for name in above) or self._reason(last, folder) == _SECRET

    def _reason_of(self, name: str, folder: bool) -> str | None:
        plain = _plain(name)
        for pattern, why in self._of_folders if folder else self._of_files:
            if pattern.match(plain) and not (why == _SECRET and not folder and self._open.match(plain)):
                return why
        return None


def _reasons(patterns: dict[str, str]) -> _Reasons:
    by_reason: dict[str, list[str]] = {}
    for pattern, why in patterns.items():
        by_reason.setdefault(why, []).append(pattern)
    return tuple((NamePatterns(names), why) for why, names in by_reason.items())


def _plain(name: str) -> str:
    """The name as a lenient file system compares it: no case, no invisible characters, no final dots or blanks."""
    if name.isascii() and name.isprintable():
        return name.lower().rstrip(". ")
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in ("Cf", "Cc"))
    return visible.casefold().rstrip(". ")
