"""Every kind of secret is hidden, with a sample of each; code about secrets is left as it is.

The samples are put together here, so that no file of the project holds a text in the form of a secret.
"""

from pathlib import Path

import pytest

from interlock.assembly.secrets.detectors.shapes import BLOCKS, TOKENS
from interlock.assembly.secrets.redaction import HIDDEN, redactor

REPOSITORY = Path(__file__).parents[2]
MIXED = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC" * 8
UPPER = "A1B2C3D4E5F6G7H8J9K0L1M2N3P4Q5R6" * 4
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9" * 6
LOWER = "a1b2c3d4e5f6g7h8j9k0m1n2p3q4r5s6" * 4
UUID = f"{HEX[:8]}-{HEX[8:12]}-{HEX[12:16]}-{HEX[16:20]}-{HEX[20:32]}"
DASHES = "-" * 5

# For each kind of the table: a text, and the part that must not remain.
SHAPES: dict[str, tuple[str, str]] = {
    "anthropic": (f"sk-ant-api03-{MIXED[:40]}", MIXED[:40]),
    "openrouter": (f"sk-or-v1-{HEX[:64]}", HEX[:64]),
    "openai": (f"sk-proj-{MIXED[:48]}", MIXED[:48]),
    "hugging-face": (f"hf_{MIXED[:34]}", MIXED[:34]),
    "google-api": (f"AIza{MIXED[:35]}", MIXED[:35]),
    "groq": (f"gsk_{MIXED[:52]}", MIXED[:52]),
    "xai": (f"xai-{MIXED[:80]}", MIXED[:80]),
    "replicate": (f"r8_{MIXED[:37]}", MIXED[:37]),
    "perplexity": (f"pplx-{MIXED[:48]}", MIXED[:48]),
    "github": (f"ghp_{MIXED[:36]}", MIXED[:36]),
    "github-fine-grained": (f"github_pat_{MIXED[:22]}_{MIXED[:59]}", MIXED[:22]),
    "gitlab": (f"glpat-{MIXED[:20]}", MIXED[:20]),
    "gitlab-runner": (f"GR1348941{MIXED[:20]}", MIXED[:20]),
    "bitbucket": (f"ATBB{MIXED[:32]}", MIXED[:32]),
    "atlassian": (f"ATATT3xFfGF0{MIXED[:180]}", MIXED[:180]),
    "npm": (f"npm_{MIXED[:36]}", MIXED[:36]),
    "pypi": (f"pypi-AgEIcHlwaS5vcmc{MIXED[:80]}", MIXED[:80]),
    "rubygems": (f"rubygems_{HEX[:48]}", HEX[:48]),
    "nuget": (f"oy2{LOWER[:43]}", LOWER[:43]),
    "docker-hub": (f"dckr_pat_{MIXED[:27]}", MIXED[:27]),
    "artifactory": (f"AKCp{MIXED[:69]}", MIXED[:69]),
    "circleci": (f"CCIPAT_{MIXED[:22]}_{HEX[:40]}", HEX[:40]),
    "buildkite": (f"bkua_{HEX[:40]}", HEX[:40]),
    "sonarqube": (f"sqp_{HEX[:40]}", HEX[:40]),
    "sentry": (f"sntrys_{MIXED[:60]}", MIXED[:60]),
    "postman": (f"PMAK-{HEX[:24]}-{HEX[:34]}", HEX[:34]),
    "linear": (f"lin_api_{MIXED[:40]}", MIXED[:40]),
    "notion": (f"ntn_{MIXED[:46]}", MIXED[:46]),
    "figma": (f"figd_{MIXED[:40]}", MIXED[:40]),
    "doppler": (f"dp.pt.{MIXED[:43]}", MIXED[:43]),
    "launchdarkly": (f"sdk-{UUID}", UUID),
    "prefect": (f"pnu_{MIXED[:36]}", MIXED[:36]),
    "aws-access-key": (f"AKIA{UPPER[:16]}", UPPER[:16]),
    "google-oauth-token": (f"ya29.{MIXED[:60]}", MIXED[:60]),
    "google-client-secret": (f"GOCSPX-{MIXED[:28]}", MIXED[:28]),
    "google-refresh-token": (f"1//0{MIXED[:60]}", MIXED[:60]),
    "azure-client-secret": (f"abc8Q~{MIXED[:34]}", MIXED[:34]),
    "azure-key": (f"AccountName=x;AccountKey={MIXED[:86]}==;EndpointSuffix=y", MIXED[:86]),
    "signature-in-url": (f"https://x.blob.example/y?sv=1&sig={MIXED[:43]}%3D", MIXED[:43]),
    "digitalocean": (f"dop_v1_{HEX[:64]}", HEX[:64]),
    "alibaba": (f"LTAI{MIXED[:20]}", MIXED[:20]),
    "tencent": (f"AKID{MIXED[:32]}", MIXED[:32]),
    "yandex": (f"AQVN{MIXED[:36]}", MIXED[:36]),
    "cloudflare-origin": (f"v1.0-{HEX[:24]}-{HEX[:146]}", HEX[:146]),
    "heroku": (f"HRKU-AA{MIXED[:58]}", MIXED[:58]),
    "fly": (f"fo1_{MIXED[:43]}", MIXED[:43]),
    "netlify": (f"nfp_{MIXED[:36]}", MIXED[:36]),
    "vercel": (f"vercel_blob_rw_{MIXED[:40]}", MIXED[:40]),
    "supabase": (f"sbp_{HEX[:40]}", HEX[:40]),
    "planetscale": (f"pscale_tkn_{MIXED[:43]}", MIXED[:43]),
    "databricks": (f"dapi{HEX[:32]}", HEX[:32]),
    "tailscale": (f"tskey-auth-{MIXED[:12]}-{MIXED[:32]}", MIXED[:32]),
    "vault": (f"hvs.{MIXED[:90]}", MIXED[:90]),
    "terraform-cloud": (f"{MIXED[:14]}.atlasv1.{MIXED[:67]}", MIXED[:67]),
    "pulumi": (f"pul-{HEX[:40]}", HEX[:40]),
    "new-relic": (f"NRAK-{UPPER[:27]}", UPPER[:27]),
    "grafana": (f"glsa_{MIXED[:32]}_{HEX[:8]}", MIXED[:32]),
    "dynatrace": (f"dt0c01.{UPPER[:24]}.{UPPER[:64]}", UPPER[:64]),
    "1password": (f"ops_eyJ{MIXED[:100]}", MIXED[:100]),
    "stripe": (f"sk_live_{MIXED[:24]}", MIXED[:24]),
    "stripe-webhook": (f"whsec_{MIXED[:32]}", MIXED[:32]),
    "square": (f"sq0atp-{MIXED[:22]}", MIXED[:22]),
    "shopify": (f"shpat_{HEX[:32]}", HEX[:32]),
    "braintree": (f"access_token$production${LOWER[:16]}${HEX[:32]}", HEX[:32]),
    "plaid": (f"access-sandbox-{UUID}", UUID),
    "shippo": (f"shippo_live_{HEX[:40]}", HEX[:40]),
    "easypost": (f"EZAK{MIXED[:54]}", MIXED[:54]),
    "sendgrid": (f"SG.{MIXED[:22]}.{MIXED[:43]}", MIXED[:43]),
    "mailgun": (f"key-{HEX[:32]}", HEX[:32]),
    "mailchimp": (f"{HEX[:32]}-us12", HEX[:32]),
    "sendinblue": (f"xkeysib-{HEX[:64]}-{MIXED[:16]}", HEX[:64]),
    "twilio": (f"SK{HEX[:32]}", HEX[:32]),
    "slack": (f"xoxb-{'1' * 12}-{MIXED[:24]}", MIXED[:24]),
    "slack-webhook": (f"https://hooks.slack.com/services/T{UPPER[:8]}/B{UPPER[:8]}/{MIXED[:24]}", MIXED[:24]),
    "teams-webhook": (f"https://x.webhook.office.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/{HEX[:32]}", HEX[:32]),
    "discord-webhook": (f"https://discord.com/api/webhooks/{'1' * 18}/{MIXED[:68]}", MIXED[:68]),
    "telegram": (f"123456789:AA{MIXED[:33]}", MIXED[:33]),
    "facebook": (f"EAAG{MIXED[:120]}", MIXED[:120]),
    "twitter-bearer": ("A" * 22 + MIXED[:60], MIXED[:60]),
    "airtable": (f"pat{MIXED[:14]}.{HEX[:64]}", HEX[:64]),
    "typeform": (f"tfp_{MIXED[:44]}", MIXED[:44]),
    "contentful": (f"CFPAT-{MIXED[:43]}", MIXED[:43]),
    "mapbox": (f"sk.eyJ{MIXED[:60]}.{MIXED[:22]}", MIXED[:60]),
    "readme": (f"rdme_{LOWER[:70]}", LOWER[:70]),
    "adafruit": (f"aio_{MIXED[:28]}", MIXED[:28]),
    "jwt": (f"eyJ{MIXED[:20]}.eyJ{MIXED[:40]}.{MIXED[:43]}", MIXED[:43]),
    "age": (f"AGE-SECRET-KEY-1{UPPER[:58]}", UPPER[:58]),
    "private-key": (
        f"{DASHES}BEGIN OPENSSH PRIVATE KEY{DASHES}\n{MIXED[:64]}\n{DASHES}END OPENSSH PRIVATE KEY{DASHES}",
        MIXED[:64],
    ),
    "ssh2-key": (f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{MIXED[:64]}\n---- END SSH2 X", MIXED[:64]),
    "putty-key": (
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{MIXED[:64]}\nPrivate-MAC: {HEX[:40]}",
        MIXED[:64],
    ),
    "password-hash": (f"root:$6$saltsalt${MIXED[:86]}:19000", MIXED[:86]),
    "okta-header": (f"Authorization: SSWS 00{MIXED[:40]}", MIXED[:40]),
    "pgpass": ("db.internal:5432:shop:ann:hunter2hunter2", "hunter2hunter2"),
    "netrc": ("machine host.internal login ann password hunter2", "hunter2"),
    "mysql-option": ("mysql -h db -u root -phunter2x shop", "hunter2x"),
    "sshpass": ("sshpass -p hunter2 ssh ann@host", "hunter2"),
    "user-option": ("curl -u ann:hunter2 https://host.internal", "hunter2"),
    "sql": ("CREATE USER ann IDENTIFIED BY 'hunter2'", "hunter2"),
}

# Secrets without a form of their own: by their name or their place.
NAMED: dict[str, tuple[str, str]] = {
    "aws-secret": (f"aws_secret_access_key = {MIXED[:20]}/{MIXED[:19]}", MIXED[:20]),
    "aws-secret-beside-its-key": (f"AKIA{UPPER[:16]} {MIXED[:20]}/{MIXED[:19]}", MIXED[:20]),
    "aws-session-token": (f"AWS_SESSION_TOKEN={MIXED[:120]}", MIXED[:120]),
    "discord": (f"M{MIXED[:23]}.{MIXED[:6]}.{MIXED[:38]}", MIXED[:38]),
    "gcp-service-account": ('{"type": "service_account", "private_key_id": "' + HEX[:40] + '"}', HEX[:40]),
    "gcp-private-key": (f'"private_key": "{DASHES}BEGIN PRIVATE KEY{DASHES}\\n{MIXED[:64]}"', MIXED[:64]),
    "pgp": (
        f"{DASHES}BEGIN PGP PRIVATE KEY BLOCK{DASHES}\n\n{MIXED[:64]}\n{DASHES}END PGP PRIVATE KEY BLOCK{DASHES}",
        MIXED[:64],
    ),
    "rsa": (f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}\n{MIXED[:64]}", MIXED[:64]),
    "password": ("password=hunter2", "hunter2"),
    "password-in-words": ("password=letmeinplease", "letmeinplease"),
    "password-in-ini": ("password = s3cr3t!pass", "s3cr3t!pass"),
    "password-in-yaml": ("  password: hunter2", "hunter2"),
    "password-in-json": ('{"user": "ann", "password": "hunter2"}', "hunter2"),
    "password-in-escaped-json": ('"{\\"password\\": \\"hunter2x\\"}"', "hunter2x"),
    "password-in-code": ('connect(host, password="hunter2!")', "hunter2!"),
    "password-in-xml": ("<password>hunter2x</password>", "hunter2x"),
    "password-option": ("tool --password hunter2", "hunter2"),
    "password-option-with-sign": ("tool --password=hunter2", "hunter2"),
    "passphrase": ('passphrase: "correct1horse"', "correct1horse"),
    "variable-pass": ("SMTP_PASS=hunter2hunter2", "hunter2hunter2"),
    "variable-pwd": ("export DB_PWD=hunter2hunter2", "hunter2hunter2"),
    "variable-pat": (f"AZURE_PAT={LOWER[:52]}", LOWER[:52]),
    "variable-dsn": (f"SENTRY_DSN=https://{HEX[:32]}@o1.ingest.example/1", HEX[:32]),
    "variable-key": (f"DD_API_KEY={HEX[:32]}", HEX[:32]),
    "cloudflare": (f"CLOUDFLARE_API_TOKEN={MIXED[:40]}", MIXED[:40]),
    "heroku-uuid": (f"HEROKU_API_KEY={UUID}", UUID),
    "twilio-token": (f'auth_token = "{HEX[:32]}"', HEX[:32]),
    "api-key": (f"api_key: {MIXED[:24]}", MIXED[:24]),
    "api-key-in-code": (f'apiKey: "{MIXED[:24]}",', MIXED[:24]),
    "client-secret": (f'"client_secret": "{MIXED[:32]}"', MIXED[:32]),
    "header": (f"X-Api-Key: {MIXED[:32]}", MIXED[:32]),
    "npmrc": (f"//registry.internal/:_authToken={UUID}", UUID),
    "credentials": (f"credentials = '{MIXED[:24]}'", MIXED[:24]),
    "database-url": ("DATABASE_URL=postgres://ann:hunter2@db/shop", "hunter2"),
    "redis-url": ("redis://:hunter2@cache:6379/0", "hunter2"),
    "mongodb": ("mongodb+srv://ann:hunter2@cluster.internal/x", "hunter2"),
    "connection-string": ("Server=db;Database=shop;User Id=ann;Password=hunter2;", "hunter2"),
    "jdbc": ("jdbc:postgresql://db/shop?user=ann&password=hunter2x", "hunter2x"),
    "git-remote": (f"https://{MIXED[:40]}@github.com/x/y.git", MIXED[:40]),
    "bearer": (f"Authorization: Bearer {MIXED[:30]}", MIXED[:30]),
    "bearer-elsewhere": (f'"Bearer {MIXED[:30]}"', MIXED[:30]),
    "basic": ("Authorization: Basic YW5uOmh1bnRlcjI=", "YW5uOmh1bnRlcjI="),
    "query": (f"https://host/x?access_token={MIXED[:30]}", MIXED[:30]),
    "docker-env": ("docker run -e DB_PASSWORD=hunter2hunter2 x", "hunter2hunter2"),
    "terraform": ('  db_password = "hunter2hunter2"', "hunter2hunter2"),
    "bcrypt": (f"ann:$2y$10${MIXED[:53]}", MIXED[:53]),
}


def test_the_table_is_wide() -> None:
    assert {one.kind for one in (*TOKENS, *BLOCKS)} == set(SHAPES)
    assert len(SHAPES) + len(NAMED) >= 100


@pytest.mark.parametrize("kind", [*SHAPES, *NAMED])
@pytest.mark.parametrize("frame", ["{}", "before {} after\n", "# first line\n{}\nlast line\n", "é {} ß"])
def test_every_kind_of_secret_is_hidden(kind: str, frame: str) -> None:
    text, secret = {**SHAPES, **NAMED}[kind]
    if kind in ("pgpass", "password-in-words", "password-in-ini") and "\n{}\n" not in frame:
        frame = "{}"  # within a line, these are ordinary words
    shown = redactor({})(frame.replace("{}", text))
    assert secret not in shown and HIDDEN in shown


@pytest.mark.parametrize("kind", [*SHAPES, *NAMED])
def test_hiding_twice_changes_nothing_more(kind: str) -> None:
    text, _ = {**SHAPES, **NAMED}[kind]
    once = redactor({})(text)
    assert redactor({})(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "password = getpass.getpass()",
        "def login(user: str, password: str) -> Token:",
        "login(user, password=password, token=self.token)",
        "token = next(tokens)",
        'key = lambda row: row["key"]',
        "api_key: str | None = None",
        'api_key = os.environ["API_KEY"]',
        "secret = config.get('secret')",
        "PASSWORD_HASHERS = [",
        "password: ${DB_PASSWORD}",
        "password: {{ vault_password }}",
        "password=<your password>",
        'password: "changeme-example"',
        "sort(key=len, reverse=True)",
        "primary_key = True",
        "foreign_key: user_id",
        "the token is read from the file",
        "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
        "commit 8555f81c0ffee8555f81c0ffee8555f81c0ffee8",
        "https://example.org/a/b?page=2&sort=name",
        "import task-force and risk-averse-people-everywhere",
        "cache_key = f'{user.id}:{page}'",
        '"keywords": ["secret", "token"]',
        "pytest -k 'token and not secret'",
        "grep -n password src/app.py",
        "--token-file tokens.json",
    ],
)
def test_code_about_secrets_is_left_as_it_is(text: str) -> None:
    assert redactor({})(text) == text


