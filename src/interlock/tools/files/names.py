"""Names that no tool opens in any folder: secrets, git's own files, Interlock's own files."""

import re
import unicodedata
from collections.abc import Iterable
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
    *("master.key", "*.mobileprovision", "*.keychain", "*.keychain-db", "*.jwk", "jwks.private*"),
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


_Reasons = tuple[tuple[re.Pattern[str], str], ...]


def _reasons(patterns: dict[str, str]) -> _Reasons:
    """One regular expression for all patterns of a reason: it runs for every name of a folder."""
    by_reason: dict[str, list[str]] = {}
    for pattern, why in patterns.items():
        by_reason.setdefault(why, []).append(translate(pattern))
    return tuple((re.compile("|".join(forms)), why) for why, forms in by_reason.items())


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


class _Table:
    """The names in effect. A user can add names of secrets and name exceptions; a project cannot."""

    def __init__(self) -> None:
        self.of_folders = _reasons(_ANYWHERE)
        self.of_files = _reasons(_ANYWHERE | dict.fromkeys(_FILES, _SECRET))
        self.samples = _any_of(_SAMPLES)
        self.excepted = _any_of(())

    def use(self, more: Iterable[str], exceptions: Iterable[str]) -> None:
        added = [_plain(name) for name in more]
        self.of_files = _reasons(_ANYWHERE | dict.fromkeys((*_FILES, *added), _SECRET))
        self.excepted = _any_of(_plain(name) for name in exceptions)


_table = _Table()


def use_secret_names(more: Iterable[str], exceptions: Iterable[str]) -> None:
    """Adds the user's patterns to the names of secret files, and the user's exceptions. Replaces earlier ones."""
    _table.use(more, exceptions)


def refusal(parts: tuple[str, ...], *, folder: bool = False) -> str | None:
    """The reason why this path is never opened, by its names alone; None if it may be opened."""
    for number, part in enumerate(parts, 1):
        is_folder = folder or number < len(parts)
        plain = _plain(part)
        for pattern, why in _table.of_folders if is_folder else _table.of_files:
            if pattern.match(plain) and not (why == _SECRET and not is_folder and _is_exception(plain)):
                return f"{part!r} {why}"
    return None


def _is_exception(plain: str) -> bool:
    return bool(_table.samples.match(plain) or _table.excepted.match(plain))


def _plain(name: str) -> str:
    """The name as a lenient file system compares it: no case, no invisible characters, no final dots or blanks."""
    if name.isascii() and name.isprintable():
        return name.lower().rstrip(". ")
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in ("Cf", "Cc"))
    return visible.casefold().rstrip(". ")
