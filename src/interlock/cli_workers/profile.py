"""What Interlock knows about a CLI agent: how it is started, how it asks, which login it needs, where its vendor is."""

import json
import re
from typing import Literal

from msgspec import Struct

Output = Literal["claude", "codex", "gemini", "acp", "text"]
"""How the agent reports: a stream of JSON lines, the Agent Client Protocol, or plain text."""

Permissions = Literal["hook", "acp", "none"]
"""How the agent asks: its before-tool hook, `session/request_permission` of ACP, or not at all."""

NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class Profile(Struct, frozen=True, kw_only=True):
    """`start` and `resume` are the words after `command` for a new and for a continued conversation; `model` is added.

    {session} and {model} are replaced in them. Paths of `login_files` are relative to the home. Hosts may begin with
    `*.`. A variable of `addresses` names another address of the vendor: it is reached too.
    """

    title: str
    command: tuple[str, ...]
    package: str = ""  # how to install it
    start: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    prompt: Literal["stdin", "argument"] = "stdin"
    output: Output
    permissions: Permissions
    login_files: tuple[str, ...] = ()
    login_variables: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    addresses: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    mode: str = ""  # of an ACP session

    @property
    def supervised(self) -> bool:
        return self.permissions != "none"


_CLAUDE = ("-p", "--output-format", "stream-json", "--verbose", "--setting-sources", "user", "--strict-mcp-config")
_CODEX = ("exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access")
_GEMINI = ("--yolo", "--output-format", "stream-json")
_OPENCODE_ASKS = json.dumps(
    {"*": "ask", **dict.fromkeys(("read", "glob", "grep", "list", "todowrite", "todoread", "task", "skill"), "allow")}
)
_VERTEX = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")

PROFILES: dict[str, Profile] = {
    "claude": Profile(
        title="Claude Code",
        command=("claude",),
        package="npm install -g @anthropic-ai/claude-code",
        start=_CLAUDE,
        resume=(*_CLAUDE, "--resume", "{session}"),
        model=("--model", "{model}"),
        output="claude",
        permissions="hook",
        login_files=(".claude/.credentials.json",),
        login_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        variables=(
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("IS_SANDBOX", "1"),
        ),
        addresses=("ANTHROPIC_BASE_URL",),
        hosts=("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"),
    ),
    "codex": Profile(
        title="Codex",
        command=("codex",),
        package="npm install -g @openai/codex",
        start=(*_CODEX, "-"),
        resume=(*_CODEX, "resume", "{session}", "-"),
        model=("-m", "{model}"),
        output="codex",
        permissions="hook",
        login_files=(".codex/auth.json",),
        login_variables=("OPENAI_API_KEY", "CODEX_API_KEY"),
        addresses=("OPENAI_BASE_URL",),
        hosts=("api.openai.com", "chatgpt.com", "auth.openai.com"),
    ),
    "gemini": Profile(
        title="Gemini CLI",
        command=("gemini",),
        package="npm install -g @google/gemini-cli",
        start=_GEMINI,
        resume=(*_GEMINI, "--resume", "{session}"),
        model=("--model", "{model}"),
        output="gemini",
        permissions="hook",
        login_files=(".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/installation_id"),
        login_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", *_VERTEX),
        variables=(("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("GEMINI_SANDBOX", "false")),
        addresses=("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
        hosts=("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"),
    ),
    "opencode": Profile(
        title="OpenCode",
        command=("opencode", "acp"),
        package="npm install -g opencode-ai",
        output="acp",
        permissions="acp",
        login_files=(".local/share/opencode/auth.json",),
        login_variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENCODE_API_KEY"),
        variables=(
            ("OPENCODE_DISABLE_AUTOUPDATE", "true"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "true"),
            ("OPENCODE_DISABLE_PROJECT_CONFIG", "true"),  # a worktree's own settings could allow everything
            ("OPENCODE_PURE", "true"),  # no plugins
            ("OPENCODE_PERMISSION", _OPENCODE_ASKS),
        ),
        addresses=("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"),
        hosts=("opencode.ai", "api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"),
    ),
    "qwen": Profile(
        title="Qwen Code",
        command=("qwen", "--acp"),
        package="npm install -g @qwen-code/qwen-code",
        output="acp",
        permissions="acp",
        login_files=(".qwen/oauth_creds.json",),
        login_variables=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
        addresses=("OPENAI_BASE_URL",),
        hosts=("portal.qwen.ai", "chat.qwen.ai", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
    ),
    "goose": Profile(
        title="Goose",
        command=("goose", "acp"),
        output="acp",
        permissions="acp",
        login_files=(".config/goose/config.yaml", ".config/goose/secrets.yaml"),
        login_variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GOOSE_PROVIDER", "GOOSE_MODEL"),
        variables=(("GOOSE_DISABLE_KEYRING", "1"), ("GOOSE_MODE", "approve")),
        addresses=("ANTHROPIC_HOST", "OPENAI_HOST"),
        hosts=("api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"),
    ),
    "copilot": Profile(
        title="GitHub Copilot CLI",
        command=("copilot", "--acp"),
        package="npm install -g @github/copilot",
        output="acp",
        permissions="acp",
        login_files=(".copilot/config.json",),
        login_variables=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
        hosts=("api.github.com", "*.githubcopilot.com", "github.com"),
    ),
    "aider": Profile(
        title="aider",
        command=("aider",),
        package="pipx install aider-chat",
        start=(
            *("--yes-always", "--no-auto-commits", "--no-git", "--no-check-update", "--no-analytics"),
            *("--no-fancy-input", "--no-suggest-shell-commands", "--no-show-release-notes", "--message"),
        ),
        model=("--model", "{model}"),
        prompt="argument",
        output="text",
        permissions="none",
        login_variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY"),
        addresses=("OPENAI_API_BASE", "ANTHROPIC_BASE_URL"),
        hosts=("api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "api.deepseek.com"),
    ),
}
