"""The settings: every key with its type, its default and its description.

Error messages and the page `docs/settings.md` are made from these definitions.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from interlock.assembly.settings.agent_settings import AgentSettings
from interlock.assembly.settings.mcp_settings import McpSettings
from interlock.assembly.settings.service_settings import ServiceSettings
from interlock.domain.values.autonomy import Autonomy

_INSIDE_THE_PROJECT = r"^(?!.*(^|/)(\.\.|\.git|\.interlock)(/|$))[^/\\\x00-\x1f][^\\\x00-\x1f]*\Z"

Texts = tuple[str, ...]


class ConductorSettings(msgspec.Struct, frozen=True):
    auto_queue: Annotated[bool, Meta(description="Ready tickets start automatically; off: each asks first")] = False
    autonomy: Annotated[
        Autonomy,
        Meta(description="What asks first: every change, each ticket's finished diff, or only the landing"),
    ] = "ask"
    workers: Annotated[int, Meta(ge=1, le=256, description="How many attempts run at once")] = 4
    max_tool_rounds: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="Rounds of tool calls for one request of a worker; beyond it the ticket is blocked",
        ),
    ] = 50
    discussion_tool_rounds: Annotated[
        int, Meta(ge=1, le=1000, description="Rounds of tool calls in one turn of a discussion")
    ] = 10
    analyse_failures: Annotated[bool, Meta(description="Tier 4 analyses failed scripts of workers: cause and fix")] = (
        True
    )
    analyse_warnings: Annotated[
        bool, Meta(description="Tier 4 analyses scripts of workers that exit with 0 and write to standard error")
    ] = True
    escalation: Annotated[Texts, Meta(description="Models to try after failures, weakest first")] = ()


ProviderName = Literal[
    "anthropic",
    "gemini",
    "openai",
    "deepseek",
    "openrouter",
    "ollama",
    "llama.cpp",
    "vllm",
    "gemini_cli",
    "scripted",
]
"""As in providers/names.py; a test compares the two."""


class Provider(msgspec.Struct, frozen=True):
    name: Annotated[ProviderName | None, Meta(description="The provider where `--provider` is not given")] = None
    model: Annotated[
        str | None, Meta(description="The model of tiers without their own; unset: the provider's default")
    ] = None
    temperature: Annotated[
        float, Meta(ge=0, le=2, description="Randomness of answers; 0: as repeatable as possible")
    ] = 0.0
    max_output_tokens: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Tokens of one answer; never more than the model's limit")
    ] = 8192
    context_tokens: Annotated[
        int,
        Meta(
            ge=0, le=16_000_000, description="Tokens of a request and its answer; 0: by the model's data or its server"
        ),
    ] = 0
    max_in_flight: Annotated[int, Meta(ge=1, le=256, description="Calls of one provider at the same time")] = 16
    requests_per_minute: Annotated[
        int, Meta(ge=0, le=1_000_000, description="Calls of one provider that begin in a minute; 0: no limit")
    ] = 0


_AN_ADDRESS = {"allowed": "an address that begins with http:// or https://"}


class Endpoints(msgspec.Struct, frozen=True):
    """Addresses that replace the providers' own; only in the user's file."""

    anthropic: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Replaces Anthropic's own address", extra=_AN_ADDRESS)
    ] = ""
    gemini: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Replaces Google's own address", extra=_AN_ADDRESS)
    ] = ""
    openai: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Replaces OpenAI's own address", extra=_AN_ADDRESS)
    ] = ""
    deepseek: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Replaces DeepSeek's own address", extra=_AN_ADDRESS)
    ] = ""
    openrouter: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Replaces OpenRouter's own address", extra=_AN_ADDRESS)
    ] = ""
    ollama: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="The address of Ollama", extra=_AN_ADDRESS)
    ] = ""
    llama_cpp: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="The address of llama.cpp's server", extra=_AN_ADDRESS)
    ] = ""
    vllm: Annotated[str, Meta(pattern=r"^(https?://\S+)?$", description="The address of vLLM", extra=_AN_ADDRESS)] = ""


class ModelPrice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens. Without cache prices, cached tokens cost the same as input."""

    input: Annotated[float, Meta(ge=0, le=1e6)]
    output: Annotated[float, Meta(ge=0, le=1e6)]
    cache_read: Annotated[float, Meta(ge=0, le=1e6)] | None = None
    cache_write: Annotated[float, Meta(ge=0, le=1e6)] | None = None


