"""Names of files that are not opened for a model, and the user's own additions."""

import pytest

from interlock.domain.checks.closed_names import ClosedNames

_SECRET = """
.env .env.local .env.production .envrc prod.env production.env staging.env app.env.local
terraform.tfvars prod.auto.tfvars terraform.tfvars.json terraform.tfstate terraform.tfstate.backup .terraformrc
kubeconfig kubeconfig.yaml prod.kubeconfig auth.json .dockercfg .dockerconfigjson
.bash_history .zsh_history .python_history .psql_history .mysql_history .node_repl_history fish_history
.pgpass pgpass.conf .my.cnf .mylogin.cnf .netrc _netrc .npmrc .yarnrc.yml .pypirc .git-credentials .htpasswd
id_rsa id_dsa id_ecdsa id_ed25519 id_rsa.old deploy_rsa server.pem server.key store.p12 store.pfx app.jks app.keystore
vault.kdbx key.ppk secret.gpg host.keytab client.ovpn master.key ssh_host_rsa_key wallet.dat keys.agekey
credentials credentials.json credentials.yml aws-credentials.csv accessKeys.csv rootkey.csv client_secret_1.json
service-account.json my-service-account-prod.json gcp-key.json x-firebase-adminsdk-1.json google-services.json
secrets.yaml secrets.yml secrets.toml prod.secrets.yml db-secrets.json api_key.txt apikey.txt token.json
password.txt passwords.csv .vault_pass .s3cfg .boto .databrickscfg rclone.conf .authinfo wp-config.php cookies.sqlite
logins.json key4.db .ENV Prod.Env ID_RSA
"""
_OPEN = """
.env.example .env.sample .env.template example.env sample.env config.example.env terraform.tfvars.example
README.md app.py secrets.py secret.rs credentials.py credential_store.go password_reset.ts tokens.py tokenizer.json
environment.ts keys.py keyboard.js package.json history.py authentication.py auth.py auth.ts monkey.md publickey.go
main.tf variables.tf values.yaml Dockerfile docker-compose.yml settings.json hosts.yml database.yml id.py identity.json
"""
SECRET, OPEN = _SECRET.split(), _OPEN.split()


refusal = ClosedNames().refusal


@pytest.mark.parametrize("name", SECRET)
def test_a_usual_name_of_a_secret_file_is_refused(name: str) -> None:
    assert refusal(("src", name)) == f"{name!r} may hold secrets"


@pytest.mark.parametrize("name", OPEN)
def test_samples_and_sources_can_be_read(name: str) -> None:
    assert refusal(("src", name)) is None


@pytest.mark.parametrize(
    "path", [".aws/credentials", ".aws/config", ".docker/config.json", ".kube/config", ".ssh/known_hosts", ".gnupg/x"]
)
def test_everything_in_a_folder_of_secrets_is_refused(path: str) -> None:
    assert refusal(tuple(path.split("/"))) is not None


def test_a_folder_may_have_the_name_of_a_secret_file() -> None:
    assert refusal(("credentials", "store.py")) is None
    assert refusal(("credentials",), folder=True) is None


def test_names_of_keys_and_credentials_that_code_views_refused_are_in_the_same_table() -> None:
    names = "my-credential.toml app.secret.ini db_secrets.txt release.asc npmrc dockercfg vault-token id_ed25519_sk"
    assert [name for name in names.split() if refusal((name,)) is None] == []


def test_the_user_adds_names_and_exceptions() -> None:
    own = ClosedNames(["*.private"], ["test.pem"]).refusal
    assert own(("Notes.PRIVATE",)) == "'Notes.PRIVATE' may hold secrets"
    assert (own(("test.pem",)), own(("server.pem",)) is None) == (None, False)
    assert (refusal(("notes.private",)), refusal(("test.pem",)) is None) == (None, False)


def test_an_exception_opens_neither_git_nor_interlock_nor_a_folder_of_secrets() -> None:
    names = ClosedNames((), ["*"])
    assert [names.is_closed(path) for path in (".git/config", ".interlock/x", ".ssh/id_rsa", "a.pem")] == [
        True,
        True,
        True,
        False,
    ]


def test_the_names_of_git_and_interlock_are_closed_but_hold_no_secrets() -> None:
    names = ClosedNames()
    for path in ("interlock.toml", ".git/config"):
        assert (names.is_closed(path), names.may_hold_secrets(path.split("/"))) == (True, False)
    for path in (".env", "src/.env", ".aws/config", ".ssh/x"):
        assert (names.is_closed(path), names.may_hold_secrets(path.split("/"))) == (True, True)
    assert names.may_hold_secrets([".aws"], folder=True)
    assert not names.may_hold_secrets(["credentials"], folder=True)


@pytest.mark.parametrize("name", [".env\u200b", "．env", ".ENV. ", "\u202e.env", "id_rsa\x07", "ſecrets.yml"])
def test_a_name_that_a_lenient_file_system_takes_for_another_counts_as_that(name: str) -> None:
    assert ClosedNames().is_closed(name)