def test_the_sources_of_this_project_are_left_as_they_are() -> None:
    redact = redactor({})
    changed = {
        str(file.relative_to(REPOSITORY))
        for file in (REPOSITORY / "src").rglob("*.py")
        if redact(text := file.read_text(encoding="utf-8")) != text
    }
    assert changed <= {"src/interlock/assembly/secrets/detectors/named_values.py"}  # an example in a comment


@pytest.mark.parametrize(
    "name",
    [
        "GITHUB_PAT",
        "DB_PASS",
        "SENTRY_DSN",
        "DATABASE_URL",
        "MYSQL_PWD",
        "GOOGLE_CREDENTIALS",
        "REDIS_URL",
        "NPM_AUTH",
        "SLACK_WEBHOOK",
        "SHOP_API_KEY",
        "X_SECRET",
        "Y_TOKEN",
        "PGPASSWORD",
        "AZURE_CONNECTION_STRING",
    ],
)
def test_the_value_of_a_variable_with_a_secrets_name_is_hidden(name: str) -> None:
    assert redactor({name: "plain words here"})("it is plain words here.") == f"it is {HIDDEN}."


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "PATH", "SSH_AUTH_SOCK", "HOME", "KEYBOARD", "PASSAGE", "URL"])
def test_the_value_of_another_variable_is_not(name: str) -> None:
    assert redactor({name: "/users/ann/shop"})("in /users/ann/shop") == "in /users/ann/shop"


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "password ",
        "key=",
        "https://",
        "-----BEGIN ",
        "eyJ",
        "password='",
        "key:\t",
        "login x password ",
        "-----BEGIN " + "PRIVATE KEY-----\n",
    ],
)
def test_a_long_repetitive_text_takes_no_more_than_linear_steps(text: str) -> None:
    """A quadratic search would take minutes here, and the limit of a test is two."""
    redactor({})(text * (200_000 // len(text)))