class GeminiCliSettings(msgspec.Struct, frozen=True):
    command: Annotated[
        str,
        Meta(
            min_length=1,
            description="Command line of the agent, split as a shell would; in a project file only after you trust it",
        ),
    ] = "gemini"
    timeout_s: Annotated[int, Meta(ge=1, le=86400, description="Timeout of one answer of the agent, in seconds")] = 600


class Models(msgspec.Struct, frozen=True):
    """The model of each tier; unset means the provider's default."""

    tier1: Annotated[str | None, Meta(description="The model of orchestrators")] = None
    tier2: Annotated[str | None, Meta(description="The model of tech leads")] = None
    tier3: Annotated[str | None, Meta(description="The model of workers, before any escalation")] = None
    tier4: Annotated[str | None, Meta(description="The model that analyses failures")] = None
    discussion: Annotated[str | None, Meta(description="The model of discussions")] = None


_A_PROMPT = {"allowed": "a text, or the name of a file that ends in .md or .txt"}


class PromptSettings(msgspec.Struct, frozen=True):
    """The person's own system prompts: texts, or files beside the settings file."""

    tier1: Annotated[str | None, Meta(description="For orchestrators ([Prompts](prompts.md))", extra=_A_PROMPT)] = None
    tier2: Annotated[str | None, Meta(description="For tech leads", extra=_A_PROMPT)] = None
    tier3: Annotated[str | None, Meta(description="For workers", extra=_A_PROMPT)] = None
    tier4: Annotated[str | None, Meta(description="For analyses of failures", extra=_A_PROMPT)] = None
    discussion: Annotated[str | None, Meta(description="For discussions", extra=_A_PROMPT)] = None
    mode: Annotated[
        Literal["append", "replace"],
        Meta(description="They follow the shipped prompts, or replace them"),
    ] = "append"


ToolName = Literal[
    "read_file",
    "get_file_slice",
    "list_directory",
    "get_tree",
    "search_files",
    "grep",
    "get_git_diff",
    "get_file_summary",
    "py_get_skeleton",
    "py_get_code_outline",
    "py_get_definition",
    "py_get_signature",
    "py_get_class_summary",
    "py_get_var_declaration",
    "py_get_docstring",
    "py_get_imports",
    "py_check_syntax",
    "py_find_usages",
    "py_get_hierarchy",
    "get_ui_performance",
    "edit_file",
    "write_file",
    "set_file_slice",
    "apply_patch",
    "py_update_definition",
    "py_set_signature",
    "py_set_var_declaration",
    "run_shell",
    "fetch_url",
    "web_search",
]
"""As in tools/catalogue.py; a test compares the two."""


class ToolSettings(msgspec.Struct, frozen=True):
    """A project's file can switch more tools off, but none on."""

    off: Annotated[
        tuple[ToolName, ...],
        Meta(
            description="Tools that no worker and no discussion gets",
            extra={"allowed": "a list of names of tools, such as ['run_shell', 'write_file']"},
        ),
    ] = ()


class WebSearchSettings(msgspec.Struct, frozen=True):
    """The search provider of the tool `web_search`; only in the user's file."""

    provider: Annotated[
        Literal["searxng", "brave", "tavily", "custom"] | None,
        Meta(description="The search provider; unset: there is no tool `web_search` ([Web tools](web.md))"),
    ] = None
    address: Annotated[
        str,
        Meta(
            pattern=r"^(https?://\S+)?$",
            description="Its address; needed for `searxng` and `custom`, where `{query}` stands for the words",
            extra=_AN_ADDRESS,
        ),
    ] = ""
    key_variable: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*$|^$",
            description="The environment variable of its key; unset: `BRAVE_API_KEY`, `TAVILY_API_KEY` or"
            " `WEB_SEARCH_API_KEY`",
            extra={"allowed": "the name of an environment variable"},
        ),
    ] = ""


