"""Names of files that no tool opens, and the user's own additions."""

from collections.abc import Iterator

import pytest

from interlock.tools.files.names import refusal, use_secret_names

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


@pytest.fixture
def names_of_the_user() -> Iterator[None]:
    yield
    use_secret_names((), ())


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


@pytest.mark.usefixtures("names_of_the_user")
def test_the_user_adds_names_and_exceptions() -> None:
    assert (refusal(("notes.private",)), refusal(("test.pem",)) is None) == (None, False)
    use_secret_names(["*.private"], ["test.pem"])
    assert refusal(("Notes.PRIVATE",)) == "'Notes.PRIVATE' may hold secrets"
    assert (refusal(("test.pem",)), refusal(("server.pem",)) is None) == (None, False)
    use_secret_names((), ())
    assert refusal(("test.pem",)) is not None


@pytest.mark.usefixtures("names_of_the_user")
def test_an_exception_opens_neither_git_nor_interlock_nor_a_folder_of_secrets() -> None:
    use_secret_names((), ["*"])
    assert [refusal(tuple(path.split("/"))) is None for path in (".git/config", ".interlock/x", ".ssh/id_rsa")] == [
        False,
        False,
        False,
    ]
