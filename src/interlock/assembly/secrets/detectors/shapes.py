"""Secrets with a form of their own, by vendor: a prefix, an alphabet and a length."""

import re
from collections.abc import Iterator

from interlock.assembly.secrets.detectors.detector import Shape, Span, shape

_B = r"(?<![A-Za-z0-9_-])"  # a token does not begin within a word
_HEX = "[0-9a-f]"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

# Tokens without blanks: searched for only in runs of token characters.
TOKENS: tuple[Shape, ...] = (
    # ── models ──
    shape("anthropic", "sk-ant-", _B + r"sk-ant-[A-Za-z0-9_-]{16,}"),
    shape("openrouter", "sk-or-", _B + r"sk-or-[A-Za-z0-9_-]{16,}"),
    shape("openai", "sk-", _B + r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]*[0-9A-Z_][A-Za-z0-9_-]{15,}"),
    shape("hugging-face", "hf_ api_org_", _B + r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    shape("google-api", "AIza", r"(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}"),
    shape("groq", "gsk_", _B + r"gsk_[A-Za-z0-9]{40,}"),
    shape("xai", "xai-", _B + r"xai-[A-Za-z0-9]{40,}"),
    shape("replicate", "r8_", _B + r"r8_[A-Za-z0-9]{35,}"),
    shape("perplexity", "pplx-", _B + r"pplx-[A-Za-z0-9]{30,}"),
    # ── where code is kept and built ──
    shape("github", "ghp_ gho_ ghu_ ghs_ ghr_", _B + r"gh[pousr]_[A-Za-z0-9]{20,}"),
    shape("github-fine-grained", "github_pat_", _B + r"github_pat_[A-Za-z0-9_]{20,}"),
    shape(
        "gitlab",
        "glpat- gldt- glrt- glptt- glcbt- glft- glimt- glagent- gloas- glsoat-",
        _B + r"gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{20,}",
    ),
    shape("gitlab-runner", "GR1348941", _B + r"GR1348941[A-Za-z0-9_-]{20,}"),
    shape("bitbucket", "ATBB ATCTT3", _B + r"AT(?:BB|CTT3)[A-Za-z0-9_=-]{20,}"),
    shape("atlassian", "ATATT3", _B + r"ATATT3[A-Za-z0-9_=-]{40,}"),
    shape("npm", "npm_", _B + r"npm_[A-Za-z0-9]{36}"),
    shape("pypi", "pypi-AgE", _B + r"pypi-AgE[A-Za-z0-9_-]{30,}"),
    shape("rubygems", "rubygems_", _B + r"rubygems_[0-9a-f]{48}"),
    shape("nuget", "oy2", _B + r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    shape("docker-hub", "dckr_pat_ dckr_oat_", _B + r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    shape("artifactory", "AKCp cmVmdGtu", _B + r"(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})"),
    shape("circleci", "CCIPAT_", _B + r"CCIPAT_[A-Za-z0-9_]{20,}"),
    shape("buildkite", "bkua_", _B + r"bkua_[0-9a-f]{40}"),
    shape("sonarqube", "sqp_ squ_ sqa_", _B + r"sq[pua]_[0-9a-f]{40}"),
    shape("sentry", "sntrys_ sntryu_", _B + r"sntry[su]_[A-Za-z0-9_=+/-]{30,}"),
    shape("postman", "PMAK-", _B + r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    shape("linear", "lin_api_ lin_oauth_", _B + r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    shape("notion", "ntn_ secret_", _B + r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})(?![A-Za-z0-9])"),
    shape("figma", "figd_", _B + r"figd_[A-Za-z0-9_-]{30,}"),
    shape("doppler", "dp.pt. dp.st. dp.ct. dp.sa.", _B + r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9.]{30,}"),
    shape("launchdarkly", "sdk- api-", _B + rf"(?:sdk|api)-{_UUID}"),
    shape("prefect", "pnu_ pnb_", _B + r"pn[ub]_[A-Za-z0-9]{36}"),
    # ── clouds ──
    shape(
        "aws-access-key", "AKIA ASIA ABIA ACCA", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![A-Za-z0-9])"
    ),
    shape("google-oauth-token", "ya29.", _B + r"ya29\.[A-Za-z0-9_-]{20,}"),
    shape("google-client-secret", "GOCSPX-", _B + r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    shape("google-refresh-token", "1//0", _B + r"1//0[A-Za-z0-9_-]{30,}"),
    shape(
        "azure-client-secret",
        "8Q~ 7Q~",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}",
        within=True,
    ),
    shape(
        "azure-key",
        "AccountKey= SharedAccessKey= SharedAccessSignature",
        r"(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?P<secret>[A-Za-z0-9+/=%&_.:-]{20,})",
    ),
    shape(
        "signature-in-url",
        "sig= Signature= X-Amz-Credential=",
        r"[?&](?:sig|Signature|X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token)=(?P<secret>[A-Za-z0-9%+/=_.-]{16,})",
        within=True,
    ),
    shape("digitalocean", "dop_v1_ doo_v1_ dor_v1_", _B + r"do[opr]_v1_[0-9a-f]{64}"),
    shape("alibaba", "LTAI", r"(?<![A-Za-z0-9])LTAI[A-Za-z0-9]{12,20}(?![A-Za-z0-9])"),
    shape("tencent", "AKID", r"(?<![A-Za-z0-9])AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    shape("yandex", "AQVN YCAJ", r"(?<![A-Za-z0-9])(?:AQVN|YCAJ)[A-Za-z0-9_-]{20,}"),
    shape("cloudflare-origin", "v1.0-", _B + r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    shape("heroku", "HRKU-", _B + r"HRKU-[A-Za-z0-9_-]{30,}"),
    shape("fly", "fo1_ fm1_ fm2_", _B + r"(?:fo1_|fm[12]_)[A-Za-z0-9+/=_,-]{40,}"),
    shape("netlify", "nfp_", _B + r"nfp_[A-Za-z0-9]{36}"),
    shape("vercel", "vercel_blob_rw_", _B + r"vercel_blob_rw_[A-Za-z0-9_]{20,}"),
    shape("supabase", "sbp_", _B + r"sbp_[0-9a-f]{40}"),
    shape("planetscale", "pscale_", _B + r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}"),
    shape("databricks", "dapi", r"(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?:-\d)?"),
    shape("tailscale", "tskey-", _B + r"tskey-[a-z]+-[A-Za-z0-9]+-?[A-Za-z0-9]{10,}"),
    shape("vault", "hvs. hvb. hvr.", _B + r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    shape("terraform-cloud", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", within=True),
    shape("pulumi", "pul-", _B + r"pul-[0-9a-f]{40}"),
    shape("new-relic", "NRAK- NRJS- NRII- NRAL", _B + r"NR(?:AK|JS|II)-[A-Za-z0-9_-]{19,}"),
    shape(
        "grafana",
        "glsa_ glc_ eyJrIjoi",
        _B + r"(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/=]{32,}|eyJrIjoi[A-Za-z0-9]{60,}={0,2})",
    ),
    shape("dynatrace", "dt0c01.", _B + r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    shape("1password", "ops_eyJ", _B + r"ops_eyJ[A-Za-z0-9+/=]{60,}"),
    # ── money, mail, messages ──
    shape("stripe", "sk_live_ sk_test_ rk_live_ rk_test_", _B + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    shape("stripe-webhook", "whsec_", _B + r"whsec_[A-Za-z0-9+/=]{24,}"),
    shape(
        "square", "sq0atp- sq0csp- sq0idp- EAAA", _B + r"(?:sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{56,})"
    ),
    shape("shopify", "shpat_ shpca_ shppa_ shpss_", _B + r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    shape("braintree", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    shape("plaid", "access-", _B + rf"access-(?:sandbox|development|production)-{_UUID}"),
    shape("shippo", "shippo_", _B + r"shippo_(?:live|test)_[0-9a-f]{40}"),
    shape("easypost", "EZAK EZTK", _B + r"EZ[AT]K[A-Za-z0-9]{54}"),
    shape("sendgrid", "SG.", _B + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    shape("mailgun", "key-", _B + r"key-[0-9a-f]{32}(?![0-9a-f])"),
    shape("mailchimp", "-us", rf"(?<![0-9a-f]){_HEX}{{32}}-us\d{{1,2}}(?!\d)", within=True),
    shape("sendinblue", "xkeysib- xsmtpsib-", _B + r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    shape("twilio", "SK AC", r"(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])"),
    shape(
        "slack",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xoxe. xapp-",
        _B + r"(?:xox[abceoprsd][-.]|xapp-)[A-Za-z0-9.%-]{10,}",
    ),
    shape(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_-]{20,})",
    ),
    shape("teams-webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/(?P<secret>[A-Za-z0-9@/_-]{40,})"),
    shape(
        "discord-webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{10,}/[A-Za-z0-9_-]{30,})",
        within=True,
    ),
    shape("telegram", ":AA", r"(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", within=True),
    shape("facebook", "EAACEdEose0cBA EAAG EAAB", _B + r"EAA[A-Za-z0-9]{60,}"),
    shape(
        "twitter-bearer", "AAAAAAAAAAAAAAAAAAAAA", r"(?<![A-Za-z0-9])A{20,23}(?!A)(?=[A-Z0-9%]*[a-z])[A-Za-z0-9%]{40,}"
    ),
    shape("airtable", "pat", r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    shape("typeform", "tfp_", _B + r"tfp_[A-Za-z0-9_=-]{40,}"),
    shape("contentful", "CFPAT-", _B + r"CFPAT-[A-Za-z0-9_-]{40,}"),
    shape("mapbox", "sk.eyJ", _B + r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    shape("readme", "rdme_", _B + r"rdme_[a-z0-9]{70}"),
    shape("adafruit", "aio_", _B + r"aio_[A-Za-z0-9]{28}"),
    # ── of no vendor ──
    shape("jwt", "eyJ", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?"),
    shape("age", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50,60}"),
)

# Found anywhere, also with blanks and line breaks in them.
BLOCKS: tuple[Shape, ...] = (
    shape(
        "private-key",
        "-----BEGIN",
        r"-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r".*?(?:-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)",
    ),
    shape("ssh2-key", "----", r"---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----.*?(?:---- END SSH2|\Z)"),
    shape("putty-key", "PuTTY-User-Key-File-", r"PuTTY-User-Key-File-\d:.*?(?:Private-MAC: ?[0-9a-f]+|\Z)"),
    shape("password-hash", "$", r"\$(?:apr1|1|2[abxy]|5|6|y|argon2id?|scrypt|7)\$[A-Za-z0-9./$=,+-]{20,}"),
    shape("okta-header", "SSWS", r"SSWS\s{1,3}(?P<secret>[A-Za-z0-9_-]{20,})"),
    shape(
        "pgpass",
        ":5432: :5433: :6432: :3306:",
        r":(?:5432|5433|6432|3306):[^\s:]{1,60}:[^\s:/@]{1,60}:(?P<secret>[^\s/@]{4,200})(?=\n|\Z)",
    ),
    shape(
        "netrc",
        "login",
        r"\blogin\s{1,3}\S{1,100}\s{1,10}(?:account\s\S+\s{1,10})?password\s{1,3}(?P<secret>\S{3,200})",
    ),
    shape(
        "mysql-option",
        "mysql mariadb",
        r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,100}?\s-p(?P<secret>[^\s'\"-][^\s'\"]{3,100})",
    ),
    shape("sshpass", "sshpass", r"\bsshpass\s{1,3}-p\s{0,3}(?P<secret>\S{3,200})"),
    shape(
        "user-option",
        "-u --user --proxy-user",
        r"(?<!\S)(?:-u|--user|--proxy-user)[ =]{0,2}['\"]?[^\s:'\"/]{1,60}:(?P<secret>[^\s'\"@]{4,200})",
    ),
    shape("sql", "IDENTIFIED PASSWORD", r"\b(?:IDENTIFIED\s{1,3}BY|PASSWORD)\s{1,3}'(?P<secret>[^'\n]{4,100})'"),
)

_RUN = re.compile(r"[A-Za-z0-9_+/.=~:$%&?-]{20,}")
_BY_CUE = tuple((cue, one) for one in TOKENS for cue in one.cues)
_DISCORD = re.compile(
    r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![A-Za-z0-9_-])"
)
_DISCORD_LENGTH = 58


def token_spans(text: str) -> Iterator[Span]:
    """Most texts have few long runs of token characters, so prefixes are looked up only in these."""
    words: list[str] = _RUN.findall(text)
    runs = "\n".join(words)
    for cue, one in _BY_CUE:
        if cue in runs:
            yield from one.spans_at(cue, text)
    if any(len(word) >= _DISCORD_LENGTH and word.count(".") >= 2 for word in words):
        yield from (match.span() for match in _DISCORD.finditer(text))


def block_spans(text: str) -> Iterator[Span]:
    for one in BLOCKS:
        for cue in one.cues:
            if cue in text:
                yield from one.spans_at(cue, text)