class Gates(msgspec.Struct, frozen=True):
    max_attempts: Annotated[
        int, Meta(ge=1, le=1000, description="Failed attempts before a gate escalates to a person")
    ] = 5
    timeout_s: Annotated[int, Meta(ge=1, le=600, description="Timeout of a gate's command, in seconds")] = 300
    network: Annotated[
        bool, Meta(description="Gates have network access; in a project file only after you trust it")
    ] = False
    stuck_after: Annotated[
        int, Meta(ge=0, le=1000, description="The same failure this many times in a row escalates early; 0: never")
    ] = 3
    reuse: Annotated[
        bool, Meta(description="A pass counts again for the same tree, command, environment, sandbox and tools")
    ] = True
    reuse_hours: Annotated[int, Meta(ge=1, le=720, description="The greatest age of a pass that counts again")] = 24
    test_paths: Annotated[
        Texts, Meta(description="Patterns of test files: a worker that changes an existing one stops for a person")
    ] = ("tests/**", "test_*", "*_test.*", "*.spec.*")


class WorkspaceSettings(msgspec.Struct, frozen=True):
    prepare: Annotated[
        Texts,
        Meta(
            description="Shell commands that install packages, with network; once for each content of the dependency"
            " lists; in a project file only after you trust them"
        ),
    ] = ()
    prepare_timeout_s: Annotated[
        int, Meta(ge=1, le=86400, description="Timeout of each of those commands, in seconds")
    ] = 1800
    setup: Annotated[
        str | None,
        Meta(description="Shell command run once in each new worktree; in a project file only after you trust it"),
    ] = None
    setup_timeout_s: Annotated[int, Meta(ge=1, le=86400, description="Timeout of that command, in seconds")] = 600
    tests: Annotated[
        str | None, Meta(description="The command that runs the project's tests: the gate `tests`, and `interlock try`")
    ] = None
    path: Annotated[
        Texts,
        Meta(description="Folders of programs in each worktree, before those of PATH, such as `.venv/bin`"),
    ] = ()
    services: Annotated[
        dict[str, ServiceSettings],
        Meta(
            description="Programs that run beside each script and gate, in its sandbox ([Services](services.md)); in a"
            " project file only after you trust them",
            extra={
                "allowed": "tables such as [workspace.services.db] with command, ready, port, ready_timeout_s, env",
                "tables": ServiceSettings,
            },
        ),
    ] = {}
    cache_days: Annotated[
        int, Meta(ge=1, le=36500, description="Days after which unused installed packages are deleted")
    ] = 30
    cache_mb: Annotated[
        int,
        Meta(ge=0, le=100_000_000, description="Megabytes of installed packages of all projects; 0: no limit"),
    ] = 20_000


class ApprovalSettings(msgspec.Struct, frozen=True):
    deadline_s: Annotated[
        int,
        Meta(ge=0, le=31_536_000, description="Seconds after which an unanswered approval is rejected; 0: never"),
    ] = 0


_NO_LIMIT = "0: no limit"


class Budgets(msgspec.Struct, frozen=True):
    """A project's file can lower the user's limits, but not raise them."""

    epic_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most each epic may cost; {_NO_LIMIT}")] = 0
    track_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most each track may cost; {_NO_LIMIT}")] = 0
    ticket_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most each ticket may cost; {_NO_LIMIT}")] = 0
    tier1_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most orchestrators may cost; {_NO_LIMIT}")] = 0
    tier2_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most tech leads may cost; {_NO_LIMIT}")] = 0
    tier3_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most workers may cost; {_NO_LIMIT}")] = 0
    tier4_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most analyses may cost; {_NO_LIMIT}")] = 0


class LimitSettings(msgspec.Struct, frozen=True):
    """A project's file can lower the user's limits, but not raise them."""

    processes: Annotated[
        int,
        Meta(
            ge=0,
            le=4_000_000,
            description=f"Processes of one command at the same time; beyond it all are killed; {_NO_LIMIT}",
        ),
    ] = 4096
    memory_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description=f"Megabytes of writable memory for each process, at least 64; {_NO_LIMIT}",
        ),
    ] = 0
    open_files: Annotated[
        int,
        Meta(ge=0, le=1_000_000, description=f"Open files of each process, at least 256; {_NO_LIMIT}"),
    ] = 0
    tmp_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description=f"Megabytes in each temporary folder of a command: /tmp, /dev/shm, its home; {_NO_LIMIT}",
        ),
    ] = 2048


class PageSettings(msgspec.Struct, frozen=True):
    """A project's file can shorten the user's times, but not lengthen them."""

    idle_hours: Annotated[
        int, Meta(ge=1, le=720, description="Hours without a request after which a session of the page ends")
    ] = 8
    most_hours: Annotated[int, Meta(ge=1, le=720, description="Hours after which every session of the page ends")] = 24


class JournalSettings(msgspec.Struct, frozen=True):
    checkpoint_every: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000_000,
            description="Events between two checkpoints of the state; checkpoints make opening fast",
        ),
    ] = 20_000


class Logs(msgspec.Struct, frozen=True):
    keep_days: Annotated[
        int, Meta(ge=1, le=36500, description="Days after which logs and generated scripts are deleted")
    ] = 30


class HistorySettings(msgspec.Struct, frozen=True):
    keep: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Test executions that are kept for lists and statistics")
    ] = 10_000
    keep_days: Annotated[
        int,
        Meta(ge=1, le=36500, description="Days after which executions and files in .interlock/artifacts are deleted"),
    ] = 90


class SecretFiles(msgspec.Struct, frozen=True):
    files: Annotated[
        Texts, Meta(description="Patterns of more file names that may hold secrets; only in the user's file")
    ] = ()
    exceptions: Annotated[
        Texts, Meta(description="Patterns of file names that hold no secrets; only in the user's file")
    ] = ()


class TuiSettings(msgspec.Struct, frozen=True):
    notify: Annotated[
        Literal["auto", "bell", "off"],
        Meta(
            description="When something waits and the terminal is not in front: a notification and the bell, the bell"
            " alone, or nothing"
        ),
    ] = "auto"


class Settings(msgspec.Struct, frozen=True):
    sandbox: Annotated[
        Literal["auto", "bubblewrap", "landlock", "off"],
        Meta(description="The sandbox of commands; `off` only in the user's file, and a project can only tighten it"),
    ] = "auto"
    crew: Annotated[Literal["local"], Meta(description="Where attempts run")] = "local"
    tracks_dir: Annotated[
        str,
        Meta(
            pattern=_INSIDE_THE_PROJECT,
            description="Folder for the track files",
            extra={"allowed": "a folder inside the project, such as 'conductor/tracks'"},
        ),
    ] = "conductor/tracks"
    conductor: ConductorSettings = ConductorSettings()
    provider: Provider = Provider()
    gemini_cli: GeminiCliSettings = GeminiCliSettings()
    models: Models = Models()
    prompts: PromptSettings = PromptSettings()
    endpoints: Endpoints = Endpoints()
    prices: Annotated[
        dict[str, ModelPrice],
        Meta(
            description="Prices of models without a shipped price, or instead of it; only in the user's file",
            extra={
                "allowed": 'tables such as [prices."my-model"] with input, output, cache_read, cache_write: dollars per'
                " million tokens"
            },
        ),
    ] = {}
    agents: Annotated[
        dict[str, AgentSettings],
        Meta(
            description="CLI agents as workers ([Agents](agents.md)); only in the user's file",
            extra={
                "allowed": "tables such as [agents.claude] with command, hosts …",
                "tables": AgentSettings,
            },
        ),
    ] = {}
    tools: ToolSettings = ToolSettings()
    web_search: WebSearchSettings = WebSearchSettings()
    mcp: McpSettings = McpSettings()
    gates: Gates = Gates()
    workspace: WorkspaceSettings = WorkspaceSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    budgets: Budgets = Budgets()
    limits: LimitSettings = LimitSettings()
    page: PageSettings = PageSettings()
    secrets: SecretFiles = SecretFiles()
    journal: JournalSettings = JournalSettings()
    logs: Logs = Logs()
    tests: HistorySettings = HistorySettings()
    tui: TuiSettings = TuiSettings()
